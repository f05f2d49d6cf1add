//! A connection that follows commands: it drains, ends or rests when commanded to. This module must not know what
//! is requested over it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use hyper::server::conn::{http1, http2};
use tokio::io::{AsyncRead, AsyncWrite};

use super::io::Watched;
use super::roster::{ConnectionProgress, Order};
use super::runtime::BoxError;
use super::serve::{AnswerBody, EndError};

/// An HTTP/1.1 or HTTP/2 connection that can be drained, or reduced to its stream while it is idle.
pub(super) trait Graceful: Future<Output = Result<(), hyper::Error>> + Sized {
    /// The stream underneath.
    type Stream;

    /// Finishes the requests that have begun, and takes no new ones.
    fn drain(self: Pin<&mut Self>);

    /// Returns the stream of an idle connection, or the connection itself if its state is still needed.
    fn rest(self: Pin<Box<Self>>) -> Result<Watched<Self::Stream>, Pin<Box<Self>>>;
}

impl<T, S> Graceful for http1::Connection<Watched<T>, S>
where
    Self: Future<Output = Result<(), hyper::Error>>,
    T: AsyncRead + AsyncWrite + Unpin + 'static,
    S: hyper::service::HttpService<hyper::body::Incoming, ResBody = AnswerBody> + Unpin,
    S::Error: Into<BoxError>,
{
    type Stream = T;

    fn drain(self: Pin<&mut Self>) {
        self.graceful_shutdown();
    }

    fn rest(self: Pin<Box<Self>>) -> Result<Watched<T>, Pin<Box<Self>>> {
        let parts = Pin::into_inner(self).into_parts();
        Ok(parts.io.before(parts.read_buf))
    }
}

impl<T, S, E> Graceful for http2::Connection<Watched<T>, S, E>
where
    Self: Future<Output = Result<(), hyper::Error>>,
    T: AsyncRead + AsyncWrite + Unpin,
    S: hyper::service::HttpService<hyper::body::Incoming, ResBody = AnswerBody>,
    S::Error: Into<BoxError>,
    E: hyper::rt::bounds::Http2ServerConnExec<S::Future, AnswerBody>,
{
    type Stream = T;

    fn drain(self: Pin<&mut Self>) {
        self.graceful_shutdown();
    }

    /// Always returns the connection itself, because the streams and windows of an HTTP/2 connection could not be
    /// restored.
    fn rest(self: Pin<Box<Self>>) -> Result<Watched<T>, Pin<Box<Self>>> {
        Err(self)
    }
}

/// A connection that follows commands. After the command to rest, its output is the connection's stream.
pub(super) struct Supervised<C> {
    /// The connection; `None` once it has ended or rests.
    connection: Option<Pin<Box<C>>>,
    progress: Arc<ConnectionProgress>,
    /// The function that wraps the task's waker.
    ring: fn(&Waker) -> Waker,
    /// The wrapped waker, created at the first poll; a task keeps the same waker for its lifetime.
    waker: Option<Waker>,
    draining: bool,
}

impl<C: Graceful> Supervised<C> {
    pub(super) fn new(connection: C, progress: Arc<ConnectionProgress>, ring: fn(&Waker) -> Waker) -> Self {
        Self { connection: Some(Box::pin(connection)), progress, ring, waker: None, draining: false }
    }
}

impl<C: Graceful> Future for Supervised<C> {
    type Output = Result<Option<Watched<C::Stream>>, EndError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { connection: place, progress, ring, waker, draining } = &mut *self;
        let waker = waker.get_or_insert_with(|| {
            progress.wake_by(cx.waker());
            ring(cx.waker())
        });
        let mut cx = Context::from_waker(waker);
        loop {
            let Some(connection) = place else { return Poll::Ready(Ok(None)) };
            if let Poll::Ready(result) = connection.as_mut().poll(&mut cx) {
                *place = None;
                return Poll::Ready(result.map(|()| None).map_err(EndError::from));
            }
            match progress.order() {
                Order::Close => return Poll::Ready(Err(EndError::Ordered)),
                Order::Drain if !*draining => {
                    *draining = true;
                    connection.as_mut().drain();
                }
                Order::Serve if progress.may_rest() => {
                    match place.take().map(Graceful::rest) {
                        Some(Ok(stream)) => return Poll::Ready(Ok(Some(stream))),
                        Some(Err(connection)) => *place = Some(connection),
                        None => {}
                    }
                    return Poll::Pending;
                }
                Order::Serve | Order::Drain => return Poll::Pending,
            }
        }
    }
}
