//! The overview: the health of the gateway, what happened, and what to do.

use crate::model::{
    Advice, CallRow, Caller, Millis, OverviewPage, PageFrame, ServerRow, ServerState, TrafficTotals,
    UsageRow, Window,
};
use crate::part::{
    Empty, Glyph, Head, Section, at_row, caller, compact, count, counted, duration, empty, latency_chart,
    numbers, outcome_badge, page, per_second, percent, recorded, server_badge, severity_icon, severity_word,
    table, traffic_chart, when,
};
use crate::route;
use maud::{Markup, html};

/// The overview.
pub fn overview(frame: &PageFrame, data: &OverviewPage) -> Markup {
    let mut head = Head::of(Section::Overview, "Overview", "");
    head.lead = html! { "Started " (when(frame.now, data.started)) };
    head.actions = windows(data.window);
    page(
        frame,
        &head,
        &html! {
            @if data.servers.is_empty() { (first_steps()) } @else { (advice(data)) }
            (overview_now(data))
            section.traffic id="traffic" hx-get=(route::with_query(route::ROOT, &[("window", data.window.name())])) hx-trigger="refresh"
                hx-select="#traffic" hx-swap="outerHTML" data-refresh="10" {
                h2.vh { "Traffic of the last " (data.window.in_words()) }
                @if !frame.records_calls {
                    (empty(&Empty {
                        icon: Glyph::Calls,
                        title: "Calls are not recorded",
                        text: "Set audit: true in the configuration to see how many calls there are, who made them, how long they took, and why calls failed.",
                        link: Some((route::CONFIGURATION, "Open the configuration")),
                    }))
                } @else { (totals(data)) (counted_since(frame.now, data.counted_since)) }
                @if frame.records_calls && data.totals.calls > 0 {
                    div.charts { (traffic_chart(&data.points)) (latency_chart(&data.points)) }
                    (numbers(&data.points))
                }
            }
            @if !data.servers.is_empty() { (servers(frame, data)) }
            @if frame.records_calls { div.pair {
                (usage("Busiest tools", "Tool", &data.top_tools, |name| route::with_query(route::CALLS, &[("since", data.window.name()), ("tool", name)])))
                (usage("Busiest callers", "Caller", &data.top_callers, |name| route::with_query(route::CALLS, &[("since", data.window.name()), ("principal", name)])))
            }
            (failures(frame, data)) }
            (refused(frame, data))
        },
    )
}

/// The current numbers. The stream [`route::NOW_EVENTS`] sends them again when they change.
pub fn overview_now(data: &OverviewPage) -> Markup {
    let words = |number: u64, one: &str, many: &str| html! { strong { (count(number)) } " " (if number == 1 { one } else { many }) };
    html! {
        div.now id="now" data-stream=(route::NOW_EVENTS) {
            span.dot aria-hidden="true" {}
            span { "Now: " (words(data.running, "call running", "calls running")) ", " (words(data.waiting, "call waiting", "calls waiting")) ", "
                @if data.questions > 0 { (words(data.questions, "open question", "open questions")) ", " }
                a href=(route::SESSIONS) { (words(data.sessions, "session", "sessions")) } }
            span.quiet data-stream-state { noscript { "Without scripts, reload the page to see newer numbers." } }
        }
    }
}

fn windows(chosen: Window) -> Markup {
    html! {
        nav.segments aria-label="Period" {
            @for window in Window::ALL {
                a href=(route::with_query(route::ROOT, &[("window", window.name())])) aria-current=[(window == chosen).then_some("true")] { (window.name()) }
            }
        }
    }
}

fn first_steps() -> Markup {
    html! {
        section.steps aria-labelledby="first-steps" {
            h2 id="first-steps" { "Get started" }
            ol {
                li { strong { "Add a server. " } "Paste the " code { "mcpServers" } " block of another client, or a URL. " a href=(route::SERVERS) { "Add servers" } }
                li { strong { "Connect a client. " } "Copy the snippet for Claude, Cursor, VS Code and others; a self-test waits for the first request. " a href=(route::CONNECT) { "Connect a client" } }
                li { strong { "Try a tool. " } "Call a tool by hand, and read the messages of both sides. " a href=(route::PLAYGROUND) { "Open the playground" } }
            }
        }
    }
}

