//! The overview: the health of the gateway, what happened, and what to do.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use pages::model::{
    Advice, CallRow, OverviewPage, RefusedRequestRow, ServerRow, Severity, TrafficPoint, TrafficTotals,
    UsageRow, Window,
};
use pages::{page, route};
use store::audit::{CallOutcome, Query};
use tokio::time::{MissedTickBehavior, interval};

use super::super::page_reply::{self, PageResult};
use super::super::page_request::PageRequest;
use super::super::page_stream::PageStream;
use super::{call_rows, caller, count, server_rows};
use crate::insight::consents::{self, ListedConsent};
use crate::insight::health::{HealthFinding, REVIEW, health};
use crate::insight::keys::key_names;
use crate::insight::moment::PointInTime;
use crate::insight::usage::CallCount;
use gateway::admission::refused_requests::RefusedRow;
use gateway::key_names::KeyNames;
use gateway::process::Shard;

/// The interval at which the current numbers are read again.
const LOOK: Duration = Duration::from_secs(1);

/// The number of failed calls from which on a server with many failures is something to do.
const FEW: u64 = 5;

/// The number of rows with requests that were turned away.
const REFUSED: usize = 10;

/// The number of rows with failed calls that the page shows.
const FAILURES: usize = 8;

/// The number of failed calls of each outcome that are examined for these rows.
const EXAMINED: u32 = 100;

/// Shows the overview.
pub(in super::super) async fn show(request: &PageRequest) -> PageResult {
    let shard = &request.shard;
    let window = Window::from_name(request.query.text("window")).unwrap_or_default();
    let period = Duration::from_millis(window.millis());
    let usage = request.state.usage(shard, period).await?;
    let day = server_rows::day(request).await;
    let mut servers = server_rows::all(shard, &day);
    servers.sort_by_key(|row| std::cmp::Reverse(rank(row)));
    let mut advice = advice(shard).await;
    advice.extend(of_failing(&servers, window, |server| usage.of_server(server)));
    let step = |step: &crate::insight::usage::UsageStep| {
        let CallCount { calls, errors, denied, p50_us, p95_us, .. } = step.count;
        TrafficPoint { at: step.at_ms, ok: calls - errors - denied, errors, denied, p50_us, p95_us }
    };
    let names = key_names(shard).await;
    let (refused, refused_rows) = shard.gateway.process.refused.listed();
    let of_tool = |one| usage_row(&KeyNames::default(), one);
    let data = OverviewPage {
        window,
        started: PointInTime::at(shard.gateway.process.started).0,
        advice,
        totals: totals(&usage.total),
        before: usage.before.as_ref().map(totals),
        counted_since: usage.counted_since,
        points: usage.steps.iter().map(step).collect(),
        servers,
        top_tools: usage.busiest_tools(10).into_iter().map(of_tool).collect(),
        top_callers: usage.busiest_callers(10).into_iter().map(|one| usage_row(&names, one)).collect(),
        failures: failures(shard, period).await,
        refused,
        refused_rows: refused_rows.into_iter().take(REFUSED).map(|row| refused_row(&names, row)).collect(),
        ..at_present(shard)
    };
    page_reply::ok(page::overview(&request.frame(), &data))
}

