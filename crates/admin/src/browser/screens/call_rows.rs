//! Recorded calls as several pages show them. This module must not know how calls are read.

use std::sync::Arc;

use pages::model::{CallRow, Caller, ForeignText, Outcome};
use proto::rpc::code;
use store::audit::Query;

use super::text;
use crate::insight::calls::{self, RecordedCall};
use crate::insight::refusals::CallRefusals;
use gateway::call::capture::CallMark;
use gateway::process::Shard;

/// The maximum number of characters of a call's arguments in a list.
const SHOWN: usize = 120;

/// Returns the row of a call.
pub(super) fn row(call: RecordedCall) -> CallRow {
    let outcome = Outcome::from_name(call.outcome).unwrap_or_default();
    CallRow {
        id: u64::try_from(call.id).unwrap_or_default(),
        gateway: None,
        captured: false,
        at: call.at.0,
        outcome,
        principal: Caller::new(call.principal, call.principal_name),
        profile: call.profile.into(),
        server: text(call.server),
        tool: call.tool.unwrap_or_else(|| call.method.clone()).into(),
        reason: reason(outcome, call.code, &call.method).map(Into::into),
        arguments: call.arguments.as_deref().and_then(beginning),
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

/// Returns the facts by which captured messages are found.
pub(super) fn mark(call: &RecordedCall) -> CallMark {
    CallMark {
        at_ms: call.at.0,
        duration_us: call.duration_us,
        request_bytes: call.request_bytes,
        principal: call.principal.as_str().into(),
    }
}

/// Returns the beginning of recorded arguments on one line; `None` if there are none.
fn beginning(arguments: &str) -> Option<ForeignText> {
    let flat: String =
        arguments.chars().take(SHOWN + 1).map(|c| if c.is_control() { ' ' } else { c }).collect();
    let text = match flat.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &flat[..end]),
        None => flat,
    };
    (!matches!(text.as_str(), "" | "{}")).then(|| text.into())
}

/// Returns the reason for an outcome; `None` if the record does not reveal it.
fn reason(outcome: Outcome, code: Option<i64>, method: &str) -> Option<&'static str> {
    match (outcome, code) {
        (Outcome::Ok, _) => None,
        (Outcome::Denied, Some(429)) => Some("a rate limit stopped the call"),
        (Outcome::Denied, _) => Some("an access rule, a limit or a missing approval stopped the call"),
        (Outcome::Unknown, _) => Some("there is nothing with this name in the profile"),
        (Outcome::Error, None) if method == "tools/call" => Some("the tool reported a failure in its result"),
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
    match calls::calls(shard, query).await {
        Ok(page) => rows(shard, page.calls).await,
        Err(_) => Vec::new(),
    }
}

/// Sorts rows by the time that they show, the newest first. The record contains calls in the order of their ends, so a long call
/// comes after calls that arrived later.
pub(super) fn sort(rows: &mut [CallRow]) {
    rows.sort_by_key(|row| std::cmp::Reverse((row.at, row.id)));
}

/// Returns the rows of calls, with the reasons according to the current rules and consents.
pub(super) async fn rows(shard: &Arc<Shard>, calls: Vec<RecordedCall>) -> Vec<CallRow> {
    let (mut refusals, mut rows) = (CallRefusals::new(shard), Vec::with_capacity(calls.len()));
    let marks = shard.call.state.capture.marks();
    for call in calls {
        let told = refusals.reason(&call).await;
        let captured = marks.contains(&mark(&call));
        let row = row(call);
        rows.push(CallRow { captured, reason: told.map(Into::into).or(row.reason), ..row });
    }
    sort(&mut rows);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_begin_on_one_line() {
        let shown = |text: &str| beginning(text).map(|text| text.raw().to_owned());
        assert_eq!(shown("{\"id\":42,\n\"x\":1}").as_deref(), Some("{\"id\":42, \"x\":1}"));
        assert_eq!((shown("{}"), shown("")), (None, None));
        assert_eq!(shown(&"é".repeat(500)).map(|text| text.chars().count()), Some(SHOWN + 1));
    }

    #[test]
    fn rows_are_sorted_by_the_time_that_they_show() {
        let row = |id, at| CallRow { id, at, ..CallRow::default() };
        let mut rows = [row(3, 10), row(2, 30), row(1, 30), row(4, 20)];
        sort(&mut rows);
        assert_eq!(rows.map(|row| row.id), [2, 1, 4, 3]);
    }

    #[test]
    fn a_refusal_is_no_fault_of_the_parameters() {
        let refused = Some(i64::from(code::INVALID_PARAMS));
        for (outcome, words) in
            [(Outcome::Denied, "stopped the call"), (Outcome::Unknown, "nothing with this name")]
        {
            assert!(reason(outcome, refused, "tools/call").is_some_and(|reason| reason.contains(words)));
        }
        assert!(
            reason(Outcome::Error, refused, "tools/call").is_some_and(|reason| reason.contains("unsuitable"))
        );
        assert_eq!(reason(Outcome::Denied, Some(429), "tools/call"), Some("a rate limit stopped the call"));
    }
}
