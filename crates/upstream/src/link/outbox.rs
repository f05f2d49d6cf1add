//! Messages to a server that need no answer: answers to its questions, refusals, notifications. They are sent one
//! after the other, which preserves their order. A slow message delays only later messages on the same link. It must
//! not know their content.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::timeout;

/// The maximum number of waiting messages, and the total size in bytes above which no message is added.
const MOST: (usize, usize) = (256, 8 << 20);

/// The maximum time for which a request waits for earlier messages.
const PATIENCE: Duration = Duration::from_secs(1);

/// The messages that wait on one link.
#[derive(Default)]
pub(super) struct Outbox {
    waiting: Mutex<OutboxQueue>,
    all_sent: Notify,
}

#[derive(Default)]
struct OutboxQueue {
    texts: VecDeque<Bytes>,
    bytes: usize,
    /// True while a task sends the messages.
    busy: bool,
}

impl Outbox {
    /// Adds a message; returns true if the caller has to start sending, and `None` if the queue is full.
    pub(super) fn put(&self, text: Bytes) -> Option<bool> {
        let mut waiting = self.waiting.lock();
        if waiting.texts.len() >= MOST.0 || waiting.bytes > MOST.1 {
            return None;
        }
        waiting.bytes += text.len();
        waiting.texts.push_back(text);
        Some(!std::mem::replace(&mut waiting.busy, true))
    }

    /// Returns the next message to send; after the last message, returns `None`, and sending has stopped.
    pub(super) fn next(&self) -> Option<Bytes> {
        let mut waiting = self.waiting.lock();
        let next = waiting.texts.pop_front();
        if let Some(text) = &next {
            waiting.bytes -= text.len();
        } else {
            waiting.busy = false;
            self.all_sent.notify_waiters();
        }
        next
    }

    /// Returns true if messages are waiting to be sent.
    pub(super) fn is_sending(&self) -> bool {
        self.waiting.lock().busy
    }

    /// Waits until all messages have been sent, but only for a short time: some servers accept no notifications.
    pub(super) async fn flushed(&self) {
        let sent = self.all_sent.notified();
        if self.is_sending() {
            let _ = timeout(PATIENCE, sent).await;
        }
    }
}