/// Returns the overview with the current numbers only.
fn at_present(shard: &Arc<Shard>) -> OverviewPage {
    // The same questions as on the page of sessions: of parked calls, and in sessions.
    let sessions = shard.session.state.sessions.all();
    let asked: usize = sessions.iter().map(|session| session.asks.lock().len()).sum();
    let mut data = OverviewPage {
        sessions: count(shard.gateway.process.session.sessions.counted()),
        questions: count(shard.gateway.process.parked.count() + asked),
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

/// Returns the importance of a server: servers in trouble come first, then those whose calls fail.
fn rank(row: &ServerRow) -> (u8, bool, u64) {
    use pages::model::ServerState as State;
    let state = match row.state {
        State::BackingOff | State::Unreachable => 3,
        State::AuthRequired | State::Degraded => 2,
        State::Starting | State::Listing | State::Leaving => 1,
        State::Ready | State::Resting | State::PerCaller | State::Disabled => 0,
    };
    (state, fails_mostly(row.calls, row.errors), row.errors)
}

/// Returns true if at least half of the calls failed, and more than a few.
fn fails_mostly(calls: u64, errors: u64) -> bool {
    errors >= FEW && errors.saturating_mul(2) >= calls
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

fn refused_row(names: &KeyNames, RefusedRow { request, count, at_ms }: RefusedRow) -> RefusedRequestRow {
    RefusedRequestRow {
        request: request.request.into(),
        address: request.address.to_string().into(),
        agent: request.agent.map(Into::into),
        principal: request.principal.map(|id| caller(names, &id)),
        status: request.status,
        reason: request.reason.into(),
        count,
        at: at_ms,
    }
}

async fn failures(shard: &Arc<Shard>, period: Duration) -> Vec<CallRow> {
    let since_ms = Some(PointInTime::before(period).0);
    let mut rows = Vec::new();
    for outcome in [CallOutcome::Error, CallOutcome::Denied, CallOutcome::Unknown] {
        let query = Query { since_ms, outcome: Some(outcome), limit: EXAMINED, ..Query::default() };
        rows.extend(call_rows::newest(shard, query).await);
    }
    call_rows::sort(&mut rows);
    let mut rows = call_rows::grouped(rows);
    rows.truncate(FAILURES);
    rows
}

async fn advice(shard: &Arc<Shard>) -> Vec<Advice> {
    let mut findings = health(shard).findings;
    findings.sort_by_key(|finding| finding.severity != "error");
    let mut advice: Vec<Advice> = findings.iter().map(of_finding).collect();
    advice.extend(of_consents(&consents::consents(shard).await.consents));
    advice
}

/// Returns the servers that wait for the consent of callers. A server that needs one consent for all callers is a finding already.
fn of_consents(all: &[ListedConsent]) -> Vec<Advice> {
    let open = all.iter().filter(|consent| consent.wanted && consent.caller.is_some());
    let mut servers: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for consent in open {
        let caller = consent.caller_name.as_deref().or(consent.caller.as_deref()).unwrap_or_default();
        servers.entry(&consent.server).or_default().push(caller);
    }
    let advice = |(server, callers): (&str, Vec<&str>)| {
        let who = match callers.as_slice() {
            [one] => (*one).to_owned(),
            all => format!("{} callers", all.len()),
        };
        Advice {
            severity: Severity::Warning,
            title: format!("{server}: consent is open").into(),
            text: format!("Calls of {who} are refused until consent is given. Clients show the link to the consent page.").into(),
            href: route::with_query(route::LOGINS, &[("q", server)]),
            action: "Open the logins",
        }
    };
    servers.into_iter().map(advice).collect()
}

/// Returns the servers that are in order themselves, but most of whose calls failed in the shown period.
fn of_failing(servers: &[ServerRow], window: Window, calls_of: impl Fn(&str) -> CallCount) -> Vec<Advice> {
    let failing = servers.iter().filter(|row| rank(row).0 == 0).filter_map(|row| {
        let count = calls_of(row.id.raw());
        let CallCount { calls, faults: errors, .. } = count;
        fails_mostly(calls, errors).then(|| Advice {
            severity: if errors == calls { Severity::Bad } else { Severity::Warning },
            title: format!("{}: calls fail", row.id.raw()).into(),
            text: format!(
                "{errors} of {calls} calls failed in the last {}, although the server can be reached. The calls show why.",
                window.in_words()
            )
            .into(),
            href: route::with_query(
                route::CALLS,
                &[("since", window.name()), ("server", row.id.raw()), ("outcome", "error")],
            ),
            action: "Open the failed calls",
        })
    });
    failing.collect()
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
    fn open_consents_are_to_do() {
        let consent = |server: &str, caller: Option<&str>, wanted: bool| ListedConsent {
            server: server.to_owned(),
            caller: caller.map(str::to_owned),
            caller_name: caller.filter(|caller| caller.starts_with("key:")).map(|_| "ci-bot".to_owned()),
            given: !wanted,
            wanted,
            scopes: Vec::new(),
            expires: None,
            renewable: false,
            issuer: None,
        };
        let advice = of_consents(&[
            consent("crm", Some("user:ann"), true),
            consent("crm", Some("user:ben"), true),
            consent("crm", Some("user:eve"), false),
            consent("blog", Some("key:dgm_1"), true),
            consent("shop", None, true),
        ]);
        let texts: Vec<(&str, &str)> =
            advice.iter().map(|one| (one.title.raw(), one.href.as_str())).collect();
        assert_eq!(
            texts,
            [
                ("blog: consent is open", "/admin/logins?q=blog"),
                ("crm: consent is open", "/admin/logins?q=crm")
            ]
        );
        assert!(advice[0].text.raw().starts_with("Calls of ci-bot are"), "{}", advice[0].text.raw());
        assert!(advice[1].text.raw().starts_with("Calls of 2 callers are"));
    }

    #[test]
    fn a_server_that_is_ready_but_fails_is_to_do() {
        let row = |id: &str, state| ServerRow { id: id.into(), state, ..ServerRow::default() };
        let (ready, down) = (pages::model::ServerState::Ready, pages::model::ServerState::Unreachable);
        let servers = [row("bad", ready), row("good", ready), row("down", down), row("rare", ready)];
        let count = |server: &str| {
            let (calls, errors) = match server {
                "bad" | "down" => (12, 12),
                "rare" => (2, 2),
                _ => (100, 7),
            };
            let mut count = CallCount::default();
            (count.calls, count.errors, count.faults) = (calls, errors, errors);
            count
        };
        let advice = of_failing(&servers, Window::Hour, count);
        assert_eq!(advice.len(), 1);
        assert_eq!((advice[0].title.raw(), advice[0].severity), ("bad: calls fail", Severity::Bad));
        assert_eq!(advice[0].href, "/admin/calls?since=1h&server=bad&outcome=error");
        assert!(advice[0].text.raw().starts_with("12 of 12 calls failed in the last hour"));
        let failing = ServerRow { calls: 12, errors: 12, ..row("bad", ready) };
        assert!(rank(&failing) > rank(&ServerRow { calls: 900, errors: 100, ..row("good", ready) }));
    }

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
