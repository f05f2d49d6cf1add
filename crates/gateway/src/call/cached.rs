//! Calls that are answered from the cache: calls of read-only tools, in profiles that enable this. Access and rate
//! limits have already been checked. This module must not know where results are kept.

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use engine::Fault;
use engine::catalogue::ToolEntry;
use engine::exchange::{Headers, Route, check_mirrored};
use proto::bridge::shape::{GatewayIdentity, result};
use proto::mcp::Method;
use proto::rpc::{Frame, Id, result_response};

use super::CallContext;
use super::cache_slot::CacheSlot;
use super::limited_tasks::LimitedTool;
use super::record::{Record, Refused};
use super::recorded_target::RecordedTarget;
use super::result_limit::ResultLimit;
use super::result_store::CachedResult;
use crate::admission::Identity;
use crate::telemetry::RequestArrival;
use crate::view::ViewCell;

/// The properties of a request that may be answered from the cache.
#[derive(Clone, Copy)]
pub(super) struct CachedCall<'a> {
    pub(super) identity: &'a Identity,
    /// The caller's identity for the record of calls; in a session, it contains the client's name.
    pub(super) recorded: &'a Identity,
    pub(super) headers: Option<&'a dyn Headers>,
    /// True if the result is never shortened.
    pub(super) whole: bool,
    /// The request's arrival; `None` if it was not noted.
    pub(super) arrived: Option<RequestArrival>,
}

/// Returns the answer to a call from the cache; `None` if there is none.
///
/// # Errors
/// Returns the fault if the request's headers do not match its body; such a call is refused with or without a
/// cached result.
pub(super) fn answer(
    context: &Arc<CallContext>,
    asked: CachedCall<'_>,
    (cell, server_info): (&ViewCell, &str),
    (slot, tool): (&CacheSlot, &ToolEntry),
    (route, frame): (&Route<'_>, &Frame),
) -> Result<Option<Bytes>, Refused> {
    let Some(cached) = context.state.results.cached(slot.key(), Instant::now()) else { return Ok(None) };
    let (client, identity) = (cell.clients.era, asked.identity);
    check_mirrored(frame, Some(tool), (client, asked.headers)).map_err(|fault| {
        let record = Record::refusal(context, asked.recorded, cell.profile, frame, &fault);
        Refused { fault, record }
    })?;
    let id = frame.id().ok_or_else(|| Fault::gateway("the request has no id"))?;
    let Some(published) = published(context, &cached, route, id) else { return Ok(None) };
    let own = GatewayIdentity { server_info };
    let Ok(found) = result(Method::ToolsCall.name(), &published, cached.era, client, &own) else {
        return Ok(None);
    };
    let upstream = context.view.state.upstream_of(tool.upstream, identity);
    let limit = if asked.whole {
        None
    } else {
        let tool = LimitedTool::of(&upstream, tool, cell.profile);
        ResultLimit::of(context, &upstream, tool, identity.data_owner())
    };
    let answer = result_response(id, &found);
    let answer = match limit {
        Some(limit) => limit.apply(context, identity, client, answer),
        None => answer,
    };
    let target =
        RecordedTarget { upstream: &upstream, tool: Some(tool), arrived: asked.arrived, traced: None };
    if let Some(mut record) = Record::forwarded(context, asked.recorded, cell.profile, frame, target) {
        record.cached();
        record.body(&answer, false);
    }
    Ok(Some(answer))
}

/// Returns a cached result with the URIs that clients currently see; `None` if the result cannot be read. Results
/// are cached with the server's own URIs, because the public URIs can change.
fn published(context: &CallContext, cached: &CachedResult, route: &Route<'_>, id: &Id) -> Option<Bytes> {
    let Some(uris) = &route.uris else { return Some(cached.result.clone()) };
    let response = result_response(id, &cached.result);
    let frame = uris.published(Frame::parse(response, context.egress.frame_limits()).ok()?);
    Some(frame.payload()?.share(frame.text()))
}
