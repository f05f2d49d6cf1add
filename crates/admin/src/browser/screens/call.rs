//! The page of one call.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pages::model::{CallPage, CallRow, CaptureState, ExchangeStep, ForeignText, Outcome};
use pages::{page, route};
use proto::rpc::code;
use serde_json::Value;
use store::audit::{Query, ReasonKind};

use super::super::page_reply::{self, PageResult, done};
use super::super::page_request::{PageRequest, Subject};
use super::{call_rows, messages};
use crate::insight::calls;
use crate::insight::profiles::whole_view;
use crate::insight::refusals::PresentRules;
use gateway::call::capture::{CapturedMessage, Lane};
use gateway::changes::Refusal;
use gateway::process::Shard;

/// Shows a call.
pub(in super::super) async fn show(request: &PageRequest) -> PageResult {
    let shard = &request.shard;
    let missing = || Refusal::new(404, "CALL_NOT_FOUND", "The number of a call must consist of digits.");
    let id: i64 = request.named(0).parse().map_err(|_| missing())?;
    let call = calls::call(shard, id).await?;
    let older = Query { before: Some(id), limit: 1, ..Query::default() };
    let newer = Query { after: Some(id), limit: 1, ..Query::default() };
    let older = call_rows::newest(shard, older).await.first().map(|row| row.id);
    let newer = call_rows::newest(shard, newer).await.last().map(|row| row.id);
    let arguments = call.arguments.as_deref().map(indented);
    let mark = call_rows::mark(&call);
    let store = &shard.call.state.capture;
    let captured = store.messages(&mark);
    let capture = match (&captured, store.until()) {
        (Some(_), _) => CaptureState::Captured,
        (None, _) if store.may_be_dropped(&mark) => CaptureState::Dropped,
        (None, Some(until)) => CaptureState::Until(until),
        (None, None) => CaptureState::Off,
    };
    let captured = captured.unwrap_or_default();
    let era = |lanes: [Lane; 2]| {
        let own = captured.iter().find(|message| lanes.contains(&message.lane) && !message.era.is_empty());
        own.map(|message| message.era.into())
    };
    let is_about_rules = matches!(call.reason, Some(ReasonKind::Rule | ReasonKind::UnknownName));
    let today = PresentRules::new(shard).verdict(&call).await.map(Into::into);
    let row = call_rows::rows(shard, vec![call]).await.pop().ok_or_else(missing)?;
    let row = CallRow { today, ..row };
    let steps = steps(&row, &captured);
    let tool = tool_of(shard, &row).await;
    let is_empty = row.server.is_none() && row.code == Some(i64::from(code::METHOD_NOT_FOUND));
    let is_old_denial = row.outcome == Outcome::Denied && row.today.is_some();
    let data = CallPage {
        row,
        arguments: arguments.map(Into::into),
        records_arguments: request.standing().config().audit.as_ref().is_some_and(|audit| audit.arguments),
        older,
        newer,
        tool,
        client_era: era([Lane::FromClient, Lane::ToClient]),
        server_era: era([Lane::ToServer, Lane::FromServer]),
        messages: messages::shown(shard, &captured),
        access: is_about_rules || is_old_denial || is_empty,
        steps,
        capture,
    };
    page_reply::ok(page::call(&request.frame(), &data))
}

/// Returns the state of the capture.
pub(super) fn capture_now(shard: &Shard) -> CaptureState {
    shard.call.state.capture.until().map_or(CaptureState::Off, CaptureState::Until)
}

/// Returns the server and its own name of the called tool, if the profile still has the tool.
async fn tool_of(shard: &Arc<Shard>, row: &CallRow) -> Option<(ForeignText, ForeignText)> {
    let whole = whole_view(shard, row.profile.raw()).await.ok()?;
    let entry = whole.view.tool(row.tool.raw())?;
    let spec = shard.gateway.snapshot.upstream(entry.upstream)?;
    Some(((&*spec.name).into(), entry.own_name().into_owned().into()))
}

/// Returns the steps of the call that were recorded or captured.
fn steps(row: &CallRow, captured: &[CapturedMessage]) -> Vec<ExchangeStep> {
    let step = |after_us, text: String| ExchangeStep { after_us: Some(after_us), text: text.into() };
    let mut steps = vec![step(0, "the request arrived".to_owned())];
    if row.cached {
        steps.push(step(row.duration_us, "a kept result was found".to_owned()));
    }
    if row.waited_us > 0 && row.tries == 1 {
        steps.push(step(row.waited_us, "the wait for the server ended".to_owned()));
    }
    for message in captured {
        let text = match message.lane {
            Lane::FromClient => continue,
            Lane::ToServer => "a message was sent to the server",
            Lane::FromServer => "the server sent a message",
            Lane::ToClient => "a message was sent to the client",
        };
        let after = u64::try_from(message.after.as_micros()).unwrap_or(u64::MAX);
        steps.push(step(after, format!("{text} ({} bytes)", message.bytes)));
    }
    if captured.is_empty() && row.tries == 1 {
        steps.push(step(row.waited_us, "the request was sent to the server".to_owned()));
    }
    steps.sort_by_key(|step| step.after_us);
    if captured.is_empty() && row.tries > 1 {
        // The record has the number of tries, but not their times.
        let text = format!("the request was sent to the server {} times", row.tries);
        steps.push(ExchangeStep { after_us: None, text: text.into() });
    }
    steps.push(step(row.duration_us, format!("the call ended: {}", row.outcome.name())));
    steps
}

/// Captures the messages of all calls for some minutes, or ends the capture.
pub(in super::super) async fn capture(request: &PageRequest) -> PageResult {
    let started = Instant::now();
    let minutes: Option<u64> = request.form.text("minutes").parse().ok();
    let unusable = || Refusal::new(422, "INVALID_TIME", "The time must be a number of minutes, at most 60.");
    let minutes = minutes.filter(|minutes| *minutes <= 60).ok_or_else(unusable)?;
    let is_recorded = request.standing().config().audit.is_some();
    let outcome = if is_recorded || minutes == 0 {
        request.shard.call.state.capture.run_for(Duration::from_mins(minutes));
        Ok(())
    } else {
        Err(Refusal::new(
            409,
            "NOT_RECORDED",
            "Calls are not recorded, so captured messages could not be found again. Set `audit: true`.",
        ))
    };
    let text = match minutes {
        0 => "The capture of messages has ended.".to_owned(),
        minutes => format!("The messages of all calls are captured for {minutes} minutes."),
    };
    request.note(Subject::Gateway, started, &outcome, &text);
    Ok(done(request, outcome, route::CALLS, &text))
}

/// Returns JSON text with a line for each value; other text stays as it is.
fn indented(text: &str) -> String {
    let value: Result<Value, _> = serde_json::from_str(text);
    value.ok().and_then(|value| serde_json::to_string_pretty(&value).ok()).unwrap_or_else(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tries_whose_times_are_unknown_have_none() {
        let row =
            |tries| CallRow { tries, waited_us: 2_600_000, duration_us: 2_700_000, ..CallRow::default() };
        let times = |tries| -> Vec<Option<u64>> {
            steps(&row(tries), &[]).iter().map(|step| step.after_us).collect()
        };
        assert_eq!(times(3), [Some(0), None, Some(2_700_000)]);
        assert_eq!(times(1), [Some(0), Some(2_600_000), Some(2_600_000), Some(2_700_000)]);
    }
}
