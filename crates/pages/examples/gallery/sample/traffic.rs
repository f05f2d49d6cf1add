//! Calls, sessions, and events.

use super::{NOW, Sample, ago};
use crate::sample::catalogue::server_row;
use dragoman_pages::model::{
    Advice, CallPage, CallRow, CallsFilter, CallsPage, CaptureState, ExchangeStep, LiveEvent, LiveEventKind,
    LivePage, MessageLane, Outcome, OverviewPage, RecordState, RefusedRequestRow, Severity, TrafficPoint,
    TrafficTotals, UsageRow, Window, WireMessage,
};
use dragoman_pages::route;

type Known = (&'static str, &'static str, &'static str, Outcome, Option<&'static str>);

const CALLS: [Known; 6] = [
    ("github__search_code", "github", "key:dgm_BgTMSuBe", Outcome::Ok, None),
    (
        "blog__wp_delete_post",
        "blog",
        "user:bob",
        Outcome::Denied,
        Some("rule 1: deny *delete*, unless user ann"),
    ),
    ("files__read_file", "files", "user:ann", Outcome::Ok, None),
    (
        "postgres__run_query",
        "postgres",
        "key:dgm_k3PqXz71",
        Outcome::Error,
        Some("the server is not available: password authentication failed for user \"reports\""),
    ),
    (
        "files__raed_file",
        "",
        "key:dgm_BgTMSuBe",
        Outcome::Unknown,
        Some("no such tool; did you mean files__read_file?"),
    ),
    ("linear__list_issues", "linear", "user:ann", Outcome::Ok, None),
];

/// A recorded call.
pub(crate) fn call_row(s: &Sample, number: usize) -> CallRow {
    let (tool, server, principal, outcome, reason) = CALLS[number % CALLS.len()];
    let duration_us = [184_200, 80, 2_340, 1_520_000, 95, 412_000][number % 6];
    let number = number as u64;
    CallRow {
        times: (number % 4 == 1).then_some(8),
        gateway: None,
        captured: number % 5 == 1,
        id: 184_233 - number.min(180_000),
        at: ago(4 + 19 * number),
        outcome,
        principal: s.caller(principal),
        profile: s.t("office"),
        server: (!server.is_empty()).then(|| s.t(server)),
        tool: s.t(tool),
        arguments: Some(s.t("{\"id\":42,\"title\":\"<b>A post</b>\"}")),
        method: s.t("tools/call"),
        code: (outcome != Outcome::Ok).then_some(-32_602 - i64::from(outcome == Outcome::Error)),
        duration_us,
        waited_us: if number % 6 == 3 { 1_200_000 } else { 140 },
        tries: u32::from(outcome == Outcome::Ok) + 3 * u32::from(outcome == Outcome::Error),
        request_bytes: 412 + 31 * number,
        response_bytes: 18_300,
        cached: number % 12 == 5,
        address: Some(s.t("203.0.113.9")),
        client: Some(s.t("cursor 1.7.4")),
        reason: reason.map(|reason| s.t(reason)),
        today: (number % 6 == 4)
            .then(|| s.t("today's rules would deny the call: rule 1 of `access` denies it")),
    }
}

/// The record of calls.
pub(crate) fn calls(s: &Sample) -> CallsPage {
    CallsPage {
        capture: if s.rows > 0 { CaptureState::Until(NOW + 300_000) } else { CaptureState::Off },
        is_shared: true,
        missing: 0,
        filter: CallsFilter { since: s.t("24h"), ..CallsFilter::default() },
        rows: s.rows(|number| {
            // A row of another gateway, as in the list of all gateways.
            let gateway = (number % 5 == 4).then(|| s.t("gw-2"));
            CallRow { gateway, ..call_row(s, number) }
        }),
        paging: s.paging(),
        servers: s.list(&["blog", "files", "github"]),
        profiles: s.list(&["default", "office"]),
        record: RecordState {
            on: s.rows > 0,
            arguments: true,
            keep: s.t("30d"),
            entries: Some(184_233),
            lost: 0,
        },
        fault: s.hostile.is_some().then(|| s.t("")),
    }
}

fn message(s: &Sample, after_us: u64, lane: MessageLane, title: &str, body: &str) -> WireMessage {
    let client = matches!(lane, MessageLane::FromClient | MessageLane::ToClient);
    WireMessage {
        after_us,
        lane,
        era: s.t(if client { "2026-07-28" } else { "2025-11-25" }),
        title: s.t(title),
        body: s.t(body),
        bytes: body.len() as u64,
        cut: false,
    }
}