fn advice(data: &OverviewPage) -> Markup {
    html! {
        @if data.advice.is_empty() {
            div.notice.good { (Glyph::Good) div { p { strong { "Nothing to do. " } (all_well(&data.servers)) } } }
        } @else {
            section aria-labelledby="to-do" {
                h2 id="to-do" { "To do" }
                ul.advice { @for item in &data.advice { (advice_item(item)) } }
            }
        }
    }
}

fn advice_item(item: &Advice) -> Markup {
    let (word, class) = severity_word(item.severity);
    html! {
        li.(class) {
            (severity_icon(item.severity))
            div { p.title { span.vh { (word) ": " } (item.title) } p.quiet { (item.text) } }
            @if !item.href.is_empty() { a.button.plain href=(item.href) { (item.action) (Glyph::Go) } }
        }
    }
}

fn all_well(servers: &[ServerRow]) -> String {
    use ServerState::{PerCaller, Ready, Resting};
    let usable = servers.iter().filter(|row| matches!(row.state, Ready | Resting | PerCaller)).count();
    match (usable, servers.len()) {
        (1, 1) => "The server is ready or resting.".to_owned(),
        (_, 1) => "The server is not ready yet.".to_owned(),
        (usable, all) => format!("{usable} of {all} servers are ready or resting."),
    }
}

fn totals(data: &OverviewPage) -> Markup {
    let now = data.totals;
    let failed = now.errors;
    html! {
        dl.stats {
            (stat("Calls", &compact(now.calls), &change(data.before.map(|before| before.calls), now.calls)))
            (stat("Calls per second", &per_second(now.calls, data.window.millis()), &html! { "on average" }))
            (stat("Failed", &percent(failed, now.calls), &html! { (counted(failed, "call", "calls")) }))
            (stat("Refused", &percent(now.denied, now.calls), &html! { (counted(now.denied, "call", "calls")) }))
            (stat("Median", &duration_or_dash(now.p50_us), &slower(data.before, |totals| totals.p50_us)))
            (stat("95 % within", &duration_or_dash(now.p95_us), &slower(data.before, |totals| totals.p95_us)))
        }
    }
}

/// A remark about calls that are not counted, because there are too many.
pub(super) fn counted_since(now: Millis, at: Option<Millis>) -> Markup {
    html! {
        @if let Some(at) = at {
            div.quiet { "There are too many calls to count all. The numbers cover the calls since " (when(now, at)) "." }
        }
    }
}

/// A duration, or a dash if there were no calls.
fn duration_or_dash(us: u64) -> String {
    if us == 0 { "–".to_owned() } else { duration(us) }
}

fn stat(words: &str, value: &str, below: &Markup) -> Markup {
    html! { div { dt { (words) } dd.value { (value) } dd.below { (below) } } }
}

fn change(before: Option<u64>, now: u64) -> Markup {
    match before {
        // A percentage in the thousands tells the reader nothing.
        Some(before) if before > 0 && now / 10 > before => html! { (Glyph::Up) (compact(before)) " before" },
        Some(before) if before > 0 && now >= before => {
            html! { (Glyph::Up) (percent(now - before, before)) " more than before" }
        }
        Some(before) if before > 0 => {
            html! { (Glyph::Fall) (percent(before - now, before)) " fewer than before" }
        }
        _ => html! { "in this period" },
    }
}

fn slower(before: Option<TrafficTotals>, value: impl Fn(&TrafficTotals) -> u64) -> Markup {
    html! { @match before { Some(before) if before.calls > 0 => { (duration(value(&before))) " before" } _ => "in this period" } }
}

fn servers(frame: &PageFrame, data: &OverviewPage) -> Markup {
    let rows = html! {
        @for row in data.servers.iter().take(12) { tr {
            td data-label="Server" { (at_row(&route::server(row.id.raw()), &row.id.name())) }
            td data-label="State" { (server_badge(row.state)) }
            td.reason data-label="Reason" { @if let Some(reason) = &row.reason { (reason) } @else { span.quiet { "–" } } }
            td.n data-label="Calls, 24 h" { (recorded(frame, &count(row.calls))) }
            td.n data-label="Failed, 24 h" { (recorded(frame, &count(row.errors))) @if row.refused > 0 { div.sub { (count(row.refused)) " refused" } } }
            td data-label="State changed" { (when(frame.now, row.since)) }
        } }
    };
    html! {
        section aria-labelledby="servers" {
            h2 id="servers" { "Servers" }
            (table("Servers", &[("Server", ""), ("State", ""), ("Reason", ""), ("Calls, 24 h", "n"), ("Failed, 24 h", "n"), ("State changed", "")], &rows))
            p.more { a href=(route::SERVERS) { @if data.servers.len() == 1 { "The server" } @else { "All " (count(data.servers.len() as u64)) " servers" } } }
        }
    }
}

