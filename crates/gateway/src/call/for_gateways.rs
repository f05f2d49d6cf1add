//! Lists for other gateways of this kind. Such a gateway learns which servers are behind this one, and can request
//! a list without its own entries. Otherwise, two gateways that are servers of each other would list the same
//! entries again and again, under longer and longer names. This module must not know how lists are fetched.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use engine::Fault;
use engine::catalogue::{ListKind, UpstreamId, View};
use engine::exchange::{Dispatch, dispatch};
use engine::tasks::TaskIds;
use proto::era::{CacheHint, Era, complete};
use proto::mcp::{Method, THROUGH, meta, with_marks};
use proto::rpc::{Frame, result_response};

use super::CallContext;
use super::caller::Caller;
use super::decide::{Decision, request_id};
use crate::admission::client_label;
use crate::view::view_cell::ViewCell;

/// The beginning of the label of a gateway of this kind: its name, without the version.
const GATEWAY: &str = "dragoman ";

/// Answers a gateway's request for a list or an introduction.
pub(super) async fn listed_for_gateway(
    context: &Arc<CallContext>,
    (cell, view): (&Arc<ViewCell>, &Arc<View>),
    caller: &Caller,
    frame: &Frame,
) -> Result<Decision, Fault> {
    let behind = marks_behind(context, cell, view);
    let through = frame.meta(THROUGH).ok().flatten().and_then(|span| frame.string(span));
    let leads_back = |marks: &BTreeSet<Box<str>>| through.as_deref().is_some_and(|own| marks.contains(own));
    let left_out: Vec<UpstreamId> =
        behind.iter().filter(|(_, marks)| leads_back(marks)).map(|(server, _)| *server).collect();
    let shows_all = left_out.is_empty();
    let view = if shows_all { view.clone() } else { without(context, cell, left_out).await? };
    let info = &context.egress.snapshot().profiles[cell.profile].server_info;
    let ids = TaskIds::new(context.sealer(), caller.owner(), caller.era());
    let list = match dispatch(frame, &view, info, ids) {
        Ok(Dispatch::Listed(result)) => {
            cell.page_use.note();
            Bytes::from(result.pieces(|| cell.remaining_ms(&view)).collect::<Vec<_>>().concat())
        }
        Ok(_) => return Err(Fault::gateway("the list could not be built")),
        // A view without servers declares no lists, but the client knows the view with all of them.
        Err(fault) => empty_list(frame, caller.era(), info).filter(|_| !shows_all).ok_or(fault)?,
    };
    let all: BTreeSet<&str> = behind.iter().flat_map(|(_, marks)| marks).map(|mark| &**mark).collect();
    Ok(Decision::Done(200, result_response(request_id(frame)?, &with_marks(&list, all.into_iter()))))
}

/// Returns an empty list if the request asks for the first page of a list.
fn empty_list(frame: &Frame, era: &Era, server_info: &str) -> Option<Bytes> {
    let kind = Method::from_name(&frame.method()).and_then(ListKind::of_method)?;
    let is_first = frame.param("cursor").is_ok_and(|cursor| cursor.is_none());
    let members = format!("\"{}\":[]", kind.member());
    is_first.then(|| complete(era, members.as_bytes(), Some(CacheHint::NONE), server_info))
}

/// Returns true if the client is a gateway of this kind.
pub(super) fn is_gateway(caller: &Caller, frame: &Frame) -> bool {
    let is_named = |label: &str| label.starts_with(GATEWAY);
    match caller {
        Caller::Session(session) => session.identity.client_label.as_deref().is_some_and(is_named),
        Caller::Stateless(..) => {
            let info = frame.meta(meta::CLIENT_INFO).ok().flatten().map(|span| span.of(frame.text()));
            info.and_then(client_label::program).is_some_and(|label| is_named(&label))
        }
    }
}

/// Returns the servers that the caller may use, each with its own mark and the marks of the servers behind it.
fn marks_behind(
    context: &CallContext,
    cell: &ViewCell,
    view: &View,
) -> Vec<(UpstreamId, BTreeSet<Box<str>>)> {
    let Some(marks) = context.egress.marks() else { return Vec::new() };
    let basis = cell.basis.load();
    let seen = basis.upstreams.iter().filter(|upstream| !view.denies_server(upstream.server.spec.id));
    seen.map(|upstream| {
        let mut all: BTreeSet<Box<str>> = upstream.catalogue.marks_behind().into_iter().collect();
        all.insert(marks.mark(upstream.name()));
        (upstream.server.spec.id, all)
    })
    .collect()
}

/// Builds the caller's view without these servers, on the blocking pool.
async fn without(
    context: &CallContext,
    cell: &Arc<ViewCell>,
    left_out: Vec<UpstreamId>,
) -> Result<Arc<View>, Fault> {
    let (cell, schema_bytes) = (cell.clone(), context.egress.snapshot().limits.schema_bytes);
    let built = transport::task::spawn_blocking(move || cell.built_without(&left_out, schema_bytes));
    built.await.map(Arc::new).map_err(|_| Fault::gateway("the list could not be built"))
}
