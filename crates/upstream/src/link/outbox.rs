//! What a server is told without anybody waiting for it: answers to its questions, refusals, notices. They go one after the
//! other, so that their order stays, and one that is not taken holds up only what follows it on the same link. It must not
//! know what they say.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::timeout;

use super::open_link::OpenLink;
use crate::egress::Egress;

/// The number of messages that may wait, and how many bytes beside the first.
const MOST: (usize, usize) = (256, 8 << 20);

/// The time for which a request waits for what was said before it.
const PATIENCE: Duration = Duration::from_secs(1);

/// The messages that wait on one link.
#[derive(Default)]
pub(super) struct Outbox {
    waiting: Mutex<Waiting>,
    quiet: Notify,
}

#[derive(Default)]
struct Waiting {
    texts: VecDeque<Bytes>,
    bytes: usize,
    /// True if somebody sends them.
    busy: bool,
}

impl Outbox {
    /// Puts one in; whether somebody has to begin to send, or `None` when there is no room.
    fn put(&self, text: Bytes) -> Option<bool> {
        let mut waiting = self.waiting.lock();
        if waiting.texts.len() >= MOST.0 || waiting.bytes > MOST.1 {
            return None;
        }
        waiting.bytes += text.len();
        waiting.texts.push_back(text);
        Some(!std::mem::replace(&mut waiting.busy, true))
    }

    /// The next one to send; after the last one nobody sends any more.
    fn next(&self) -> Option<Bytes> {
        let mut waiting = self.waiting.lock();
        let next = waiting.texts.pop_front();
        if let Some(text) = &next {
            waiting.bytes -= text.len();
        } else {
            waiting.busy = false;
            self.quiet.notify_waiters();
        }
        next
    }
}

impl OpenLink {
    /// Sends a notification, or an answer to a question, when those before it are sent.
    pub fn say(self: &Arc<Self>, egress: &Egress, text: Bytes) {
        match self.outbox.put(text) {
            None => {
                tracing::warn!(server = %self.server.name(), "a message is dropped: too many wait to be taken");
            }
            Some(false) => {}
            Some(true) => {
                let (link, egress) = (self.clone(), egress.clone());
                tokio::spawn(async move {
                    while let Some(text) = link.outbox.next() {
                        if link.is_alive()
                            && let Err(e) = link.notify(&egress.client, text).await
                        {
                            let told = link.server.told(&e);
                            tracing::warn!(server = %link.server.name(), "a message was not taken: {told}");
                        }
                    }
                });
            }
        }
    }

    /// Returns true if something still waits to be sent.
    pub fn is_saying(&self) -> bool {
        self.outbox.waiting.lock().busy
    }

    /// Waits until what was said is sent, but not long: a server may work that takes no notices.
    pub async fn said(&self) {
        let quiet = self.outbox.quiet.notified();
        if self.is_saying() {
            let _ = timeout(PATIENCE, quiet).await;
        }
    }
}
