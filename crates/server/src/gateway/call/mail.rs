//! What reaches a call beside its own stream: messages of its upstream, and its client's replies. It must not know what they
//! say.

use tokio::sync::mpsc;

use upstream::link::Inbound;

/// The number of letters that may wait for a call.
const LETTERS: usize = 64;

/// A letter box of a call.
pub(crate) struct Mail {
    pub(crate) number: u64,
    pub(crate) sender: mpsc::Sender<Inbound>,
    pub(crate) inbox: mpsc::Receiver<Inbound>,
}

impl Mail {
    pub(crate) fn open(number: u64) -> Self {
        let (sender, inbox) = mpsc::channel(LETTERS);
        Self { number, sender, inbox }
    }
}

/// What reaches the call beside its own stream.
pub(crate) async fn letter(mail: &mut Option<Box<Mail>>) -> Inbound {
    let Some(mail) = mail else { return std::future::pending().await };
    match mail.inbox.recv().await {
        Some(letter) => letter,
        None => std::future::pending().await,
    }
}
