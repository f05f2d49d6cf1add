//! One HTTP/1.1 connection to an upstream, driven by whoever waits for its answer: the request's own future reads and
//! writes the socket, no task stands between, so that nothing has to be woken or handed over. It must not know the
//! pool.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Poll, Waker, ready};

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::task::unconstrained;

use super::connect::Wire;
use crate::net::body::Body;

/// A connection and both its ends.
pub(super) struct Link {
    sender: http1::SendRequest<Body>,
    connection: http1::Connection<TokioIo<Wire>, Body>,
    sent: Arc<AtomicBool>,
    over: bool,
}

/// A request without an answer.
pub(super) struct Unanswered {
    pub(super) error: hyper::Error,
    /// The request itself, if it was not even begun.
    pub(super) request: Option<Request<Body>>,
    /// Whether any byte of it went out.
    pub(super) sent: bool,
}

impl Link {
    pub(super) async fn new(wire: Wire, settings: &http1::Builder) -> Result<Box<Self>, hyper::Error> {
        let sent = wire.sent_mark();
        let (sender, connection) = settings.handshake(TokioIo::new(wire)).await?;
        Ok(Box::new(Self { sender, connection, sent, over: false }))
    }

    /// Sends `request` (origin form, with `Host`) and waits for the answer's head. The link comes back with it,
    /// because the body needs it. Dropping the future closes the connection, which cancels the request.
    pub(super) async fn ask(
        mut self: Box<Self>,
        request: Request<Body>,
    ) -> Result<(Response<Incoming>, Box<Self>), Unanswered> {
        self.sent.store(false, Relaxed);
        // Without tokio's budget: it wakes a waker when it runs out, and this one wakes nobody. Nothing is missed,
        // as the answer can only come out of the `drive` just before.
        let mut answer = pin!(unconstrained(self.sender.try_send_request(request)));
        let answered = poll_fn(|cx| {
            // When the connection ends, so does the answer, one way or the other.
            let _ = Self::drive_parts(&mut self.connection, &mut self.over, cx);
            answer.as_mut().poll(&mut Context::from_waker(Waker::noop()))
        });
        match answered.await {
            Ok(response) => Ok((response, self)),
            Err(mut failed) => {
                let request = failed.take_message();
                let sent = request.is_none() && self.sent.load(Relaxed);
                Err(Unanswered { error: failed.into_error(), request, sent })
            }
        }
    }

    /// Reads and writes what can be; ready when the connection has ended.
    pub(super) fn drive(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        Self::drive_parts(&mut self.connection, &mut self.over, cx)
    }

    fn drive_parts(
        connection: &mut http1::Connection<TokioIo<Wire>, Body>,
        over: &mut bool,
        cx: &mut Context<'_>,
    ) -> Poll<()> {
        if !*over {
            // Errors reach the answer or the body that is waited for; with neither, the end alone counts.
            let _ = ready!(Pin::new(connection).poll(cx));
            *over = true;
        }
        Poll::Ready(())
    }

    /// Whether the connection is open and can take the next request. Forgets the task that last waited on it.
    pub(super) fn is_free(&mut self) -> bool {
        self.drive(&mut Context::from_waker(Waker::noop())).is_pending() && self.sender.is_ready()
    }
}