/// The messages of a call between a stateless client and a server with a handshake.
pub(crate) fn messages(s: &Sample) -> Vec<WireMessage> {
    if s.rows == 0 {
        return Vec::new();
    }
    vec![
        message(
            s,
            0,
            MessageLane::FromClient,
            "tools/call",
            "{\n  \"jsonrpc\": \"2.0\",\n  \"id\": \"c-17\",\n  \"method\": \"tools/call\",\n  \"params\": {\n    \"name\": \"postgres__run_query\",\n    \"arguments\": { \"sql\": \"select 1\", \"password\": \"[redacted]\" }\n  }\n}",
        ),
        message(
            s,
            410,
            MessageLane::ToServer,
            "tools/call",
            "{\n  \"jsonrpc\": \"2.0\",\n  \"id\": 90112,\n  \"method\": \"tools/call\",\n  \"params\": {\n    \"name\": \"run_query\",\n    \"arguments\": { \"sql\": \"select 1\", \"password\": \"[redacted]\" }\n  }\n}",
        ),
        message(
            s,
            184_000,
            MessageLane::FromServer,
            "notifications/progress",
            "{\n  \"jsonrpc\": \"2.0\",\n  \"method\": \"notifications/progress\",\n  \"params\": { \"progressToken\": 90112, \"progress\": 1, \"total\": 3 }\n}",
        ),
        message(
            s,
            1_519_100,
            MessageLane::FromServer,
            "error -32603",
            "{\n  \"jsonrpc\": \"2.0\",\n  \"id\": 90112,\n  \"error\": { \"code\": -32603, \"message\": \"password authentication failed\" }\n}",
        ),
        message(
            s,
            1_520_000,
            MessageLane::ToClient,
            "error -32603",
            "{\n  \"jsonrpc\": \"2.0\",\n  \"id\": \"c-17\",\n  \"error\": { \"code\": -32603, \"message\": \"password authentication failed\" }\n}",
        ),
    ]
}

/// A failed call whose messages were captured.
pub(crate) fn call(s: &Sample) -> CallPage {
    let step = |after_us, text: &str| ExchangeStep { after_us: Some(after_us), text: s.t(text) };
    CallPage {
        row: call_row(s, 3),
        tool: Some((s.t("postgres"), s.t("run_query"))),
        arguments: (s.rows > 0)
            .then(|| s.t("{\n  \"sql\": \"select 1\",\n  \"password\": \"[redacted]\"\n}")),
        records_arguments: true,
        client_era: Some(s.t("2026-07-28")),
        server_era: Some(s.t("2025-11-25")),
        access: false,
        steps: if s.rows == 0 {
            Vec::new()
        } else {
            vec![
                step(0, "arrived at /mcp/office"),
                step(120, "access rules: allowed by default"),
                step(310, "waited for the server, which was backing off"),
                step(1_200_000, "sent over the shared connection"),
                step(1_519_100, "the server answered with an error"),
            ]
        },
        capture: CaptureState::Captured,
        messages: messages(s),
        older: Some(184_229),
        newer: Some(184_231),
    }
}

/// A denied call without captured messages.
pub(crate) fn plain_call(s: &Sample) -> CallPage {
    CallPage {
        row: call_row(s, 1),
        access: true,
        capture: if s.rows > 0 { CaptureState::Until(NOW + 300_000) } else { CaptureState::Off },
        ..CallPage::default()
    }
}

/// The entry of an operator's action, which concerns no profile and no server.
pub(crate) fn operators_call(s: &Sample) -> CallPage {
    let row = CallRow {
        profile: s.t(""),
        server: None,
        tool: s.t("login"),
        method: s.t("login"),
        ..call_row(s, 0)
    };
    CallPage { row, records_arguments: true, ..CallPage::default() }
}

/// The live traffic.
pub(crate) fn live(s: &Sample) -> LivePage {
    let kinds = [
        (LiveEventKind::Call, Severity::Good, "user:ann", "files__read_file", "ok in 12 ms, 18.3 kB"),
        (
            LiveEventKind::Server,
            Severity::Bad,
            "postgres",
            "backing_off",
            "the process exited 3 times in 10 s: code 1",
        ),
        (LiveEventKind::Call, Severity::Warning, "user:bob", "blog__wp_delete_post", "denied: rule 1"),
        (LiveEventKind::Change, Severity::Note, "user:ann", "server linear", "restarted"),
    ];
    LivePage {
        capture: CaptureState::Until(NOW + 300_000),
        events: s.rows(|number| {
            let (kind, severity, who, what, text) = kinds[number % kinds.len()];
            LiveEvent {
                id: 90_000 - number as u64,
                at: ago(number as u64 * 2),
                kind,
                severity,
                who: s.caller(who),
                what: s.t(what),
                text: s.t(text),
                href: (kind == LiveEventKind::Call).then(|| route::call(184_233)),
            }
        }),
        q: s.t(""),
        kind: None,
    }
}

