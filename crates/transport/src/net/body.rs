//! The body type of all messages that Dragoman sends. This module must not know what the bytes mean.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tokio::sync::mpsc;

use super::client::WireError;
use super::relay::Relay;

/// A body to be sent.
#[derive(Debug, Default)]
pub enum Body {
    /// No bytes; `Content-Length: 0` if HTTP requires one.
    #[default]
    Empty,
    /// One piece, written together with the header.
    Full(Bytes),
    /// A few pieces that are sent without being joined: a template and the parts spliced into it. The total length is
    /// known.
    Rope(VecDeque<Bytes>),
    /// Pieces that are sent as they arrive (chunked): event streams.
    Stream(BodyStream),
    /// A body from another peer, passed through as it arrives.
    Relay(Box<Relay>),
}

/// The reason why a body was cut short. The peer sees that the connection (HTTP/1.1) or the stream (HTTP/2) breaks
/// off, so it cannot mistake a partial body for a complete one.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    /// The writer gave up with [`BodySender::abort`].
    #[error("the answer was aborted: {0}")]
    Aborted(&'static str),
    /// The relayed body broke off or was not valid HTTP.
    #[error("the relayed body ended early: {0}")]
    Source(#[from] WireError),
    /// The relayed body has invalid content.
    #[error("the relayed body was aborted: {0}")]
    Refused(String),
    /// The relayed body delivered no byte for this time.
    #[error("the relayed body stalled for {0:?}")]
    Stalled(Duration),
}

impl Body {
    /// Creates a body of several pieces, with their total length. Empty pieces are left out.
    pub fn rope(pieces: impl IntoIterator<Item = Bytes>) -> Self {
        let mut pieces: VecDeque<_> = pieces.into_iter().filter(|piece| !piece.is_empty()).collect();
        match pieces.len() {
            0 => Self::Empty,
            1 => pieces.pop_front().map_or(Self::Empty, Self::Full),
            _ => Self::Rope(pieces),
        }
    }

    /// Creates a body that is fed through a channel. The channel holds at most `capacity` pieces (at least one) that
    /// the peer has not taken yet. The body ends when the sender is dropped.
    pub fn channel(capacity: usize) -> (BodySender, Self) {
        let (tx, rx) = mpsc::channel(capacity.max(1));
        (BodySender(tx), Self::Stream(BodyStream { pieces: rx, failed: Failing::default() }))
    }

    /// Creates a body that passes on the body of another peer; see [`Relay`].
    pub fn relay(relay: Relay) -> Self {
        Self::Relay(Box::new(relay))
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        if bytes.is_empty() { Self::Empty } else { Self::Full(bytes) }
    }
}

impl From<String> for Body {
    fn from(text: String) -> Self {
        Bytes::from(text).into()
    }
}

impl From<&'static str> for Body {
    fn from(text: &'static str) -> Self {
        Bytes::from_static(text.as_bytes()).into()
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        match &mut *self {
            Self::Empty => Poll::Ready(None),
            Self::Full(bytes) => {
                let bytes = std::mem::take(bytes);
                *self = Self::Empty;
                Poll::Ready((!bytes.is_empty()).then(|| Ok(Frame::data(bytes))))
            }
            Self::Rope(pieces) => Poll::Ready(pieces.pop_front().map(|piece| Ok(Frame::data(piece)))),
            Self::Stream(stream) => stream.poll_frame(cx),
            Self::Relay(relay) => relay.poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Empty => true,
            Self::Full(bytes) => bytes.is_empty(),
            Self::Rope(pieces) => pieces.is_empty(),
            Self::Stream(_) => false,
            Self::Relay(relay) => relay.is_end(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Empty => SizeHint::with_exact(0),
            Self::Full(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Self::Rope(pieces) => SizeHint::with_exact(pieces.iter().map(|piece| piece.len() as u64).sum()),
            Self::Stream(_) => SizeHint::default(),
            Self::Relay(relay) => relay.size(),
        }
    }
}

/// An error that is delayed by one turn of the event loop. hyper drops a connection as soon as its body fails,
/// together with all unsent bytes; the pause lets hyper send the bytes that came before the failure.
#[derive(Debug, Default)]
pub(super) struct Failing(pub(super) Option<BodyError>);

impl Failing {
    pub(super) fn poll(&mut self) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        self.0.take().map_or(Poll::Pending, |error| Poll::Ready(Some(Err(error))))
    }

    pub(super) fn keep(
        &mut self,
        error: BodyError,
        cx: &Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        self.0 = Some(error);
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

/// The reading end of [`Body::channel`].
#[derive(Debug)]
pub struct BodyStream {
    pieces: mpsc::Receiver<Result<Bytes, BodyError>>,
    failed: Failing,
}

impl BodyStream {
    fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if self.failed.0.is_some() {
            return self.failed.poll();
        }
        loop {
            match ready!(self.pieces.poll_recv(cx)) {
                // An empty chunk would end a chunked body.
                Some(Ok(bytes)) if bytes.is_empty() => {}
                Some(Err(error)) => return self.failed.keep(error, cx),
                next => return Poll::Ready(next.map(|piece| piece.map(Frame::data))),
            }
        }
    }
}

/// The writing end of [`Body::channel`]. Dropping the sender completes the body.
#[derive(Clone, Debug)]
pub struct BodySender(mpsc::Sender<Result<Bytes, BodyError>>);

/// The error if the client is gone, so nobody reads the body. Unlike [`TrySend::Full`], it does not return the
/// bytes, because nobody needs them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the reader of this answer has disconnected")]
pub struct ReaderGone;

/// The reason why a piece was not accepted immediately.
#[derive(Debug, thiserror::Error)]
pub enum TrySend {
    /// The channel is full. The piece is returned.
    #[error("the reader of this answer is too slow")]
    Full(Bytes),
    /// The reader is gone.
    #[error("the reader of this answer has disconnected")]
    Gone,
}

impl BodySender {
    /// Sends a piece, waiting until the channel has room.
    pub async fn send(&self, piece: Bytes) -> Result<(), ReaderGone> {
        self.0.send(Ok(piece)).await.map_err(|_| ReaderGone)
    }

    /// Returns true if a piece can be sent now, or if nobody reads any more.
    pub fn has_room(&self) -> bool {
        self.0.capacity() > 0 || self.is_gone()
    }

    /// Waits until there is room for a piece, or until the reader is gone.
    pub async fn room(&self) {
        // Another sender may take the free slot before the caller does.
        drop(self.0.reserve().await);
    }

    /// Sends a piece if there is room now.
    pub fn try_send(&self, piece: Bytes) -> Result<(), TrySend> {
        self.0.try_send(Ok(piece)).map_err(|error| match error {
            mpsc::error::TrySendError::Full(Ok(piece)) => TrySend::Full(piece),
            _ => TrySend::Gone,
        })
    }

    /// Cuts the body short, so that the reader cannot mistake it for a complete one. Pieces that were sent before are
    /// still delivered if the reader takes them without delay.
    pub async fn abort(self, reason: &'static str) {
        let _ = self.0.send(Err(BodyError::Aborted(reason))).await;
    }

    /// Waits until the reader is gone.
    pub async fn gone(&self) {
        self.0.closed().await;
    }

    /// Returns true if the reader is gone.
    pub fn is_gone(&self) -> bool {
        self.0.is_closed()
    }
}
