//! A request that the handlers pass on. This module must not know which handler will answer it.

use super::replicas::movable::MovableRequest;
use crate::admission::Identity;
use crate::call::requester::Forwarding;
use crate::telemetry::RequestArrival;

/// An admitted request: its profile and its caller.
#[derive(Clone)]
pub(super) struct AdmittedRequest {
    pub(super) profile: usize,
    pub(super) identity: Identity,
    /// The request's arrival, if requests are recorded and the body has been read.
    pub(super) arrival: Option<RequestArrival>,
    /// The facts for passing the request on to another gateway of the cluster, if that is possible.
    pub(super) movable: Option<Box<MovableRequest>>,
    /// True if another gateway has passed the request on; it has already counted the request.
    pub(super) is_passed_on: bool,
}

impl AdmittedRequest {
    /// Returns whether the request can be passed on to another gateway of the cluster.
    pub(super) fn passing_on(&self) -> Forwarding {
        if self.movable.is_some() { Forwarding::Possible } else { Forwarding::Impossible }
    }

    pub(super) fn new(profile: usize, identity: Identity) -> Self {
        Self { profile, identity, arrival: None, movable: None, is_passed_on: false }
    }
}
