//! A request that is forwarded to a server, as the input of its call. This module must not know how the call is performed.

use std::sync::Arc;

use engine::exchange::{Headers, Route};
use proto::era::Era;
use proto::rpc::Frame;

use super::CallContext;
use super::cache_slot::CacheSlot;
use super::call::Call;
use super::caller::{Caller, Request};
use super::record::Refused;
use super::requester::Requester;

/// A request that is forwarded; `server` is the protocol version that is used with its server.
pub(super) struct Forwarded<'a> {
    pub(super) route: Route<'a>,
    pub(super) frame: Frame,
    pub(super) server: &'static Era,
    /// The cache slot of the result, if the result may be kept.
    pub(super) slot: Option<CacheSlot>,
}

impl Forwarded<'_> {
    /// Returns true if the request may be the retry of a parked call.
    pub(super) fn may_be_retry(&self, caller: &Caller) -> bool {
        matches!(caller, Caller::Stateless(..)) && self.server.asks != caller.era().asks
    }
}

/// Returns the input of a request's call.
pub(super) fn request<'a>(
    requester: &Requester<'a>,
    forwarded: Forwarded<'a>,
    server_info: &'a str,
) -> Request<'a> {
    let Forwarded { route, frame, server, slot } = forwarded;
    let headers = requester.headers.map(|headers| headers as &dyn Headers);
    let carried = requester.identity.carried.clone();
    let (identity, counted, whole, arrived) =
        (requester.identity, requester.counted, requester.whole, requester.arrived);
    Request {
        frame,
        route,
        server,
        headers,
        server_info,
        identity,
        carried,
        counted,
        whole,
        slot,
        arrived,
        orphan: None,
    }
}

/// Prepares the call of a request from a client without a session.
pub(super) fn stateless(
    context: &Arc<CallContext>,
    requester: Requester<'_>,
    info: &str,
    mut forwarded: Forwarded<'_>,
) -> Result<Box<Call>, Refused> {
    forwarded.route.unchecked = requester.unchecked;
    forwarded.route.keeps_tasks = context.state.homes.has_room();
    let request = request(&requester, forwarded, info);
    Call::begin(context, requester.caller, request)
}
