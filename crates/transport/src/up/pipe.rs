//! A link over a child's stdin and stdout: exchanges share it and are told apart by our own ids.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use parking_lot::Mutex;
use proto::json::{Duplicate, Span};
use proto::mcp::{Method, Notice, meta};
use proto::rpc::{Frame, FrameError, FrameLimits, Kind, Message};
use tokio::sync::mpsc;

use super::LinkError;
use crate::child::{ChildError, Handle, Lines};

/// How many notifications may wait for one exchange; more are dropped, the answer never is.
const NOTICES: usize = 64;

/// What a child says that answers no exchange.
pub type Unasked = mpsc::Receiver<Box<Frame>>;

/// What an exchange gets.
#[derive(Debug)]
pub enum PipeItem {
    /// A message that belongs to it.
    Frame(Box<Frame>),
    /// What it waits for cannot come.
    Failed(ChildError),
}

/// An open exchange.
#[derive(Debug)]
struct Waiting {
    items: mpsc::Sender<PipeItem>,
    /// Whether a client stands behind it, who can be told and asked things meanwhile.
    for_client: bool,
}

#[derive(Debug)]
struct Shared {
    waiting: Mutex<HashMap<u64, Waiting>>,
    gone: Mutex<Option<ChildError>>,
    closed: AtomicBool,
    max_calls: usize,
}

/// One child that speaks messages.
#[derive(Debug, Clone)]
pub struct PipeLink {
    handle: Handle,
    shared: Arc<Shared>,
}

/// An exchange's end of the link. Dropping it forgets the exchange; late messages for it are dropped.
#[derive(Debug)]
pub struct PipeCall {
    key: u64,
    items: mpsc::Receiver<PipeItem>,
    shared: Arc<Shared>,
}

impl Drop for PipeCall {
    fn drop(&mut self) {
        self.shared.waiting.lock().remove(&self.key);
    }
}

impl PipeCall {
    /// The next message of the exchange.
    ///
    /// # Errors
    /// When the child is gone, or its answer had to be skipped.
    pub async fn next(&mut self) -> Result<Box<Frame>, LinkError> {
        match self.items.recv().await {
            Some(PipeItem::Frame(frame)) => Ok(frame),
            Some(PipeItem::Failed(why)) => Err(why.into()),
            None => Err(self.shared.gone.lock().clone().map_or(LinkError::Closed, LinkError::Child)),
        }
    }
}

impl Shared {
    fn sender(&self, key: u64) -> Option<mpsc::Sender<PipeItem>> {
        self.waiting.lock().get(&key).map(|call| call.items.clone())
    }

