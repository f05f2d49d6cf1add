//! The code that answers requests, as connections use it. This module must not know connections.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;

use http::{Request, Response};

use super::{Body, Incoming};

/// A request for a handler, boxed because it is passed on several times.
pub type Arrived = Box<Request<Incoming>>;

/// The answer to a request, while it is made.
pub type Responding<'a> = Pin<Box<dyn Future<Output = Response<Body>> + Send + 'a>>;

/// The code that answers requests.
///
/// The future is dropped at any await point when the client disconnects. A panic in the future is answered with 500
/// and does not affect other requests. Connections use handlers as trait objects, so that hyper is compiled once
/// and not once for each handler.
pub trait Handler: Send + Sync + 'static {
    /// Answers one request from `peer`.
    fn handle(&self, request: Arrived, peer: SocketAddr) -> Responding<'_>;

    /// Called when an idle connection has released its buffers.
    fn rested(&self) {}
}

impl Handler for Box<dyn Handler> {
    fn handle(&self, request: Arrived, peer: SocketAddr) -> Responding<'_> {
        (**self).handle(request, peer)
    }

    fn rested(&self) {
        (**self).rested();
    }
}

impl<F, Fut> Handler for F
where
    F: Fn(Request<Incoming>, SocketAddr) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Response<Body>> + Send + 'static,
{
    fn handle(&self, request: Arrived, peer: SocketAddr) -> Responding<'_> {
        Box::pin(self(*request, peer))
    }
}
