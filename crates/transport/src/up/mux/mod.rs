//! One stream of messages that many exchanges share. Each exchange receives its own messages, which are assigned by
//! the ids that the gateway chose. This module must not know which transport carries the stream.

mod call;
mod cut;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use proto::bridge::tasks::RELATED_TASK;
use proto::json::{Duplicate, Span};
use proto::mcp::{Method, Notice, meta};
use proto::rpc::{Frame, FrameError, FrameKind, FrameLimits, Message};
use tokio::sync::mpsc;

pub use self::call::MuxCall;
use super::LinkError;
use super::numbered::Numbered;
use super::open_calls::{OpenCalls, Owner};
use crate::budget::OutOfMemory;
use crate::child::ChildError;

/// The maximum number of notifications that wait for one exchange. Additional notifications are dropped; an answer
/// is never dropped.
const NOTICES: usize = 64;

/// The receiver of the server's messages that belong to no exchange.
pub type UnaskedMessages = mpsc::Receiver<UnaskedMessage>;

/// A message that belongs to no exchange.
#[derive(Debug)]
pub struct UnaskedMessage {
    /// The message.
    pub frame: Frame,
    /// The only client that a log message can concern, as known when the message arrived.
    pub owner: Option<Owner>,
}

/// The reason why nothing more arrives on a stream, or why a message was dropped.
#[derive(Debug, Clone, thiserror::Error)]
pub enum MuxFault {
    /// The child process failed.
    #[error("{0}")]
    Child(ChildError),
    /// A message was longer than this number of bytes, so it was dropped.
    #[error("the server sent more than {0} bytes in one message, which was dropped")]
    TooLong(usize),
    /// No memory became free for a message, so it was dropped.
    #[error("the server sent a large message, which was dropped: {0}")]
    OutOfMemory(OutOfMemory),
    /// The server ended its event stream, which ends the session.
    #[error("the server closed its event stream")]
    Ended,
    /// The event stream broke.
    #[error("the server's event stream broke: {0}")]
    Broken(Arc<str>),
    /// The link was stopped.
    #[error("the link to the server was closed")]
    Stopped,
}

impl From<MuxFault> for LinkError {
    fn from(fault: MuxFault) -> Self {
        match fault {
            MuxFault::Child(why) => why.into(),
            MuxFault::TooLong(limit) => Self::TooLong(limit),
            MuxFault::OutOfMemory(why) => Self::OutOfMemory(why),
            MuxFault::Ended | MuxFault::Stopped => Self::Closed,
            MuxFault::Broken(why) => Self::Broken(why),
        }
    }
}

/// An item for an exchange.
#[derive(Debug)]
enum MuxItem {
    /// A message that belongs to the exchange.
    Frame(Frame),
    /// The answer cannot arrive.
    Failed(MuxFault),
}

/// An open exchange.
#[derive(Debug)]
struct WaitingExchange {
    items: mpsc::Sender<MuxItem>,
    /// The client that the exchange serves, if there is one. Until the answer arrives, this client can receive
    /// notifications and questions.
    owner: Option<Owner>,
}

#[derive(Debug)]
struct MuxShared {
    waiting: Mutex<Numbered<WaitingExchange>>,
    calls: Arc<OpenCalls>,
    gone: Mutex<Option<MuxFault>>,
    closed: AtomicBool,
    max_calls: usize,
    /// The channel for messages that belong to no exchange; it is open while the stream is read.
    unasked: mpsc::WeakSender<UnaskedMessage>,
    limits: FrameLimits,
}

/// The capacity of a shared stream.
#[derive(Debug, Clone, Copy)]
pub struct MuxRoom {
    /// The maximum number of open exchanges.
    pub max_calls: usize,
    /// The maximum number of waiting messages that belong to no exchange.
    pub unasked: usize,
    /// The time for which a server may continue an abandoned call.
    pub forget: Duration,
}

/// The exchanges that share a stream. Clones share the same exchanges.
#[derive(Debug, Clone)]
pub(in crate::up) struct Mux(Arc<MuxShared>);

/// The end of a mux into which the stream's messages are put. Dropping this value closes the mux.
#[derive(Debug)]
pub(in crate::up) struct Intake {
    mux: Mux,
    _unasked: mpsc::Sender<UnaskedMessage>,
}

impl Mux {
    /// Creates a mux for a stream. Messages that belong to no exchange go to the returned receiver.
    pub(in crate::up) fn new(limits: FrameLimits, room: MuxRoom) -> (Self, Intake, UnaskedMessages) {
        let MuxRoom { max_calls, unasked, forget } = room;
        let (tx, rx) = mpsc::channel(unasked);
        let mux = Self(Arc::new(MuxShared {
            waiting: Mutex::default(),
            calls: OpenCalls::new(forget),
            gone: Mutex::new(None),
            closed: AtomicBool::new(false),
            max_calls,
            unasked: tx.downgrade(),
            limits,
        }));
        (mux.clone(), Intake { mux, _unasked: tx }, rx)
    }

