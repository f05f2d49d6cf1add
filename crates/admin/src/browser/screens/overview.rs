//! The overview: the health of the gateway, what happened, and what to do.

use std::sync::Arc;
use std::time::Duration;

use pages::model::{
    Advice, CallRow, OverviewPage, ServerRow, Severity, TrafficPoint, TrafficTotals, UsageRow, Window,
};
use pages::{page, route};
use store::audit::{CallOutcome, Query};
use tokio::time::{MissedTickBehavior, interval};

use super::super::page_reply::{self, PageResult};
use super::super::page_request::PageRequest;
use super::super::page_stream::PageStream;
use super::{call_rows, count, server_rows};
use crate::insight::health::{HealthFinding, REVIEW, health};
use crate::insight::keys::key_names;
use crate::insight::moment::PointInTime;
use crate::insight::usage::CallCount;
use gateway::key_names::KeyNames;
use gateway::process::Shard;

/// The interval at which the current numbers are read again.
const LOOK: Duration = Duration::from_secs(1);

/// The number of failed calls that the page shows.
const FAILURES: u32 = 8;

/// Shows the overview.
pub(in super::super) async fn show(request: &PageRequest) -> PageResult {
    let shard = &request.shard;
    let window = Window::from_name(request.query.text("window")).unwrap_or_default();
    let period = Duration::from_millis(window.millis());
    let usage = request.state.usage(shard, period).await?;
    let day = server_rows::day(request).await;
    let mut servers = server_rows::all(shard, &day);
    servers.sort_by_key(|row| std::cmp::Reverse(rank(row)));
    let step = |step: &crate::insight::usage::UsageStep| {
        let CallCount { calls, errors, denied, p50_us, p95_us, .. } = step.count;
        TrafficPoint { at: step.at_ms, ok: calls - errors - denied, errors, denied, p50_us, p95_us }
    };
    let names = key_names(shard).await;
    let of_tool = |one| usage_row(&KeyNames::default(), one);
    let data = OverviewPage {
        window,
        started: PointInTime::at(shard.gateway.process.started).0,
        advice: advice(shard),
        totals: totals(&usage.total),
        before: usage.before.as_ref().map(totals),
        counted_since: usage.counted_since,
        points: usage.steps.iter().map(step).collect(),
        servers,
        top_tools: usage.busiest_tools(10).into_iter().map(of_tool).collect(),
        top_callers: usage.busiest_callers(10).into_iter().map(|one| usage_row(&names, one)).collect(),
        failures: failures(shard, period).await,
        ..at_present(shard)
    };
    page_reply::ok(page::overview(&request.frame(), &data))
}

/// Returns the overview with the current numbers only.
fn at_present(shard: &Arc<Shard>) -> OverviewPage {
    let mut data = OverviewPage {
        sessions: count(shard.gateway.process.session.sessions.counted()),
        questions: count(shard.gateway.process.parked.count()),
        ..OverviewPage::default()
    };
    for spec in &shard.gateway.snapshot.upstreams {
        let (running, waiting) = shard.view.state.upstreams.get(spec.id).server.concurrency.counts();
        (data.running, data.waiting) = (data.running + running, data.waiting + waiting);
    }
    data
}

/// Streams the current numbers.
pub(in super::super) async fn events(request: &PageRequest) -> PageResult {
    let (stream, response) = PageStream::open(request)?;
    // The task ends when the browser or the session is gone, or when the gateway stops.
    transport::task::spawn(async move {
        let mut looks = interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut shown = None;
        let send = async {
            loop {
                looks.tick().await;
                let data = at_present(&stream.thread.now());
                let numbers = Some((data.running, data.waiting, data.questions, data.sessions));
                if shown != numbers {
                    shown = numbers;
                    stream.send("replace", None, page::overview_now(&data));
                }
            }
        };
        tokio::select! { () = send => {}, () = stream.over() => {} }
    });
    Ok(response)
}

