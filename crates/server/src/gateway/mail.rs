//! What reaches a call beside its own stream: messages of its upstream, and its client's replies. It must not know what they
//! say.

use tokio::sync::mpsc;

use upstream::link::Inbound;

/// How many letters may wait for a call.
const LETTERS: usize = 64;

/// A letter box of a call.
pub(super) struct Mail {
    pub(super) number: u64,
    pub(super) sender: mpsc::Sender<Inbound>,
    pub(super) inbox: mpsc::Receiver<Inbound>,
}

impl Mail {
    pub(super) fn open(number: u64) -> Self {
        let (sender, inbox) = mpsc::channel(LETTERS);
        Self { number, sender, inbox }
    }
}

/// What reaches the call beside its own stream.
pub(super) async fn letter(mail: &mut Option<Box<Mail>>) -> Inbound {
    let Some(mail) = mail else { return std::future::pending().await };
    match mail.inbox.recv().await {
        Some(letter) => letter,
        None => std::future::pending().await,
    }
}
