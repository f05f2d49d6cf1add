//! Requests for the remainders of shortened results. Only the caller of the tool gets a remainder, and only as long as that
//! caller may use the tool. This module must not know how a result is shortened.

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use engine::Fault;
use engine::catalogue::View;
use engine::exchange::unknown_resource;
use engine::result_cap::{RestId, rest_id};
use proto::bridge::shape::{GatewayIdentity, result};
use proto::era::newest_handshake;
use proto::mcp::Method;
use proto::rpc::{Frame, result_response};
use transport::budget::{self, Part};

use super::CallContext;
use super::record::{Record, Refused};
use super::result_store::KeptRest;
use crate::admission::Identity;
use crate::view::ViewCell;

/// Returns the answer to a request for a remainder; `None` for any other request. The answer does not distinguish
/// between unknown remainders, expired ones, and those of other callers. Servers never learn the URIs of
/// remainders. `recorded` is the caller as the record of calls shows it.
///
/// # Errors
/// Returns the fault for a resource that does not exist.
pub(super) fn read(
    context: &Arc<CallContext>,
    (identity, recorded): (&Identity, &Identity),
    (cell, view): (&ViewCell, &View),
    frame: &Frame,
) -> Result<Option<Bytes>, Refused> {
    let profile = &context.egress.snapshot().profiles[cell.profile];
    if !profile.rules.has_rests || frame.method() != Method::ResourcesRead.name() {
        return Ok(None);
    }
    let Some(span) = frame.param("uri").map_err(Fault::from)? else { return Ok(None) };
    let Some(uri) = frame.string(span) else { return Ok(None) };
    let Some(name) = rest_id(&uri) else { return Ok(None) };
    let Some(rest) = name.and_then(|id| found(context, identity, (cell, view), id)) else {
        let fault = unknown_resource(view.era(), span.of(frame.text()), &uri);
        let record = Record::refusal(context, recorded, cell.profile, frame, &fault);
        return Err(Refused { fault, record });
    };
    let id = frame.id().ok_or_else(|| Fault::gateway("the request has no id"))?;
    let contents = [b"{\"contents\":", &rest.contents[..], b"}"].concat();
    let own = GatewayIdentity { server_info: &profile.server_info };
    let contents =
        result(Method::ResourcesRead.name(), &contents.into(), newest_handshake(), view.era(), &own);
    let answer = result_response(id, &contents.map_err(Fault::gateway)?);
    if let Some(mut record) = Record::begin(context, recorded, cell.profile, frame) {
        record.went_to(&rest.tool.server);
        record.body(&answer, false);
    }
    Ok(Some(budget::of_process().count(Part::Answers, answer)))
}

/// Returns the remainder with this name, if the caller may read it.
fn found(
    context: &CallContext,
    identity: &Identity,
    (cell, view): (&ViewCell, &View),
    id: RestId,
) -> Option<KeptRest> {
    let rest = context.state.results.rest(id, Instant::now())?;
    let is_own = rest.owner == identity.data_owner() && rest.profile == cell.profile;
    let is_current = rest.regime == context.egress.snapshot().regime;
    let may_use = || {
        let tool = view.tool(&rest.tool.name)?;
        (tool.upstream == rest.tool.upstream && *tool.identity() == rest.tool.identity).then_some(())
    };
    (is_own && is_current && may_use().is_some()).then_some(rest)
}