    /// Returns the calls of clients on this stream.
    pub(in crate::up) fn calls(&self) -> &Arc<OpenCalls> {
        &self.0.calls
    }

    /// Registers an exchange under the gateway's own id `key`, before the request is sent.
    ///
    /// # Errors
    /// Fails if too many exchanges are open, or if the stream has ended.
    pub(in crate::up) fn open(&self, key: u64, owner: Option<Owner>) -> Result<MuxCall, LinkError> {
        let (tx, items) = mpsc::channel(NOTICES);
        {
            let mut waiting = self.0.waiting.lock();
            if waiting.len() >= self.0.max_calls {
                return Err(LinkError::Busy(self.0.max_calls));
            }
            waiting.insert(key, WaitingExchange { items: tx, owner });
        }
        let open = owner.map(|owner| self.0.calls.begin(key, owner));
        let call = MuxCall { key, items, early: None, sending: None, open, line: None, mux: self.clone() };
        // This is checked after the registration: a task that closes the mux either sees this exchange, or has already
        // stored the reason.
        match self.why_closed() {
            Some(why) => Err(LinkError::from(why).unsent()),
            None => Ok(call),
        }
    }

    /// Returns true if the stream has ended.
    pub(in crate::up) fn is_closed(&self) -> bool {
        self.0.closed.load(Ordering::Acquire)
    }

    /// Returns the reason why the stream has ended, if it has.
    pub(in crate::up) fn why_closed(&self) -> Option<MuxFault> {
        self.0.gone.lock().clone()
    }

    /// Processes one text: a message, or an array of messages.
    ///
    /// # Errors
    /// Fails if the text is not a message; no exchange is affected.
    pub(in crate::up) fn take(&self, text: Bytes) -> Result<(), FrameError> {
        match Message::parse(text, self.0.limits)? {
            Message::Single(frame) => self.deliver(frame),
            Message::Batch(batch) => {
                for frame in batch.messages.into_iter().flatten() {
                    self.deliver(frame);
                }
            }
        }
        Ok(())
    }

    fn deliver(&self, frame: Frame) {
        self.0.calls.note_arrival(&frame);
        match frame.kind() {
            FrameKind::Response | FrameKind::Error => {
                let Some(key) = frame.id().and_then(proto::rpc::Id::as_number) else { return };
                self.0.calls.answered(key);
                // The exchange is removed immediately, so that a second answer finds none.
                let call = self.0.waiting.lock().remove(&key).map(|call| call.items);
                let Some(call) = call else {
                    tracing::debug!("received an answer that matches no open request: id {key}");
                    return;
                };
                // The channel may be full of notices; the answer is then sent from a separate task.
                if let Err(mpsc::error::TrySendError::Full(item)) = call.try_send(MuxItem::Frame(frame)) {
                    crate::task::spawn(async move { call.send(item).await });
                }
            }
            FrameKind::Notification if frame.method() == Notice::Progress.name() => {
                if let Some(call) =
                    key_in(&frame, frame.param(meta::PROGRESS_TOKEN)).and_then(|key| self.sender(key))
                {
                    let _ = call.try_send(MuxItem::Frame(frame));
                }
            }
            FrameKind::Notification if frame.method() == Notice::Message.name() => self.deliver_log(frame),
            FrameKind::Notification | FrameKind::Request => match self.concerned(&frame) {
                Some(call) => pass(&call, frame),
                None => self.deliver_unasked(UnaskedMessage { frame, owner: None }),
            },
        }
    }

    /// Delivers a log message, which names no call, to the only client that it can concern; if there is no such
    /// client, drops it.
    fn deliver_log(&self, frame: Frame) {
        // A task continues after its call has been answered, so the open calls of other clients do not show who owns
        // the task.
        let names_task = frame.meta(RELATED_TASK).is_ok_and(|task| task.is_some());
        let calls = &self.0.calls;
        let owner = if names_task { calls.only_user() } else { calls.sole_owner() };
        let Some(owner) = owner else {
            tracing::debug!("dropped a log message that cannot be assigned to one client");
            return;
        };
        let newest = {
            let waiting = self.0.waiting.lock();
            let of_owner = waiting.iter().filter(|(_, call)| call.owner == Some(owner) && !names_task);
            of_owner.max_by_key(|(key, _)| **key).map(|(_, call)| call.items.clone())
        };
        match newest {
            Some(call) => pass(&call, frame),
            None => self.deliver_unasked(UnaskedMessage { frame, owner: Some(owner) }),
        }
    }

