//! An upstream's answer's body, which carries its connection along and gives it back to the pool at its end. It must
//! not know what the bytes mean.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;

use super::link::Link;
use super::origin::Lease;

/// The body of an upstream's answer. Read to its end, its connection serves again; dropped before, the connection (on
/// HTTP/2: the stream) is closed, which tells the upstream to stop.
pub struct ResponseBody {
    incoming: Incoming,
    /// HTTP/1.1 only: what has to be driven for bytes to come.
    link: Option<Box<Link>>,
    keep: Option<Duration>,
    ended: bool,
    lease: Lease,
}

impl ResponseBody {
    pub(super) fn new(
        incoming: Incoming,
        link: Option<Box<Link>>,
        keep: Option<Duration>,
        lease: Lease,
    ) -> Self {
        Self { incoming, link, keep, ended: false, lease }
    }
}

impl std::fmt::Debug for ResponseBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ResponseBody").field("from", &self.lease.origin.name()).finish_non_exhaustive()
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let this = &mut *self;
        let mut polled = Pin::new(&mut this.incoming).poll_frame(cx);
        if polled.is_pending()
            && let Some(link) = &mut this.link
        {
            // A connection that ends also ends the body, well or with an error.
            let _ = link.drive(cx);
            polled = Pin::new(&mut this.incoming).poll_frame(cx);
        }
        if matches!(polled, Poll::Ready(None)) {
            this.ended = true;
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.incoming.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming.size_hint()
    }
}

impl Drop for ResponseBody {
    fn drop(&mut self) {
        if let Some(link) = self.link.take()
            && (self.ended || self.incoming.is_end_stream())
        {
            self.lease.origin.give_back(link, self.keep);
        }
    }
}
