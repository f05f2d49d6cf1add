//! Recorded calls as several pages show them. This module must not know how calls are read.

use std::sync::Arc;

use pages::model::{CallRow, Caller, Outcome};
use proto::rpc::code;
use store::audit::Query;

use super::text;
use crate::insight::calls::{self, RecordedCall};
use crate::process::Shard;

/// Returns the row of a call.
pub(super) fn row(call: RecordedCall) -> CallRow {
    let outcome = Outcome::from_name(call.outcome).unwrap_or_default();
    CallRow {
        id: u64::try_from(call.id).unwrap_or_default(),
        at: call.at.0,
        outcome,
        principal: Caller::new(call.principal, call.principal_name),
        profile: call.profile.into(),
        server: text(call.server),
        tool: call.tool.unwrap_or_else(|| call.method.clone()).into(),
        reason: reason(outcome, call.code, &call.method).map(Into::into),
        method: call.method.into(),
        code: call.code,
        duration_us: call.duration_us,
        waited_us: call.waited_us,
        tries: call.tries,
        request_bytes: call.request_bytes,
        response_bytes: call.response_bytes,
        cached: call.is_cached,
        address: text(call.address),
        client: text(call.client),
    }
}

/// Returns the reason for an outcome, as far as the record contains it.
fn reason(outcome: Outcome, code: Option<i64>, method: &str) -> Option<&'static str> {
    match (outcome, code) {
        (Outcome::Ok, _) => None,
        (Outcome::Error, None) if method == "tools/call" => Some("the tool reported a failure in its result"),
        (Outcome::Denied, None) => Some("an access rule or a limit stopped the call"),
        (Outcome::Denied, Some(429)) => Some("a rate limit stopped the call"),
        (Outcome::Unknown, None) => Some("there is nothing with this name in the profile"),
        (_, Some(code)) => code_in_words(code),
        _ => None,
    }
}

fn code_in_words(number: i64) -> Option<&'static str> {
    Some(match i32::try_from(number).ok()? {
        code::PARSE_ERROR => "the message was not valid JSON",
        code::INVALID_REQUEST => "the message was not a valid request",
        code::METHOD_NOT_FOUND => "the server does not know this method",
        code::INVALID_PARAMS => "the parameters were refused: an unknown name, or unsuitable arguments",
        code::INTERNAL_ERROR => "the server failed, or could not be reached",
        _ => return None,
    })
}

/// Returns the newest calls that the query selects; none if the record cannot be read.
pub(super) async fn newest(shard: &Arc<Shard>, query: Query) -> Vec<CallRow> {
    let read = calls::calls(shard, query).await;
    read.map(|page| page.calls.into_iter().map(row).collect()).unwrap_or_default()
}
