//! The waker of an HTTP/1.1 connection, and the body of a request on it. This module must not know what is requested.
//!
//! hyper wakes a connection's task whenever a piece of a request's body has been taken, even after the last piece,
//! when nothing is left to do. So for every request, the connection and the request, which run in the same task,
//! would be polled once more than necessary. To avoid this, the wakes that result from taking a piece are delayed
//! until it is known whether that piece was the last one.

use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use super::unread;

thread_local! {
    /// True if a piece is being taken on this thread.
    static TAKING: Cell<bool> = const { Cell::new(false) };
    /// The waker to call once the piece has been taken.
    static HELD: RefCell<Option<Arc<DelayedWaker>>> = const { RefCell::new(None) };
}

/// A waker that can be delayed.
struct DelayedWaker(Waker);

impl Wake for DelayedWaker {
    fn wake(self: Arc<Self>) {
        if TAKING.get() {
            HELD.set(Some(self));
        } else {
            self.0.wake_by_ref();
        }
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if TAKING.get() {
            HELD.set(Some(self.clone()));
        } else {
            self.0.wake_by_ref();
        }
    }
}

/// Creates a waker that wakes `task` for a connection.
pub(super) fn delayed_waker(task: &Waker) -> Waker {
    Waker::from(Arc::new(DelayedWaker(task.clone())))
}

/// The body of a client's request.
#[derive(Debug)]
pub struct Incoming(Option<hyper::body::Incoming>);

impl Incoming {
    pub(super) fn new(body: hyper::body::Incoming) -> Self {
        Self(Some(body))
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        if let Some(body) = self.0.take()
            && !body.is_end_stream()
        {
            unread::dropped(body);
        }
    }
}

/// Delays wakes until it is dropped, whether or not a piece was taken by then.
struct DelayGuard;

impl DelayGuard {
    fn begin() -> Self {
        TAKING.set(true);
        Self
    }
}

impl Drop for DelayGuard {
    fn drop(&mut self) {
        TAKING.set(false);
    }
}

impl Body for Incoming {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let Some(body) = &mut self.0 else { return Poll::Ready(None) };
        let taking = DelayGuard::begin();
        let polled = Pin::new(&mut *body).poll_frame(cx);
        drop(taking);
        let ended = matches!(polled, Poll::Ready(None)) || body.is_end_stream();
        if let Some(delayed_waker) = HELD.take()
            && !body.is_end_stream()
        {
            delayed_waker.wake();
        }
        if ended {
            self.0 = None;
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.0.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.0.as_ref().map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}
