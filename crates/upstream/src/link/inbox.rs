//! Messages that reach a call outside its own stream. It must not know their content.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Weak};
use std::task::{Poll, Waker};

use parking_lot::Mutex;
use proto::rpc::Frame;

/// The maximum number of messages that wait for a call.
const CAPACITY: usize = 64;

/// A message for a call that did not arrive on the call's own stream.
pub enum Inbound {
    /// A message from the call's upstream.
    Frame(Frame),
    /// The client's reply to the question with this number.
    Reply(usize, Frame),
}

/// The messages that wait for a call. Most calls never get one, so an empty inbox is a single small allocation; a
/// channel of tokio would be larger.
#[derive(Default)]
pub struct Inbox(Arc<Mutex<Waiting>>);

#[derive(Default)]
struct Waiting {
    messages: VecDeque<Inbound>,
    reader: Option<Waker>,
}

impl Inbox {
    /// Returns a sender of messages to this inbox.
    pub fn sender(&self) -> InboxSender {
        InboxSender(Arc::downgrade(&self.0))
    }

    /// Waits for the next message.
    pub async fn next(&mut self) -> Inbound {
        poll_fn(|cx| {
            let mut waiting = self.0.lock();
            if let Some(message) = waiting.messages.pop_front() {
                return Poll::Ready(message);
            }
            if waiting.reader.as_ref().is_none_or(|reader| !reader.will_wake(cx.waker())) {
                waiting.reader = Some(cx.waker().clone());
            }
            Poll::Pending
        })
        .await
    }
}

/// A sender of messages to a call. It does not keep the inbox alive after the call has ended.
#[derive(Clone)]
pub struct InboxSender(Weak<Mutex<Waiting>>);

impl InboxSender {
    /// Delivers a message.
    ///
    /// # Errors
    /// Returns the message if the call has ended, or has not read the last 64 messages.
    pub fn send(&self, message: Inbound) -> Result<(), Inbound> {
        let Some(inbox) = self.0.upgrade() else { return Err(message) };
        let mut waiting = inbox.lock();
        if waiting.messages.len() >= CAPACITY {
            return Err(message);
        }
        waiting.messages.push_back(message);
        let reader = waiting.reader.take();
        drop(waiting);
        if let Some(reader) = reader {
            reader.wake();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{CAPACITY, Inbound, Inbox};
    use bytes::Bytes;
    use proto::rpc::{Frame, FrameLimits};
    use std::pin::pin;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::task::{Context, Poll, Wake};

    #[derive(Default)]
    struct Flag(AtomicBool);

    impl Wake for Flag {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    impl Flag {
        fn is_raised(&self) -> bool {
            self.0.load(Ordering::Relaxed)
        }
    }

    fn read(inbox: &mut Inbox, reader: &Arc<Flag>) -> Poll<Inbound> {
        let waker = reader.clone().into();
        pin!(inbox.next()).poll(&mut Context::from_waker(&waker))
    }

    fn message() -> Inbound {
        let text = Bytes::from_static(br#"{"jsonrpc":"2.0","method":"notifications/message"}"#);
        Inbound::Reply(7, Frame::parse(text, FrameLimits::default()).unwrap())
    }

    #[test]
    fn a_message_wakes_whoever_waited_last() {
        let (mut inbox, first, second) = (Inbox::default(), Arc::default(), Arc::default());
        let sender = inbox.sender();
        assert!(read(&mut inbox, &first).is_pending());
        assert!(read(&mut inbox, &second).is_pending());
        assert!(sender.send(message()).is_ok());
        assert!(second.is_raised() && !first.is_raised());
        assert!(matches!(read(&mut inbox, &second), Poll::Ready(Inbound::Reply(7, _))));
        assert!(read(&mut inbox, &second).is_pending());
    }

    #[test]
    fn a_full_inbox_and_one_whose_call_ended_return_the_message() {
        let inbox = Inbox::default();
        let sender = inbox.sender();
        for _ in 0..CAPACITY {
            assert!(sender.send(message()).is_ok());
        }
        assert!(sender.send(message()).is_err());
        drop(inbox);
        assert!(sender.send(message()).is_err());
    }
}