fn rank(row: &ServerRow) -> (u8, u64) {
    use pages::model::ServerState as State;
    let state = match row.state {
        State::BackingOff | State::Unreachable => 3,
        State::AuthRequired | State::Degraded => 2,
        State::Starting | State::Listing | State::Leaving => 1,
        State::Ready | State::Resting | State::PerCaller | State::Disabled => 0,
    };
    (state, row.errors)
}

fn totals(count: &CallCount) -> TrafficTotals {
    TrafficTotals {
        calls: count.calls,
        errors: count.errors,
        denied: count.denied,
        p50_us: count.p50_us,
        p95_us: count.p95_us,
    }
}

fn usage_row(names: &KeyNames, (name, count): (String, CallCount)) -> UsageRow {
    UsageRow {
        key: names.name_of(&name).map(Into::into),
        name: name.into(),
        calls: count.calls,
        failed: count.errors + count.denied,
        p95_us: count.p95_us,
    }
}

async fn failures(shard: &Arc<Shard>, period: Duration) -> Vec<CallRow> {
    let since_ms = Some(PointInTime::before(period).0);
    let mut rows = Vec::new();
    for outcome in [CallOutcome::Error, CallOutcome::Denied, CallOutcome::Unknown] {
        let query = Query { since_ms, outcome: Some(outcome), limit: FAILURES, ..Query::default() };
        rows.extend(call_rows::newest(shard, query).await);
    }
    rows.sort_by_key(|row| std::cmp::Reverse(row.id));
    rows.truncate(FAILURES as usize);
    rows
}

fn advice(shard: &Arc<Shard>) -> Vec<Advice> {
    let mut findings = health(shard).findings;
    findings.sort_by_key(|finding| finding.severity != "error");
    findings.iter().map(of_finding).collect()
}

fn of_finding(finding: &HealthFinding) -> Advice {
    let server = finding.subject.strip_prefix("server ");
    let is_review = finding.help.starts_with(REVIEW);
    let (href, action) = match server {
        Some(name) if is_review => (route::approval(name), "Review and approve"),
        Some(name) => (route::server(name), "Open the server"),
        None if finding.subject.starts_with("limits") => (route::LIMITS.to_owned(), "Open the limits"),
        None => (route::CONFIGURATION.to_owned(), "Open the configuration"),
    };
    // The message about a server begins with its state.
    let (title, message) = match (server, finding.message.split_once(": ")) {
        (Some(name), Some((state, message))) => (format!("{name}: {}", state.replace('_', " ")), message),
        (Some(name), None) => (name.to_owned(), finding.message.as_str()),
        (None, _) => (finding.subject.clone(), finding.message.as_str()),
    };
    Advice {
        severity: if finding.severity == "error" { Severity::Bad } else { Severity::Warning },
        title: title.into(),
        text: if is_review {
            format!("{}. Review what has changed, and approve it there.", capitalized(message))
        } else {
            format!("{}. {}.", capitalized(message), capitalized(&finding.help))
        }
        .into(),
        href,
        action,
    }
}

/// Returns a sentence with a capital first letter and without its full stop.
fn capitalized(text: &str) -> String {
    let mut chars = text.trim_end_matches('.').chars();
    let first = chars.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}", chars.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_definitions_are_approved_at_the_page() {
        let finding = |help: &str| HealthFinding {
            severity: "warning",
            subject: "server crm".to_owned(),
            message: "2 changed, new or vanished tools await approval".to_owned(),
            help: help.to_owned(),
        };
        let advice = of_finding(&finding(&format!("{REVIEW} crm")));
        assert_eq!(
            (advice.href.as_str(), advice.action),
            ("/admin/servers/crm#definitions", "Review and approve")
        );
        assert!(!advice.text.raw().contains("dragoman"), "{}", advice.text.raw());
        let other = of_finding(&finding("look at the log"));
        assert_eq!((other.href.as_str(), other.action), ("/admin/servers/crm", "Open the server"));
    }
}
