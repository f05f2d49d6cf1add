//! The waker of an HTTP/1.1 connection, and the body of a request that comes over it. It must not know what is asked.
//!
//! hyper wakes a connection's task whenever somebody has taken a piece of a request's body, also the last one, behind
//! which nothing is left to be done. The connection, and the request that runs in its task, would be polled once more for
//! nothing, with every request. So wakes that come out of taking a piece are held back until it is known whether it was
//! the last one.

use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

thread_local! {
    /// Whether a piece is being taken on this thread.
    static TAKING: Cell<bool> = const { Cell::new(false) };
    /// Who was to be woken meanwhile.
    static HELD: RefCell<Option<Arc<Bell>>> = const { RefCell::new(None) };
}

/// A waker that can be held back.
struct Bell(Waker);

impl Wake for Bell {
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

/// A waker for a connection, which wakes `task`.
pub(super) fn bell(task: &Waker) -> Waker {
    Waker::from(Arc::new(Bell(task.clone())))
}

/// The body of a request that a client sent us.
#[derive(Debug)]
pub struct Incoming(hyper::body::Incoming);

impl Incoming {
    pub(super) fn new(body: hyper::body::Incoming) -> Self {
        Self(body)
    }
}

/// Ends the holding back however the taking ends.
struct Taking;

impl Taking {
    fn begin() -> Self {
        TAKING.set(true);
        Self
    }
}

impl Drop for Taking {
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
        let taking = Taking::begin();
        let polled = Pin::new(&mut self.0).poll_frame(cx);
        drop(taking);
        if let Some(bell) = HELD.take()
            && !self.0.is_end_stream()
        {
            bell.wake();
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}
