//! A request's entry in the record of calls, with the fields that are known when the request begins. This module
//! must not know how the request ends.

use std::borrow::Cow;
use std::time::{SystemTime, UNIX_EPOCH};

use engine::catalogue::ToolEntry;
use proto::mcp::{Method, meta};
use proto::rpc::Frame;

use crate::admission::audit::{AuditEntry, CallOutcome};
use crate::admission::client_label;
use crate::admission::identity::Identity;
use crate::call::CallContext;

/// Returns a request's entry without the fields that are known only at the end; `None` if calls are not recorded.
pub(super) fn audit_entry(
    context: &CallContext,
    (identity, profile): (&Identity, usize),
    frame: &Frame,
    tool: Option<&ToolEntry>,
) -> Option<AuditEntry> {
    let sink = &context.state.audit;
    if !sink.is_on() {
        return None;
    }
    let method = frame.method();
    let member = |key| frame.param(key).ok().flatten();
    let named = || member("name").or_else(|| member("uri")).and_then(|span| frame.string(span));
    let name = tool.map(|tool| tool.name.clone()).or_else(|| named().map(|name| name.as_ref().into()));
    let arguments = sink.takes_arguments().then(|| member("arguments")).flatten();
    let arguments = arguments.and_then(|span| sink.arguments(span.of(frame.text())));
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Some(AuditEntry {
        at_ms: u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
        principal: identity.principal.id.clone(),
        profile: context.egress.snapshot().profiles[profile].slug.clone(),
        upstream: None,
        tool: name,
        method: Method::from_name(&method)
            .map_or_else(|| Cow::Owned(method.clone().into_owned()), |known| Cow::Borrowed(known.name())),
        outcome: CallOutcome::Error,
        code: None,
        duration_us: 0,
        request_bytes: frame.text().len() as u64,
        response_bytes: 0,
        tries: 0,
        waited_us: 0,
        cached: false,
        reason: None,
        arguments,
        address: identity.address().map(client_label::address),
        client: identity.client_label.clone().or_else(|| {
            let info = frame.meta(meta::CLIENT_INFO).ok().flatten()?;
            client_label::program(info.of(frame.text()))
        }),
    })
}
