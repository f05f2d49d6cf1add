//! A request on its way through the handlers. This module must not know which handler will answer it.

use http::Request;
use transport::net::Incoming;

use crate::admission::Identity;
use crate::telemetry::RequestArrival;

/// An admitted request: its profile and its caller.
#[derive(Clone)]
pub(super) struct AdmittedRequest {
    pub(super) profile: usize,
    pub(super) identity: Identity,
    /// The request's arrival, if requests are recorded and the body has been read.
    pub(super) arrival: Option<RequestArrival>,
}

impl AdmittedRequest {
    pub(super) fn new(profile: usize, identity: Identity) -> Self {
        Self { profile, identity, arrival: None }
    }
}

/// A request on its way to its handler, boxed because it is passed on several times.
pub(super) type Arrived = Box<Request<Incoming>>;