    /// The exchange that a message concerns which answers none: the one that it names, or the one that it may be about.
    /// Decided as the message comes, so that no answer overtakes it.
    fn concerned(&self, frame: &Frame) -> Option<mpsc::Sender<PipeItem>> {
        if let Some(named) = key_in(frame, frame.meta(meta::SUBSCRIPTION_ID)).and_then(|key| self.sender(key))
        {
            return Some(named);
        }
        let waiting = self.waiting.lock();
        let mut calls = waiting.iter().filter(|(_, call)| call.for_client);
        let call = match (frame.kind(), Notice::from_name(&frame.method())) {
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

impl PipeLink {
    /// Takes a child's two ends. The returned future reads the child until it ends and must be spawned by the caller;
    /// what answers no exchange goes to the returned receiver, which holds `unasked` messages.
    pub fn new(
        handle: Handle,
        lines: Lines,
        limits: FrameLimits,
        max_calls: usize,
        unasked: usize,
    ) -> (Self, impl Future<Output = ChildError> + Send + 'static, Unasked) {
        let shared = Arc::new(Shared {
            waiting: Mutex::default(),
            gone: Mutex::new(None),
            closed: AtomicBool::new(false),
            max_calls,
        });
        let (tx, rx) = mpsc::channel(unasked);
        let reader = read(lines, shared.clone(), tx, limits);
        (Self { handle, shared }, reader, rx)
    }

    /// Sends a client's request under our own id `key`; its messages come to the returned call. A pipe does not say what
    /// most messages are about: as long as this is the only client's request, log messages and the like come to it too,
    /// and questions come to the newest one.
    ///
    /// # Errors
    /// When the child is gone or does not read.
    pub async fn call(&self, key: u64, text: Bytes) -> Result<PipeCall, LinkError> {
        self.send(key, text, true).await
    }

    /// As [`PipeLink::call`], for a request of the gateway's own, behind which no client stands.
    ///
    /// # Errors
    /// When the child is gone or does not read.
    pub async fn own_call(&self, key: u64, text: Bytes) -> Result<PipeCall, LinkError> {
        self.send(key, text, false).await
    }

    async fn send(&self, key: u64, text: Bytes, for_client: bool) -> Result<PipeCall, LinkError> {
        let (tx, items) = mpsc::channel(NOTICES);
        {
            let mut waiting = self.shared.waiting.lock();
            if waiting.len() >= self.shared.max_calls {
                return Err(LinkError::Busy(self.shared.max_calls));
            }
            waiting.insert(key, Waiting { items: tx, for_client });
        }
        if let Some(why) = self.shared.gone.lock().clone() {
            self.shared.waiting.lock().remove(&key);
            return Err(why.into());
        }
        let call = PipeCall { key, items, shared: self.shared.clone() };
        self.handle.send(text).await?;
        Ok(call)
    }

    /// Sends a notification, or an answer to a question of the child.
    ///
    /// # Errors
    /// When the child is gone or does not read.
    pub async fn notify(&self, text: Bytes) -> Result<(), LinkError> {
        Ok(self.handle.send(text).await?)
    }

    /// Whether the child is gone.
    pub fn is_closed(&self) -> bool {
        self.shared.closed.load(Ordering::Acquire)
    }

    /// How the child ended, when it has.
    pub fn why_closed(&self) -> Option<ChildError> {
        self.shared.gone.lock().clone()
    }

    /// Ends the child and waits for its end.
    pub async fn stop(&self) {
        self.handle.stop().await;
    }
}

async fn read(
    mut lines: Lines,
    shared: Arc<Shared>,
    unasked: mpsc::Sender<Box<Frame>>,
    limits: FrameLimits,
) -> ChildError {
    let mut talks = false;
    loop {
        match lines.recv().await {
            Ok(line) => {
                if let Err(e) = take(line, &shared, &unasked, limits) {
                    note_talk(&e, &mut talks);
                }
            }
            Err(e) if !e.is_final() => skipped(e, &shared),
            Err(why) => {
                *shared.gone.lock() = Some(why.clone());
                shared.closed.store(true, Ordering::Release);
                for (_, call) in shared.waiting.lock().drain() {
                    let _ = call.items.try_send(PipeItem::Failed(why.clone()));
                }
                return why;
            }
        }
    }
}

/// The key of the only exchange, if there is just one.
fn sole(waiting: &HashMap<u64, Waiting>) -> Option<u64> {
    waiting.keys().next().copied().filter(|_| waiting.len() == 1)
}

/// A line was skipped. Whose answer it was is known only when nobody else waits for one; of several, whoever it was runs
/// into its deadline, and the others are not disturbed.
fn skipped(why: ChildError, shared: &Shared) {
    tracing::warn!("{why}");
    let mut waiting = shared.waiting.lock();
    if let Some(call) = sole(&waiting).and_then(|key| waiting.remove(&key)) {
        // A full channel takes no more, but its end says as much.
        let _ = call.items.try_send(PipeItem::Failed(why));
    }
}

/// Notes that a child prints what is no message: once for people, then only for whoever looks for it.
fn note_talk(what: &FrameError, talks: &mut bool) {
    if std::mem::replace(talks, true) {
        tracing::debug!("a line on stdout is no message: {what}");
    } else {
        tracing::warn!("it prints lines on stdout that are no messages; they are left out ({what})");
    }
}

/// Takes one line. What is no message is the child's talk, and disturbs nobody.
fn take(
    line: Bytes,
    shared: &Shared,
    unasked: &mpsc::Sender<Box<Frame>>,
    limits: FrameLimits,
) -> Result<(), FrameError> {
    match Message::parse(line, limits)? {
        Message::Single(frame) => deliver(Box::new(frame), shared, unasked),
        Message::Batch(batch) => {
            for frame in batch.messages.into_iter().flatten() {
                deliver(Box::new(frame), shared, unasked);
            }
        }
    }
    Ok(())
}

/// A key of ours that a message names.
fn key_in(frame: &Frame, place: Result<Option<Span>, Duplicate>) -> Option<u64> {
    let span = place.ok().flatten()?;
    std::str::from_utf8(span.of(frame.text())).ok()?.parse().ok()
}

fn deliver(frame: Box<Frame>, shared: &Shared, unasked: &mpsc::Sender<Box<Frame>>) {
    match frame.kind() {
        Kind::Response | Kind::Error => {
            let Some(key) = frame.id().and_then(proto::rpc::Id::as_number) else { return };
            // Removed at once, so that a second answer finds nobody.
            let call = shared.waiting.lock().remove(&key).map(|call| call.items);
            let Some(call) = call else {
                tracing::debug!("an answer to no open request: id {key}");
                return;
            };
            // The channel may be full of notices; the answer has a place of its own below them.
            if let Err(mpsc::error::TrySendError::Full(item)) = call.try_send(PipeItem::Frame(frame)) {
                tokio::spawn(async move { call.send(item).await });
            }
        }
        Kind::Notification if frame.method() == Notice::Progress.name() => {
            if let Some(call) =
                key_in(&frame, frame.param(meta::PROGRESS_TOKEN)).and_then(|key| shared.sender(key))
            {
                let _ = call.try_send(PipeItem::Frame(frame));
            }
        }
        Kind::Notification | Kind::Request => {
            if let Some(call) = shared.concerned(&frame) {
                if call.try_send(PipeItem::Frame(frame)).is_err() {
                    tracing::warn!("a child says more than can be passed on; a notice was dropped");
                }
            } else if unasked.try_send(frame).is_err() {
                tracing::warn!("a child says more than can be passed on; a message was dropped");
            }
        }
    }
}
