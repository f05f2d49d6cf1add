//! One stream of messages that many exchanges share: each gets what concerns it, told apart by our own ids. It must not
//! know what carries the stream.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use proto::json::{Duplicate, Span};
use proto::mcp::{Method, Notice, meta};
use proto::rpc::{Frame, FrameError, FrameLimits, Kind, Message};
use tokio::sync::{mpsc, oneshot};

use super::LinkError;
use crate::child::ChildError;

/// How many notifications may wait for one exchange; more are dropped, the answer never is.
const NOTICES: usize = 64;

/// What a server says that answers no exchange.
pub type Unasked = mpsc::Receiver<Frame>;

/// Why nothing more comes on a stream, or why a message was left out.
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
    /// Whether a client stands behind it, who can be told and asked things meanwhile.
    for_client: bool,
}

#[derive(Debug)]
struct Shared {
    waiting: Mutex<HashMap<u64, Waiting>>,
    gone: Mutex<Option<MuxFault>>,
    closed: AtomicBool,
    max_calls: usize,
    /// Where goes what answers no exchange, as long as the stream is read.
    unasked: mpsc::WeakSender<Frame>,
    limits: FrameLimits,
}

/// The exchanges that share a stream. Clones are the same.
#[derive(Debug, Clone)]
pub(super) struct Mux(Arc<Shared>);

/// The end at which a stream's messages come in. The mux is closed when it is dropped.
#[derive(Debug)]
pub(super) struct Intake {
    mux: Mux,
    _unasked: mpsc::Sender<Frame>,
}

/// An exchange's end of the link. Dropping it forgets the exchange; late messages for it are dropped.
#[derive(Debug)]
pub struct MuxCall {
    key: u64,
    items: mpsc::Receiver<Item>,
    /// What came before anybody asked.
    early: Option<Item>,
    /// Tells that the request could not be sent, where that shows only later.
    sending: Option<oneshot::Receiver<LinkError>>,
    mux: Mux,
}

impl Drop for MuxCall {
    fn drop(&mut self) {
        self.mux.0.waiting.lock().remove(&self.key);
    }
}

impl MuxCall {
    /// The next message of the exchange.
    ///
    /// # Errors
    /// When the link is gone, the request could not be sent, or its answer had to be left out.
    pub async fn next(&mut self) -> Result<Frame, LinkError> {
        let item = match self.early.take() {
            Some(item) => Some(item),
            None => self.either().await?,
        };
        match item {
            Some(Item::Frame(frame)) => Ok(frame),
            Some(Item::Failed(why)) => Err(why.into()),
            None => Err(self.mux.why_closed().map_or(LinkError::Closed, LinkError::from)),
        }
    }

    /// The next item, unless it turns out first that the request could not be sent.
    async fn either(&mut self) -> Result<Option<Item>, LinkError> {
        let Some(sending) = &mut self.sending else { return Ok(self.items.recv().await) };
        tokio::select! {
            biased;
            item = self.items.recv() => return self.unless_unsent(item),
            failed = sending => {
                self.sending = None;
                if let Ok(why) = failed {
                    return Err(why);
                }
            }
        }
        Ok(self.items.recv().await)
    }

    /// Waits until it shows whether a request was taken that is being sent meanwhile, but no longer than `patience`:
    /// some servers say so only together with the answer.
    ///
    /// # Errors
    /// Why it could not be sent.
    pub(super) async fn sent(
        &mut self,
        mut sending: oneshot::Receiver<LinkError>,
        patience: Duration,
    ) -> Result<(), LinkError> {
        let item = tokio::select! {
            biased;
            item = self.items.recv() => Some(item),
            failed = &mut sending => return failed.map_or(Ok(()), Err),
            () = tokio::time::sleep(patience) => None,
        };
        self.sending = Some(sending);
        if let Some(item) = item {
            self.early = self.unless_unsent(item)?;
        }
        Ok(())
    }

    /// What came, unless it is only that nothing more comes, and the failure to send the request says more.
    fn unless_unsent(&mut self, item: Option<Item>) -> Result<Option<Item>, LinkError> {
        let failed = match self.sending.as_mut().map(oneshot::Receiver::try_recv) {
            None | Some(Err(oneshot::error::TryRecvError::Empty)) => None,
            // It has said all that it will, and must not be asked again.
            Some(said) => {
                self.sending = None;
                said.ok()
            }
        };
        match (item, failed) {
            (frame @ Some(Item::Frame(_)), _) | (frame, None) => Ok(frame),
            (_, Some(why)) => Err(why),
        }
    }
}

impl Mux {
    /// A mux for a stream. What answers no exchange goes to the returned receiver, which holds `unasked` messages.
    pub(super) fn new(limits: FrameLimits, max_calls: usize, unasked: usize) -> (Self, Intake, Unasked) {
        let (tx, rx) = mpsc::channel(unasked);
        let mux = Self(Arc::new(Shared {
            waiting: Mutex::default(),
            gone: Mutex::new(None),
            closed: AtomicBool::new(false),
            max_calls,
            unasked: tx.downgrade(),
            limits,
        }));
        (mux.clone(), Intake { mux, _unasked: tx }, rx)
    }

