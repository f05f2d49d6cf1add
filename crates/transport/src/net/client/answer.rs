//! The body of an upstream's answer. The body holds the connection, and returns the connection to the pool at its end. This
//! module must not know what the bytes mean.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::Response;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;

use super::error::WireError;
use super::link::Link;
use super::origin::OriginShare;

/// The body of an upstream's answer. Once the body has been read to its end, the connection can be used again. If the body is
/// dropped earlier, the connection (on HTTP/2: the stream) is closed, which tells the upstream to stop. Trailers are left out.
pub struct ResponseBody {
    source: BodySource,
    share: OriginShare,
}

/// The source of the bytes.
pub(super) enum BodySource {
    /// HTTP/1.1: the connection, and the time for which it may be kept afterwards; `None` once the body is over.
    Http1(Option<(Box<Link>, Option<Duration>)>),
    Http2(Incoming),
}

/// An answer's head, and the source of its body.
pub(super) struct AnswerParts {
    pub(super) response: Response<()>,
    pub(super) source: BodySource,
}

impl AnswerParts {
    pub(super) fn with(self, share: OriginShare) -> Response<ResponseBody> {
        self.response.map(|()| ResponseBody::new(self.source, share))
    }
}

impl ResponseBody {
    pub(super) fn new(source: BodySource, share: OriginShare) -> Self {
        let mut body = Self { source, share };
        body.release();
        body
    }

    /// Returns true if this connection, and all earlier ones to the same origin, led to addresses outside the public
    /// network. The name may resolve to other addresses later, but the addresses used so far are known.
    pub fn is_from_near(&self) -> bool {
        self.share.origin.was_near()
    }

    /// Returns the connection to the pool if the body is over.
    fn release(&mut self) {
        if let BodySource::Http1(held) = &mut self.source
            && let Some((link, keep)) = held.take_if(|(link, _)| link.is_over())
        {
            self.share.give_back(link, keep);
        }
    }
}

impl std::fmt::Debug for ResponseBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ResponseBody").field("from", &self.share.origin.name()).finish_non_exhaustive()
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = WireError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, WireError>>> {
        match &mut self.source {
            BodySource::Http2(incoming) => {
                Pin::new(incoming).poll_frame(cx).map(|next| next.map(|frame| Ok(frame?)))
            }
            BodySource::Http1(None) => Poll::Ready(None),
            BodySource::Http1(held @ Some(_)) => {
                let Some((link, _)) = held else { return Poll::Ready(None) };
                let polled = link.poll_piece(cx);
                match &polled {
                    // If the body has failed, it is over as well.
                    Poll::Ready(Some(Err(error))) => {
                        *held = None;
                        if error.is_loss() {
                            self.share.lose();
                        }
                    }
                    Poll::Ready(_) => self.release(),
                    Poll::Pending => {}
                }
                polled.map(|next| next.map(|piece| piece.map(Frame::data)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.source {
            BodySource::Http1(held) => held.is_none(),
            BodySource::Http2(incoming) => incoming.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.source {
            BodySource::Http1(None) => SizeHint::with_exact(0),
            BodySource::Http1(Some((link, _))) => {
                link.left().map_or_else(SizeHint::default, SizeHint::with_exact)
            }
            BodySource::Http2(incoming) => incoming.size_hint(),
        }
    }
}
