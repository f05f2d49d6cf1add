//! One stream of messages that many exchanges share: each gets what concerns it, told apart by our own ids. It must not
//! know what carries the stream.

mod call;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use proto::bridge::tasks::RELATED_TASK;
use proto::json::{Duplicate, Span};
use proto::mcp::{Method, Notice, meta};
use proto::rpc::{Frame, FrameError, FrameLimits, Kind, Message};
use tokio::sync::mpsc;

pub use self::call::MuxCall;
use super::LinkError;
use super::open_calls::{OpenCalls, Owner};
use crate::child::ChildError;

/// The number of notifications that may wait for one exchange; more are dropped, the answer never is.
const NOTICES: usize = 64;

/// What a server says that answers no exchange.
pub type Unasked = mpsc::Receiver<UnaskedMessage>;

/// One such message.
#[derive(Debug)]
pub struct UnaskedMessage {
    /// The message.
    pub frame: Frame,
    /// Whose a log message must be, as it was clear when it came.
    pub owner: Option<Owner>,
}

/// The reason why nothing more comes on a stream, or why a message was left out.
#[derive(Debug, Clone, thiserror::Error)]
pub enum MuxFault {
    /// The child process failed.
    #[error("{0}")]
    Child(ChildError),
    /// A message was longer than this many bytes and was left out.
    #[error("sent more than {0} bytes in one message; it was left out")]
    TooLong(usize),
    /// The server ended its event stream, and with it the session.
    #[error("closed its event stream")]
    Ended,
    /// The event stream broke.
    #[error("its event stream broke: {0}")]
    Broken(Arc<str>),
    /// The link was told to end.
    #[error("the link to it was closed")]
    Stopped,
}

impl From<MuxFault> for LinkError {
    fn from(fault: MuxFault) -> Self {
        match fault {
            MuxFault::Child(why) => why.into(),
            MuxFault::TooLong(limit) => Self::TooLong(limit),
            MuxFault::Ended | MuxFault::Stopped => Self::Closed,
            MuxFault::Broken(why) => Self::Broken(why),
        }
    }
}

/// What an exchange gets.
#[derive(Debug)]
enum Item {
    /// A message that belongs to it.
    Frame(Frame),
    /// What it waits for cannot come.
    Failed(MuxFault),
}

/// An open exchange.
#[derive(Debug)]
struct Waiting {
    items: mpsc::Sender<Item>,
    /// The client behind it, if there is one, who can be told and asked things meanwhile.
    owner: Option<Owner>,
}

#[derive(Debug)]
struct Shared {
    waiting: Mutex<HashMap<u64, Waiting>>,
    calls: Arc<OpenCalls>,
    gone: Mutex<Option<MuxFault>>,
    closed: AtomicBool,
    max_calls: usize,
    /// Where goes what answers no exchange, as long as the stream is read.
    unasked: mpsc::WeakSender<UnaskedMessage>,
    limits: FrameLimits,
}

/// How much a shared stream may hold.
#[derive(Debug, Clone, Copy)]
pub struct MuxRoom {
    /// The number of exchanges that may be open.
    pub max_calls: usize,
    /// The number of messages that may wait that answer none.
    pub unasked: usize,
    /// For how long a server may go on with a call that nobody waits for any more.
    pub forget: Duration,
}

/// The exchanges that share a stream. Clones are the same.
#[derive(Debug, Clone)]
pub(in crate::up) struct Mux(Arc<Shared>);

/// The end at which a stream's messages come in. The mux is closed when it is dropped.
#[derive(Debug)]
pub(in crate::up) struct Intake {
    mux: Mux,
    _unasked: mpsc::Sender<UnaskedMessage>,
}

