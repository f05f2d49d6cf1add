//! Messages that reach a call outside its own stream: those of its upstream, and its client's replies. It must not
//! know their content.

use tokio::sync::mpsc;

use upstream::link::Inbound;

/// The number of messages that may wait for a call.
const CAPACITY: usize = 64;

/// The side channel of one call.
pub(crate) struct SideChannel {
    pub(crate) number: u64,
    pub(crate) sender: mpsc::Sender<Inbound>,
    pub(crate) inbox: mpsc::Receiver<Inbound>,
}

impl SideChannel {
    pub(crate) fn open(number: u64) -> Self {
        let (sender, inbox) = mpsc::channel(CAPACITY);
        Self { number, sender, inbox }
    }
}

/// The next message that reaches the call outside its own stream.
pub(crate) async fn next_message(side_channel: &mut Option<Box<SideChannel>>) -> Inbound {
    let Some(side_channel) = side_channel else { return std::future::pending().await };
    match side_channel.inbox.recv().await {
        Some(next_message) => next_message,
        None => std::future::pending().await,
    }
}
