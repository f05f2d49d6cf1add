//! A request on its way through the handlers. This module must not know which handler will answer it.

use std::time::Instant;

use http::Request;
use transport::net::Incoming;

use crate::admission::Identity;

/// An admitted request: its profile and its caller.
#[derive(Clone)]
pub(super) struct AdmittedRequest {
    pub(super) profile: usize,
    pub(super) identity: Identity,
    /// The time at which the body had been read, if requests are recorded and the body has been read.
    pub(super) read_at: Option<Instant>,
}

impl AdmittedRequest {
    pub(super) fn new(profile: usize, identity: Identity) -> Self {
        Self { profile, identity, read_at: None }
    }
}

/// A request on its way to its handler, boxed because it is passed on several times.
pub(super) type Arrived = Box<Request<Incoming>>;
