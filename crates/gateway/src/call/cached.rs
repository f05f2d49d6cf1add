//! Calls that are answered from the cache: calls of tools that only read, in profiles that enable this. Access and rate
//! limits have already been checked. This module must not know where results are kept.

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use engine::Fault;
use engine::catalogue::ToolEntry;
use engine::exchange::{Headers, check_mirrored};
use proto::bridge::shape::{Own, result};
use proto::mcp::Method;
use proto::rpc::{Frame, result_response};

use super::CallContext;
use super::cache_slot::CacheSlot;
use super::record::Record;
use super::recorded_target::RecordedTarget;
use super::result_limit::ResultLimit;
use crate::admission::Identity;
use crate::telemetry::RequestArrival;
use crate::view::ViewCell;

/// The properties of a request that may be answered from the cache.
#[derive(Clone, Copy)]
pub(super) struct CachedCall<'a> {
    pub(super) identity: &'a Identity,
    pub(super) headers: Option<&'a dyn Headers>,
    /// True if the result is never shortened.
    pub(super) whole: bool,
    /// The request's arrival; `None` if nobody noted it.
    pub(super) arrived: Option<RequestArrival>,
}

/// Returns the answer to a call from the cache; `None` if there is none.
///
/// # Errors
/// Returns the fault of a call that is refused whatever the cache contains.
pub(super) fn answer(
    context: &Arc<CallContext>,
    asked: CachedCall<'_>,
    (cell, server_info): (&ViewCell, &str),
    (slot, tool, frame): (&CacheSlot, &ToolEntry, &Frame),
) -> Result<Option<Bytes>, Fault> {
    let Some(cached) = context.state.results.cached(slot.key(), Instant::now()) else { return Ok(None) };
    let (client, identity) = (cell.clients.era, asked.identity);
    check_mirrored(frame, Some(tool), (client, asked.headers))?;
    let own = Own { server_info };
    let Ok(found) = result(Method::ToolsCall.name(), &cached.result, cached.era, client, &own) else {
        return Ok(None);
    };
    let id = frame.id().ok_or_else(|| Fault::gateway("the request has no id"))?;
    let upstream = context.view.state.upstream_of(tool.upstream, identity);
    let limit = ResultLimit::of(context, &upstream, tool, cell.profile).filter(|_| !asked.whole);
    let answer = result_response(id, &found);
    let answer = match limit {
        Some(limit) => limit.apply(context, identity, client, answer),
        None => answer,
    };
    let target =
        RecordedTarget { upstream: &upstream, tool: Some(tool), arrived: asked.arrived, traced: None };
    if let Some(mut record) = Record::forwarded(context, identity, cell.profile, frame, target) {
        record.cached();
        record.body(&answer, false);
    }
    Ok(Some(answer))
}