    fn deliver_unasked(&self, message: UnaskedMessage) {
        if self.0.unasked.upgrade().is_none_or(|unasked| unasked.try_send(message).is_err()) {
            note_dropped();
        }
    }

    fn sender(&self, key: u64) -> Option<mpsc::Sender<MuxItem>> {
        self.0.waiting.lock().get(&key).map(|call| call.items.clone())
    }

    /// Returns the channel of the exchange that a notification or question concerns. This is the exchange that the
    /// message names. If the message names none, a question concerns the newest exchange of a client; an unknown
    /// notification or a cancellation concerns the exchange of a client if there is only one. The channel is chosen
    /// when the message arrives, so that no answer overtakes the message.
    fn concerned(&self, frame: &Frame) -> Option<mpsc::Sender<MuxItem>> {
        let notice = Notice::from_name(&frame.method());
        if let Some(named) = key_in(frame, frame.meta(meta::SUBSCRIPTION_ID)).and_then(|key| self.sender(key))
        {
            return Some(named);
        }
        let waiting = self.0.waiting.lock();
        let mut calls = waiting.iter().filter(|(_, call)| call.owner.is_some());
        let call = match (frame.kind(), notice) {
            (FrameKind::Request, _) if frame.method() == Method::Ping.name() => None,
            // Outside of a call, a client that does not listen would never receive the question.
            (FrameKind::Request, _) => calls.max_by_key(|(key, _)| **key),
            (_, None | Some(Notice::Cancelled)) => calls.next().filter(|_| calls.next().is_none()),
            _ => None,
        };
        call.map(|(_, call)| call.items.clone())
    }
}

impl Intake {
    /// Processes one text; see [`Mux::take`].
    pub(in crate::up) fn take(&self, text: Bytes) -> Result<(), FrameError> {
        self.mux.take(text)
    }

    /// Reports a dropped message. The exchange whose id is in the message's `beginning` fails; without an id, the
    /// only waiting exchange fails. If several exchanges are waiting and the id is missing, none of them fails, and
    /// the affected exchange runs into its deadline.
    pub(in crate::up) fn left_out(&self, why: MuxFault, beginning: &[u8]) {
        tracing::warn!("{why}");
        let mut waiting = self.mux.0.waiting.lock();
        let key = cut::named_in(beginning).or_else(|| sole(&waiting));
        if let Some(call) = key.and_then(|key| waiting.remove(&key)) {
            // A full channel accepts nothing more, but the end of the channel reports the same.
            let _ = call.items.try_send(MuxItem::Failed(why));
        }
    }

    /// Ends the stream and reports the reason to every exchange.
    pub(in crate::up) fn close(self, why: MuxFault) -> MuxFault {
        self.shut(&why);
        why
    }

    fn shut(&self, why: &MuxFault) {
        let shared = &self.mux.0;
        *shared.gone.lock() = Some(why.clone());
        shared.closed.store(true, Ordering::Release);
        for (_, call) in shared.waiting.lock().drain() {
            let _ = call.items.try_send(MuxItem::Failed(why.clone()));
        }
    }
}

impl Drop for Intake {
    fn drop(&mut self) {
        // The task that read the stream was dropped before the stream ended.
        if !self.mux.is_closed() {
            self.shut(&MuxFault::Stopped);
        }
    }
}

fn pass(call: &mpsc::Sender<MuxItem>, frame: Frame) {
    if call.try_send(MuxItem::Frame(frame)).is_err() {
        note_dropped();
    }
}

/// Counts a message that was dropped because its client reads too slowly. Such messages are logged each time their
/// number has doubled.
fn note_dropped() {
    static DROPPED: AtomicU64 = AtomicU64::new(0);
    let dropped = DROPPED.fetch_add(1, Ordering::Relaxed) + 1;
    if dropped.is_power_of_two() {
        tracing::warn!(
            dropped,
            "servers send messages faster than clients read them; messages other than answers were dropped"
        );
    }
}

/// Returns the key of the only exchange, if there is exactly one.
fn sole(waiting: &Numbered<WaitingExchange>) -> Option<u64> {
    waiting.keys().next().copied().filter(|_| waiting.len() == 1)
}

/// Returns the request key that a message names.
fn key_in(frame: &Frame, place: Result<Option<Span>, Duplicate>) -> Option<u64> {
    let span = place.ok().flatten()?;
    std::str::from_utf8(span.of(frame.text())).ok()?.parse().ok()
}

#[cfg(test)]
mod tests;