/// The overview.
pub(crate) fn overview(s: &Sample) -> OverviewPage {
    let busy = s.rows > 0;
    let wave = |step: u64| 60 + step * 13 % 41 + if (20..38).contains(&step) { 55 } else { 0 };
    let points = |step: usize| {
        let step = step as u64;
        TrafficPoint {
            at: ago(3_600 - step * 60),
            ok: wave(step),
            errors: u64::from(step % 11 == 4) * 6,
            denied: u64::from(step % 17 == 9) * 3,
            p50_us: 9_000 + wave(step) * 60,
            p95_us: 120_000 + wave(step) * 1_700,
        }
    };
    OverviewPage {
        refused: 12 * s.rows as u64,
        refused_rows: s.few(4, |number| refused_row(s, number)),
        window: Window::Hour,
        started: ago(19 * 3_600),
        advice: if busy { advice(s) } else { Vec::new() },
        totals: if busy {
            TrafficTotals { calls: 5_214, errors: 48, denied: 12, p50_us: 14_200, p95_us: 284_000 }
        } else {
            TrafficTotals::default()
        },
        before: busy.then_some(TrafficTotals {
            calls: 4_704,
            errors: 12,
            denied: 9,
            p50_us: 13_900,
            p95_us: 241_000,
        }),
        counted_since: (s.rows > 100).then_some(ago(40 * 60)),
        points: if busy { (0..60).map(points).collect() } else { Vec::new() },
        servers: s.rows(|number| server_row(s, number)),
        top_tools: s.few(10, |number| UsageRow {
            name: s.t(CALLS[number % CALLS.len()].0),
            key: None,
            calls: 1_900 / (number as u64 + 1),
            failed: number as u64 * 3 % 7,
            p95_us: 84_000 * (number as u64 + 1),
        }),
        top_callers: s.few(10, |number| UsageRow {
            name: s.t(CALLS[number % CALLS.len()].2),
            key: s.caller(CALLS[number % CALLS.len()].2).key,
            calls: 2_400 / (number as u64 + 1),
            failed: number as u64 * 5 % 11,
            p95_us: 93_000,
        }),
        failures: s.few(8, |number| call_row(s, number * 2 + 1 - 2 * usize::from(number % 3 == 2))),
        running: s.rows as u64 / 4,
        waiting: s.rows as u64 / 12,
        questions: u64::from(s.rows > 0),
        sessions: s.rows as u64,
    }
}

fn refused_row(s: &Sample, number: usize) -> RefusedRequestRow {
    RefusedRequestRow {
        request: s.t("POST /mcp/office"),
        address: s.t("203.0.113.9"),
        agent: (number != 1).then(|| s.t("node")),
        principal: (number == 2).then(|| s.caller("user:bob")),
        status: [401, 403, 404, 401][number % 4],
        reason: s.t("authentication is required: send the Authorization header"),
        count: 3 + number as u64,
        at: ago(30 * number as u64),
    }
}

fn advice(s: &Sample) -> Vec<Advice> {
    let advice = |severity, title: &str, text: &str, href: String, action| Advice {
        severity,
        title: s.t(title),
        text: s.t(text),
        href,
        action,
    };
    vec![
        advice(
            Severity::Bad,
            "postgres does not start",
            "Password authentication failed for user \"reports\". Check PGPASSWORD in its env.",
            route::server("postgres"),
            "Look at the server",
        ),
        advice(
            Severity::Warning,
            "notion requires a login",
            "Its 31 tools are hidden until somebody logs in.",
            route::server("notion"),
            "Log in",
        ),
        advice(
            Severity::Warning,
            "github changed 4 tools",
            "They are hidden from clients until you approve them.",
            route::with_query(route::TOOLS, &[("show", "pending")]),
            "Review",
        ),
        advice(
            Severity::Note,
            "Profile default costs 109,804 tokens",
            "Models read them at every turn. Let clients search for tools instead.",
            route::profile("default"),
            "See the cost",
        ),
    ]
}
