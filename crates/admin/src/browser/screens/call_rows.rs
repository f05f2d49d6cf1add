//! Recorded calls as several pages show them. This module must not know how calls are read.

use std::sync::Arc;

use pages::model::{CallRow, Caller, ForeignText, Outcome};
use proto::rpc::code;
use store::audit::Query;

use super::text;
use crate::insight::calls::{self, RecordedCall};
use crate::insight::refusals::PresentRules;
use gateway::call::capture::CallMark;
use gateway::process::Shard;

/// The maximum number of characters of a call's arguments in a list.
const SHOWN: usize = 120;

/// Returns the row of a call.
pub(super) fn row(call: RecordedCall) -> CallRow {
    let outcome = Outcome::from_name(call.outcome).unwrap_or_default();
    let change = change(&call.method, call.server.as_deref());
    let likely = || likely(outcome, call.code, &call.method).map(str::to_owned);
    let reason = call.reason_in_words().or_else(likely);
    CallRow {
        id: u64::try_from(call.id).unwrap_or_default(),
        gateway: None,
        captured: false,
        at: call.at.0,
        outcome,
        principal: Caller::new(call.principal, call.principal_name),
        profile: call.profile.into(),
        server: text(call.server),
        tool: call.tool.or(change).unwrap_or_else(|| call.method.clone()).into(),
        reason: reason.map(Into::into),
        today: None,
        times: None,
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

/// Returns a change over the management API or the pages in words, without the HTTP request: `approved: greet of notes`. Returns `None`
/// for other requests, and for refused changes.
fn change(method: &str, server: Option<&str>) -> Option<String> {
    let (request, what) = method.split_once(": ")?;
    let (verb, path) = request.split_once(' ')?;
    let is_http = verb.bytes().all(|byte| byte.is_ascii_uppercase()) && path.starts_with('/');
    let of = server.filter(|server| !what.contains(*server)).map(|server| format!(" ({server})"));
    is_http.then(|| format!("{what}{}", of.unwrap_or_default()))
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

/// Returns the meaning of an outcome without a recorded reason; `None` if it means nothing certain.
fn likely(outcome: Outcome, code: Option<i64>, method: &str) -> Option<&'static str> {
    match (outcome, code) {
        (Outcome::Ok, _) => None,
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

/// Joins rows of the same caller, tool, outcome and reason; the newest row stands for them, with their number. The rows are sorted, the
/// newest first.
pub(super) fn grouped(rows: Vec<CallRow>) -> Vec<CallRow> {
    let mut groups: Vec<CallRow> = Vec::new();
    for row in rows {
        let is_equal = |group: &CallRow| {
            (group.outcome, &group.tool, &group.principal.id, &group.server, &group.reason)
                == (row.outcome, &row.tool, &row.principal.id, &row.server, &row.reason)
        };
        match groups.iter_mut().find(|group| is_equal(group)) {
            Some(group) => group.times = Some(group.times.unwrap_or(1) + 1),
            None => groups.push(row),
        }
    }
    groups
}

/// Returns the rows of calls. Calls without a recorded reason also have what today's rules would do.
pub(super) async fn rows(shard: &Arc<Shard>, calls: Vec<RecordedCall>) -> Vec<CallRow> {
    let (mut present, mut rows) = (PresentRules::new(shard), Vec::with_capacity(calls.len()));
    let marks = shard.call.state.capture.marks();
    for call in calls {
        let today = if call.reason.is_none() { present.verdict(&call).await } else { None };
        let captured = marks.contains(&mark(&call));
        let row = row(call);
        rows.push(CallRow { captured, today: today.map(Into::into), ..row });
    }
    sort(&mut rows);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_without_its_request() {
        let shown = |method, server| change(method, server);
        assert_eq!(
            shown("POST /admin/servers/notes/approve: approved greet", Some("notes")).as_deref(),
            Some("approved greet (notes)")
        );
        assert_eq!(shown("PUT /api/servers/a: changed a", Some("a")).as_deref(), Some("changed a"));
        for other in ["tools/call", "reload: added x", "POST /admin/keys", "login"] {
            assert_eq!(shown(other, None), None, "{other}");
        }
    }

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
    fn equal_failures_share_a_row() {
        let row = |id, tool: &str, reason: &str| CallRow {
            id,
            outcome: Outcome::Denied,
            tool: tool.into(),
            reason: Some(reason.into()),
            ..CallRow::default()
        };
        let rows =
            grouped(vec![row(9, "a", "full"), row(8, "b", "full"), row(7, "a", "full"), row(6, "a", "late")]);
        let shown: Vec<_> = rows.iter().map(|row| (row.id, row.times)).collect();
        assert_eq!(shown, [(9, Some(2)), (8, None), (6, None)]);
    }

    #[test]
    fn a_refusal_is_no_fault_of_the_parameters() {
        let refused = Some(i64::from(code::INVALID_PARAMS));
        for (outcome, words) in
            [(Outcome::Denied, "stopped the call"), (Outcome::Unknown, "nothing with this name")]
        {
            assert!(likely(outcome, refused, "tools/call").is_some_and(|reason| reason.contains(words)));
        }
        assert!(
            likely(Outcome::Error, refused, "tools/call").is_some_and(|reason| reason.contains("unsuitable"))
        );
    }
}