    /// Registers an exchange under our own id `key`, before its request is sent.
    ///
    /// # Errors
    /// When too many are open, or nothing comes any more.
    pub(super) fn open(&self, key: u64, for_client: bool) -> Result<MuxCall, LinkError> {
        let (tx, items) = mpsc::channel(NOTICES);
        {
            let mut waiting = self.0.waiting.lock();
            if waiting.len() >= self.0.max_calls {
                return Err(LinkError::Busy(self.0.max_calls));
            }
            waiting.insert(key, Waiting { items: tx, for_client });
        }
        let call = MuxCall { key, items, early: None, sending: None, mux: self.clone() };
        // Asked after it was registered: whoever closes the mux sees it, or has said so by now.
        match self.why_closed() {
            Some(why) => Err(why.into()),
            None => Ok(call),
        }
    }

    /// Whether nothing comes any more.
    pub(super) fn is_closed(&self) -> bool {
        self.0.closed.load(Ordering::Acquire)
    }

    /// Why nothing comes any more, when that is so.
    pub(super) fn why_closed(&self) -> Option<MuxFault> {
        self.0.gone.lock().clone()
    }

    /// Takes one text: a message, or an array of them.
    ///
    /// # Errors
    /// When it is no message; that disturbs nobody.
    pub(super) fn take(&self, text: Bytes) -> Result<(), FrameError> {
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
            Kind::Notification | Kind::Request => {
                if let Some(call) = self.concerned(&frame) {
                    if call.try_send(Item::Frame(frame)).is_err() {
                        tracing::warn!("it says more than can be passed on; a notice was dropped");
                    }
                } else if self.0.unasked.upgrade().is_none_or(|unasked| unasked.try_send(frame).is_err()) {
                    tracing::warn!("it says more than can be passed on; a message was dropped");
                }
            }
        }
    }

    fn sender(&self, key: u64) -> Option<mpsc::Sender<Item>> {
        self.0.waiting.lock().get(&key).map(|call| call.items.clone())
    }

    /// The exchange that a message concerns which answers none: the one that it names, or the one that it may be about.
    /// Decided as the message comes, so that no answer overtakes it.
    fn concerned(&self, frame: &Frame) -> Option<mpsc::Sender<Item>> {
        let notice = Notice::from_name(&frame.method());
        // A log message is of a call, whatever it names (MCP 2026-07-28, subscriptions: none on such a stream).
        let named = || key_in(frame, frame.meta(meta::SUBSCRIPTION_ID)).and_then(|key| self.sender(key));
        if notice != Some(Notice::Message)
            && let Some(named) = named()
        {
            return Some(named);
        }
        let waiting = self.0.waiting.lock();
        let mut calls = waiting.iter().filter(|(_, call)| call.for_client);
        let call = match (frame.kind(), notice) {
            (Kind::Request, _) if frame.method() == Method::Ping.name() => None,
            // Outside of every call, a client that does not listen would never hear it.
            (Kind::Request, _) => calls.max_by_key(|(key, _)| **key),
            (_, None | Some(Notice::Message | Notice::Cancelled)) => {
                calls.next().filter(|_| calls.next().is_none())
            }
            _ => None,
        };
        call.map(|(_, call)| call.items.clone())
    }
}

impl Intake {
    /// Takes one text, see [`Mux::take`].
    pub(super) fn take(&self, text: Bytes) -> Result<(), FrameError> {
        self.mux.take(text)
    }

    /// A message was left out. Whose answer it was is known only when nobody else waits for one; of several, whoever it
    /// was runs into its deadline, and the others are not disturbed.
    pub(super) fn left_out(&self, why: MuxFault) {
        tracing::warn!("{why}");
        let mut waiting = self.mux.0.waiting.lock();
        if let Some(call) = sole(&waiting).and_then(|key| waiting.remove(&key)) {
            // A full channel takes no more, but its end says as much.
            let _ = call.items.try_send(Item::Failed(why));
        }
    }

    /// Nothing more will come: every exchange hears why.
    pub(super) fn close(self, why: MuxFault) -> MuxFault {
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
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_log_message_is_of_the_call_and_never_of_a_stream() {
        let (mux, intake, _unasked) = Mux::new(FrameLimits::default(), 4, 4);
        let mut listening = mux.open(7, false).unwrap();
        let mut call = mux.open(9, true).unwrap();
        let notice = |method: &str| {
            let named = format!("{{\"_meta\":{{\"{}\":7}}}}", meta::SUBSCRIPTION_ID);
            Bytes::from(format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{method}\",\"params\":{named}}}"))
        };
        for name in [Notice::Message, Notice::ToolsChanged] {
            intake.take(notice(name.name())).unwrap();
        }
        assert_eq!(call.next().await.unwrap().method(), Notice::Message.name());
        assert_eq!(listening.next().await.unwrap().method(), Notice::ToolsChanged.name());
    }
}
