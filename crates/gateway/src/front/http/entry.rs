//! A request that the handlers pass on. This module must not know which handler will answer it.

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
