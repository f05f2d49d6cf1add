//! The sender of a request whose outcome has not been decided yet. This module must not know methods.

use std::sync::Arc;

use engine::exchange::Headers;

use super::cache_slot::SlotOwner;
use super::cached::CachedCall;
use super::caller::Caller;
use crate::admission::Identity;
use crate::session::session::Session;
use crate::telemetry::RequestArrival;
use crate::view::view_cell::ViewCell;

/// The ability of a front end to pass a request on to another gateway of the cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Forwarding {
    /// The front end keeps the request: there are no other gateways, the request comes from one of them, or the answer cannot be passed
    /// back.
    Impossible,
    /// The front end can pass the request on.
    Possible,
}

/// The caller, and the properties of its request.
pub struct Requester<'a> {
    pub(crate) caller: Caller,
    /// The sender of this request.
    pub(crate) identity: &'a Identity,
    pub(crate) headers: Option<&'a (dyn Headers + Sync)>,
    /// True if only the server validates the arguments; Dragoman does not.
    pub(crate) unchecked: bool,
    /// True if a call has to be counted toward the caller's limit; false in a session, which counts its own calls.
    pub(crate) counted: bool,
    /// True if no result is shortened, because the endpoint's dialect documents its results.
    pub(crate) whole: bool,
    /// The request's arrival, if requests are recorded and the front end noted it.
    pub(crate) arrived: Option<RequestArrival>,
    /// The ability of the front end to pass the request on to another gateway of the cluster.
    pub(crate) passing_on: Forwarding,
}

impl<'a> Requester<'a> {
    /// Returns the requester for a client in its session.
    pub(crate) fn in_session(session: &Arc<Session>, identity: &'a Identity) -> Self {
        let caller = Caller::Session(session.clone());
        let (headers, arrived) = (None, None);
        Self {
            caller,
            identity,
            headers,
            unchecked: false,
            counted: false,
            whole: false,
            arrived,
            passing_on: Forwarding::Impossible,
        }
    }

    /// Returns the requester for a client without a session, with the client's view.
    pub fn stateless(
        cell: Arc<ViewCell>,
        identity: &'a Identity,
        headers: Option<&'a (dyn Headers + Sync)>,
    ) -> Self {
        let caller = Caller::Stateless(cell, identity.clone());
        Self {
            caller,
            identity,
            headers,
            unchecked: false,
            counted: true,
            whole: false,
            arrived: None,
            passing_on: Forwarding::Impossible,
        }
    }

    /// Returns the requester, with the arrival of its request.
    pub(crate) fn arrived(mut self, at: Option<RequestArrival>) -> Self {
        self.arrived = at;
        self
    }
}

impl Requester<'_> {
    /// Returns the requester, with the ability of its front end to pass requests on to other gateways of the cluster.
    pub(crate) fn passing_on(self, passing_on: Forwarding) -> Self {
        Self { passing_on, ..self }
    }

    /// Returns true if another gateway of the cluster can answer the request.
    pub(super) fn moves(&self) -> bool {
        self.passing_on == Forwarding::Possible
    }

    /// Returns the owner under which the caller's results are cached.
    pub(super) fn slot_owner(&self) -> SlotOwner<'_> {
        let (identity, owner) = (self.identity, self.caller.owner());
        SlotOwner { identity, owner, unchecked: self.unchecked }
    }

    /// Returns the properties on which an answer from the cache depends.
    pub(super) fn cached_call(&self) -> CachedCall<'_> {
        let headers = self.headers.map(|headers| headers as &dyn Headers);
        let (recorded, arrived) = (self.caller.identity(), self.arrived);
        CachedCall { identity: self.identity, recorded, headers, whole: self.whole, arrived }
    }
}
