//! Response bodies: prepared pieces of known length, event streams, and streams that stay open.

use super::sessions::Session;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// A body that is written unchanged, piece by piece.
#[derive(Debug, Default)]
pub(super) struct Content {
    pieces: [Bytes; 3],
    next: usize,
    kind: Kind,
}

#[derive(Debug, Default)]
enum Kind {
    /// Sent with a Content-Length.
    #[default]
    Sized,
    /// Sent in chunks, as is usual for event streams.
    Chunked,
    /// Sent in chunks, but nothing is sent until the session ends.
    Open(Arc<Session>),
}

impl Content {
    /// One JSON text in two pieces.
    pub(super) fn json(head: Vec<u8>, tail: Bytes) -> Self {
        Self { pieces: [head.into(), tail, Bytes::new()], ..Self::default() }
    }

    /// An event stream with one message.
    pub(super) fn event(head: &[u8], tail: Bytes) -> Self {
        let start = [b"event: message\ndata: ", head].concat();
        let pieces = if tail.is_empty() {
            [[&start[..], b"\n\n"].concat().into(), tail, Bytes::new()]
        } else {
            [start.into(), tail, Bytes::from_static(b"\n\n")]
        };
        Self { pieces, next: 0, kind: Kind::Chunked }
    }

    /// An event stream without events that ends with its session.
    pub(super) fn open(session: Arc<Session>) -> Self {
        Self { kind: Kind::Open(session), ..Self::default() }
    }
}

impl Body for Content {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Kind::Open(session) = &self.kind {
            return session.poll_end(context).map(|()| None);
        }
        while self.next < self.pieces.len() {
            let at = self.next;
            self.next += 1;
            let piece = std::mem::take(&mut self.pieces[at]);
            if !piece.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(piece))));
            }
        }
        Poll::Ready(None)
    }

    fn is_end_stream(&self) -> bool {
        !matches!(self.kind, Kind::Open(_)) && self.pieces.iter().all(Bytes::is_empty)
    }

    fn size_hint(&self) -> SizeHint {
        match self.kind {
            Kind::Sized => {
                let length: usize = self.pieces.iter().map(Bytes::len).sum();
                SizeHint::with_exact(u64::try_from(length).unwrap_or(u64::MAX))
            }
            Kind::Chunked | Kind::Open(_) => SizeHint::default(),
        }
    }
}
