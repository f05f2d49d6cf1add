//! The body of a request: bytes that are in memory, or pieces that are sent as they become available. This module must not
//! know what the bytes mean, or how they are framed.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

/// The pieces of a body, in order.
pub trait PieceSource: Send {
    /// Returns the next piece; `None` at the end. After the end or an error, the source is not asked again.
    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>>;
}

/// The body of a request.
#[derive(Clone, Debug)]
pub enum RequestBody {
    /// Bytes that are in memory; may be empty.
    Whole(Bytes),
    /// Pieces that are sent as they become available.
    Streamed(StreamedBody),
}

/// A body whose pieces are sent as they become available: the next piece is taken only when the connection has accepted the
/// previous piece. Clones share the pieces, so the body is sent at most once. If the pieces break off, the request is
/// aborted, and the peer cannot mistake it for a complete one.
#[derive(Clone)]
pub struct StreamedBody {
    length: Option<u64>,
    state: Arc<Mutex<StreamState>>,
}

struct StreamState {
    /// `None` after the end or an error.
    source: Option<Box<dyn PieceSource>>,
    /// The number of remaining bytes, if the length is known.
    left: Option<u64>,
}

impl StreamedBody {
    /// Creates a body of these pieces. `length` is their total length, if it is known; a body of another length is an error.
    pub fn new(length: Option<u64>, source: Box<dyn PieceSource>) -> Self {
        let state = StreamState { source: Some(source), left: length };
        Self { length, state: Arc::new(Mutex::new(state)) }
    }

    /// Returns the total length, if it is known.
    pub fn length(&self) -> Option<u64> {
        self.length
    }

    /// Returns the next piece, which is not empty; `None` at the end.
    pub(super) fn poll_piece(&self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).poll_piece(cx)
    }
}

impl StreamState {
    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        let next = loop {
            let Some(source) = &mut self.source else { return Poll::Ready(None) };
            match ready!(source.poll_piece(cx)) {
                // An empty chunk would end a chunked body.
                Some(Ok(piece)) if piece.is_empty() => {}
                next => break next,
            }
        };
        let next = self.counted(next);
        if !matches!(next, Some(Ok(_))) {
            self.source = None;
        }
        Poll::Ready(next)
    }

    /// The next piece, if it agrees with the announced length.
    fn counted(&mut self, next: Option<io::Result<Bytes>>) -> Option<io::Result<Bytes>> {
        let Some(left) = &mut self.left else { return next };
        match next {
            Some(Ok(piece)) => match left.checked_sub(piece.len() as u64) {
                Some(rest) => {
                    *left = rest;
                    Some(Ok(piece))
                }
                None => Some(Err(io::Error::other("the body is longer than announced"))),
            },
            None if *left > 0 => Some(Err(io::Error::other("the body is shorter than announced"))),
            next => next,
        }
    }
}

impl fmt::Debug for StreamedBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamedBody").field("length", &self.length).finish_non_exhaustive()
    }
}

impl RequestBody {
    /// Returns the total length, if it is known.
    pub fn length(&self) -> Option<u64> {
        match self {
            Self::Whole(bytes) => Some(bytes.len() as u64),
            Self::Streamed(body) => body.length(),
        }
    }
}

impl From<Bytes> for RequestBody {
    fn from(bytes: Bytes) -> Self {
        Self::Whole(bytes)
    }
}

/// The form in which HTTP/2 takes the body.
impl Body for RequestBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        match &mut *self {
            Self::Whole(bytes) => {
                let bytes = std::mem::take(bytes);
                Poll::Ready((!bytes.is_empty()).then(|| Ok(Frame::data(bytes))))
            }
            Self::Streamed(body) => body.poll_piece(cx).map(|next| next.map(|piece| piece.map(Frame::data))),
        }
    }

    fn is_end_stream(&self) -> bool {
        // The end of a streamed body is known only when the source has been asked for it.
        matches!(self, Self::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        self.length().map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}