fn usage(title: &str, column: &str, list: &[UsageRow], href: impl Fn(&str) -> String) -> Markup {
    let id = column.to_lowercase();
    let rows = html! {
        @for row in list.iter().take(10) { tr {
            td data-label=(column) { (at_row(&href(row.name.raw()), &caller(&Caller { id: row.name.clone(), key: row.key.clone() }))) }
            td.n data-label="Calls" { (count(row.calls)) }
            td.n data-label="Failed or refused" { (percent(row.failed, row.calls)) }
            td.n data-label="p95" { (duration(row.p95_us)) }
        } }
    };
    html! {
        section aria-labelledby=(id) {
            h2 id=(id) { (title) }
            p.hint { "With refused calls, which may not have reached a server." }
            @if list.is_empty() { p.quiet { "No calls in this period." } }
            @else { (table(title, &[(column, ""), ("Calls", "n"), ("Failed or refused", "n"), ("p95", "n")], &rows)) }
        }
    }
}

fn failures(frame: &PageFrame, data: &OverviewPage) -> Markup {
    html! {
        section aria-labelledby="failures" {
            h2 id="failures" { "Latest failures" }
            @if data.failures.is_empty() { p.quiet { "No call has failed in this period." } }
            @else { (call_table(frame, "Latest failures", &data.failures)) }
        }
    }
}

fn refused(frame: &PageFrame, data: &OverviewPage) -> Markup {
    let rows = html! {
        @for row in &data.refused_rows { tr {
            td.wrap data-label="Request" { code { (row.request.name()) } }
            td.wrap data-label="From" { (row.address.name()) @if let Some(agent) = &row.agent { div.sub { (agent.name()) } } @if let Some(who) = &row.principal { div.sub { (caller(who)) } } }
            td.n data-label="Status" { (row.status) }
            td.reason data-label="Reason" { @if row.reason.is_empty() { span.quiet { "–" } } @else { (row.reason) } }
            td.n data-label="Times" { (count(row.count)) }
            td data-label="Latest" { (when(frame.now, row.at)) }
        } }
    };
    let columns =
        [("Request", ""), ("From", ""), ("Status", "n"), ("Reason", ""), ("Times", "n"), ("Latest", "")];
    html! {
        @if !data.refused_rows.is_empty() {
            section aria-labelledby="refused" {
                h2 id="refused" { "Requests turned away" }
                p.sum { (counted(data.refused, "request", "requests")) " since the start had wrong credentials, or asked for a profile or path that is not for the client. These are no calls, so they are not in the record." }
                (table("Requests turned away", &columns, &rows))
            }
        }
    }
}

/// Calls in few columns, as several pages show them.
pub(super) fn call_table(frame: &PageFrame, label: &str, calls: &[CallRow]) -> Markup {
    let rows = html! {
        @for row in calls { tr {
            td data-label="Outcome" { (outcome_badge(row.outcome)) @if let Some(times) = row.times { div.sub { (count(times)) " such calls" } } }
            td data-label="Tool" { (at_row(&route::call(row.id), &row.tool.name())) }
            td.wrap data-label="Caller" { (caller(&row.principal)) }
            td.reason data-label="Reason" { @if let Some(reason) = &row.reason { (reason) } @else if let Some(code) = row.code { "code " (code) } @else { span.quiet { "–" } } }
            td.n data-label="Duration" { (duration(row.duration_us)) }
            td data-label="When" { (when(frame.now, row.at)) }
        } }
    };
    table(
        label,
        &[("Outcome", ""), ("Tool", ""), ("Caller", ""), ("Reason", ""), ("Duration", "n"), ("When", "")],
        &rows,
    )
}
