//! A request on its way through the handlers. It must not know which handler will answer it.

use http::Request;
use transport::net::Incoming;

use crate::admission::Identity;

/// An admitted request: its profile and its caller.
#[derive(Clone)]
pub(super) struct AdmittedRequest {
    pub(super) profile: usize,
    pub(super) identity: Identity,
}

/// A request on its way to its handler, boxed because it is passed on several times.
pub(super) type Arrived = Box<Request<Incoming>>;
