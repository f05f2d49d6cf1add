//! The one body type that we write. It must not know what the bytes
//! mean.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tokio::sync::mpsc;

use super::client::WireError;
use super::relay::Relay;

/// A body to be written.
#[derive(Debug, Default)]
pub enum Body {
    /// No bytes; `Content-Length: 0` where HTTP wants one.
    #[default]
    Empty,
    /// One piece, written together with the header.
    Full(Bytes),
    /// A few pieces that are not copied together: a template and what was spliced into it. Exact length.
    Rope(VecDeque<Bytes>),
    /// Pieces as they come (chunked): event streams.
    Stream(BodyStream),
    /// Somebody else's body, passed through as it arrives.
    Relay(Box<Relay>),
}

/// The reason why a body ended before its end. The peer sees the connection (HTTP/1.1) or the stream (HTTP/2) break
/// off, and so cannot take a half for a whole.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    /// The writer gave up with [`BodySender::abort`].
    #[error("the answer was broken off: {0}")]
    Aborted(&'static str),
    /// The body passed through broke off or was not valid HTTP.
    #[error("the body that was passed on broke off: {0}")]
    Source(#[from] WireError),
    /// The body passed through is not what it has to be.
    #[error("the body that was passed on was broken off: {0}")]
    Refused(String),
    /// The body passed through had no byte for so long.
    #[error("the body that was passed on stood still for {0:?}")]
    Stalled(Duration),
}

impl Body {
    /// A body of several pieces with their summed length. Empty pieces are left out.
    pub fn rope(pieces: impl IntoIterator<Item = Bytes>) -> Self {
        let mut pieces: VecDeque<_> = pieces.into_iter().filter(|piece| !piece.is_empty()).collect();
        match pieces.len() {
            0 => Self::Empty,
            1 => pieces.pop_front().map_or(Self::Empty, Self::Full),
            _ => Self::Rope(pieces),
        }
    }

    /// A body fed through a channel that holds at most `capacity` pieces (at least one) that the peer has not
    /// taken. The body ends when the sender is dropped.
    pub fn channel(capacity: usize) -> (BodySender, Self) {
        let (tx, rx) = mpsc::channel(capacity.max(1));
        (BodySender(tx), Self::Stream(BodyStream { pieces: rx, failed: Failing::default() }))
    }

    /// Passes a foreign body through, see [`Relay`].
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

/// An error that waits one turn. hyper drops a connection at once when a body fails, with all that it has not written
/// yet; the pause lets it write what came before the failure.
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

/// The writing end of [`Body::channel`]. Dropping it ends the body well.
#[derive(Clone, Debug)]
pub struct BodySender(mpsc::Sender<Result<Bytes, BodyError>>);

/// Nobody reads the body any more: the client has gone. Holds nothing, because nothing can be done with the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the reader of this answer has gone")]
pub struct Gone;

/// The reason why a piece was not taken at once.
#[derive(Debug, thiserror::Error)]
pub enum TrySend {
    /// The reader is behind by the whole capacity. The piece comes back.
    #[error("the reader of this answer is too slow")]
    Full(Bytes),
    /// The reader has gone.
    #[error("the reader of this answer has gone")]
    Gone,
}

impl BodySender {
    /// Sends a piece, waiting until there is room.
    pub async fn send(&self, piece: Bytes) -> Result<(), Gone> {
        self.0.send(Ok(piece)).await.map_err(|_| Gone)
    }

    /// Sends a piece if there is room now.
    pub fn try_send(&self, piece: Bytes) -> Result<(), TrySend> {
        self.0.try_send(Ok(piece)).map_err(|error| match error {
            mpsc::error::TrySendError::Full(Ok(piece)) => TrySend::Full(piece),
            _ => TrySend::Gone,
        })
    }

    /// Breaks the body off, so that the reader cannot take it for complete. Pieces sent before still go out if the
    /// reader takes them without delay.
    pub async fn abort(self, reason: &'static str) {
        let _ = self.0.send(Err(BodyError::Aborted(reason))).await;
    }

    /// Waits until the reader has gone.
    pub async fn gone(&self) {
        self.0.closed().await;
    }

    /// Returns true if the reader has gone.
    pub fn is_gone(&self) -> bool {
        self.0.is_closed()
    }
}