impl Mux {
    /// A mux for a stream. What answers no exchange goes to the returned receiver.
    pub(in crate::up) fn new(limits: FrameLimits, room: MuxRoom) -> (Self, Intake, Unasked) {
        let MuxRoom { max_calls, unasked, forget } = room;
        let (tx, rx) = mpsc::channel(unasked);
        let mux = Self(Arc::new(Shared {
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

    /// The calls of clients on this stream.
    pub(in crate::up) fn calls(&self) -> &Arc<OpenCalls> {
        &self.0.calls
    }

    /// Registers an exchange under our own id `key`, before its request is sent.
    ///
    /// # Errors
    /// When too many are open, or nothing comes any more.
    pub(in crate::up) fn open(&self, key: u64, owner: Option<Owner>) -> Result<MuxCall, LinkError> {
        let (tx, items) = mpsc::channel(NOTICES);
        {
            let mut waiting = self.0.waiting.lock();
            if waiting.len() >= self.0.max_calls {
                return Err(LinkError::Busy(self.0.max_calls));
            }
            waiting.insert(key, Waiting { items: tx, owner });
        }
        let open = owner.map(|owner| self.0.calls.begin(key, owner));
        let call = MuxCall { key, items, early: None, sending: None, open, mux: self.clone() };
        // Asked after it was registered: whoever closes the mux sees it, or has said so by now.
        match self.why_closed() {
            Some(why) => Err(why.into()),
            None => Ok(call),
        }
    }

    /// Returns true if nothing comes any more.
    pub(in crate::up) fn is_closed(&self) -> bool {
        self.0.closed.load(Ordering::Acquire)
    }

    /// The reason why nothing comes any more, when that is so.
    pub(in crate::up) fn why_closed(&self) -> Option<MuxFault> {
        self.0.gone.lock().clone()
    }

    /// Takes one text: a message, or an array of them.
    ///
    /// # Errors
    /// When it is no message; that disturbs nobody.
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
        match frame.kind() {
            Kind::Response | Kind::Error => {
                let Some(key) = frame.id().and_then(proto::rpc::Id::as_number) else { return };
                self.0.calls.answered(key);
                // Removed at once, so that a second answer finds nobody.
                let call = self.0.waiting.lock().remove(&key).map(|call| call.items);
                let Some(call) = call else {
                    tracing::debug!("an answer to no open request: id {key}");
                    return;
                };
                // The channel may be full of notices; the answer has a place of its own below them.
                if let Err(mpsc::error::TrySendError::Full(item)) = call.try_send(Item::Frame(frame)) {
                    tokio::spawn(async move { call.send(item).await });
                }
            }
            Kind::Notification if frame.method() == Notice::Progress.name() => {
                if let Some(call) =
                    key_in(&frame, frame.param(meta::PROGRESS_TOKEN)).and_then(|key| self.sender(key))
                {
                    let _ = call.try_send(Item::Frame(frame));
                }
            }
            Kind::Notification if frame.method() == Notice::Message.name() => self.deliver_log(frame),
            Kind::Notification | Kind::Request => match self.concerned(&frame) {
                Some(call) => pass(&call, frame),
                None => self.deliver_unasked(UnaskedMessage { frame, owner: None }),
            },
        }
    }

    /// A log message names no call. It goes to the one whose it must be, and else to nobody.
    fn deliver_log(&self, frame: Frame) {
        // A task goes on when its call has been answered: that others have calls open says nothing about whose it is.
        let names_task = frame.meta(RELATED_TASK).is_ok_and(|task| task.is_some());
        let calls = &self.0.calls;
        let owner = if names_task { calls.only_user() } else { calls.sole_owner() };
        let Some(owner) = owner else {
            tracing::debug!("a log message may be one client's or another's: nobody is told");
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
            tracing::warn!("it says more than can be passed on; a message was dropped");
        }
    }

    fn sender(&self, key: u64) -> Option<mpsc::Sender<Item>> {
        self.0.waiting.lock().get(&key).map(|call| call.items.clone())
    }

    /// The exchange that a message concerns which answers none: the one that it names, or the one that it may be about.
    /// Decided as the message comes, so that no answer overtakes it.
    fn concerned(&self, frame: &Frame) -> Option<mpsc::Sender<Item>> {
        let notice = Notice::from_name(&frame.method());
        if let Some(named) = key_in(frame, frame.meta(meta::SUBSCRIPTION_ID)).and_then(|key| self.sender(key))
        {
            return Some(named);
        }
        let waiting = self.0.waiting.lock();
        let mut calls = waiting.iter().filter(|(_, call)| call.owner.is_some());
        let call = match (frame.kind(), notice) {
            (Kind::Request, _) if frame.method() == Method::Ping.name() => None,
            // Outside of every call, a client that does not listen would never hear it.
            (Kind::Request, _) => calls.max_by_key(|(key, _)| **key),
            (_, None | Some(Notice::Cancelled)) => calls.next().filter(|_| calls.next().is_none()),
            _ => None,
        };
        call.map(|(_, call)| call.items.clone())
    }
}

impl Intake {
    /// Takes one text, see [`Mux::take`].
    pub(in crate::up) fn take(&self, text: Bytes) -> Result<(), FrameError> {
        self.mux.take(text)
    }

    /// A message was left out. Whose answer it was is known only when nobody else waits for one; of several, whoever it
    /// was runs into its deadline, and the others are not disturbed.
    pub(in crate::up) fn left_out(&self, why: MuxFault) {
        tracing::warn!("{why}");
        let mut waiting = self.mux.0.waiting.lock();
        if let Some(call) = sole(&waiting).and_then(|key| waiting.remove(&key)) {
            // A full channel takes no more, but its end says as much.
            let _ = call.items.try_send(Item::Failed(why));
        }
    }

    /// Nothing more will come: every exchange hears why.
    pub(in crate::up) fn close(self, why: MuxFault) -> MuxFault {
        self.shut(&why);
        why
    }

    fn shut(&self, why: &MuxFault) {
        let shared = &self.mux.0;
        *shared.gone.lock() = Some(why.clone());
        shared.closed.store(true, Ordering::Release);
        for (_, call) in shared.waiting.lock().drain() {
            let _ = call.items.try_send(Item::Failed(why.clone()));
        }
    }
}

impl Drop for Intake {
    fn drop(&mut self) {
        // Whoever read the stream was dropped before its end.
        if !self.mux.is_closed() {
            self.shut(&MuxFault::Stopped);
        }
    }
}

fn pass(call: &mpsc::Sender<Item>, frame: Frame) {
    if call.try_send(Item::Frame(frame)).is_err() {
        tracing::warn!("it says more than can be passed on; a notice was dropped");
    }
}

/// The key of the only exchange, if there is just one.
fn sole(waiting: &HashMap<u64, Waiting>) -> Option<u64> {
    waiting.keys().next().copied().filter(|_| waiting.len() == 1)
}

/// A key of ours that a message names.
fn key_in(frame: &Frame, place: Result<Option<Span>, Duplicate>) -> Option<u64> {
    let span = place.ok().flatten()?;
    std::str::from_utf8(span.of(frame.text())).ok()?.parse().ok()
}

#[cfg(test)]
mod tests;
