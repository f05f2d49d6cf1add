//! The record of calls.

use super::call::capture;
use super::tools::options;
use crate::model::{CallRow, CallsFilter, CallsPage, CaptureState, Outcome, PageFrame, RecordState};
use crate::part::{
    Empty, Glyph, Head, InputLine, Section, at_row, bytes, caller, counted, duration, empty, faults, field,
    filter, outcome_badge, page, pager, select, shown, table, when,
};
use crate::route;
use maud::{Markup, html};

/// The value of the filter for the calls of all gateways.
const ALL: &str = "all";

/// The record of calls.
pub fn calls(frame: &PageFrame, data: &CallsPage) -> Markup {
    let mut head = Head::of(Section::Calls, "Calls", "");
    head.lead = record(&data.record);
    page(
        frame,
        &head,
        &html! {
            @if data.record.on || !data.rows.is_empty() {
                (filters(data))
                @if let CaptureState::Until(_) = data.capture { (capture(frame, &data.capture)) }
                @else if data.record.on { details.raw { summary { "Capture messages" } p.quiet { "A capture keeps the messages of the next calls in memory, redacted, and ends by itself. They are on the pages of these calls." } (capture(frame, &data.capture)) } }
                div id="list" { (list(frame, data, &pairs(&data.filter))) }
            } @else {
                (empty(&Empty {
                    icon: Glyph::Calls,
                    title: "Calls are not recorded",
                    text: "Set audit: true in the configuration. Dragoman then records who called what, how it ended and how long it took.",
                    link: Some((route::CONFIGURATION, "Open the configuration")),
                }))
            }
        },
    )
}

/// The filter as the query of an address.
fn pairs(filter: &CallsFilter) -> [(&str, &str); 12] {
    [
        ("q", filter.q.raw()),
        ("since", filter.since.raw()),
        ("until", filter.until.raw()),
        ("tool", filter.tool.raw()),
        ("principal", filter.principal.raw()),
        ("client", filter.client.raw()),
        ("profile", filter.profile.raw()),
        ("server", filter.server.raw()),
        ("outcome", filter.outcome.map_or("", Outcome::name)),
        ("entries", entries(filter.of_clients)),
        ("captured", if filter.captured { "yes" } else { "" }),
        ("gateways", if filter.of_all { ALL } else { "" }),
    ]
}

fn entries(of_clients: Option<bool>) -> &'static str {
    match of_clients {
        None => "",
        Some(true) => "calls",
        Some(false) => "changes",
    }
}

fn record(record: &RecordState) -> Markup {
    html! {
        @if record.on {
            "Who called what, and how it ended. "
            @if let Some(entries) = record.entries { (counted(entries, "entry", "entries")) ", kept for " } @else { "Entries are kept for " }
            (record.keep.name()) ". "
            @if record.arguments { "Arguments are recorded, redacted." } @else { "Arguments are not recorded." }
            @if record.lost > 0 { strong { " " (counted(record.lost, "entry was lost", "entries were lost")) ", because the file could not be written." } }
        } @else { "Who called what, and how it ended." }
    }
}

fn filters(data: &CallsPage) -> Markup {
    let chosen = &data.filter;
    let mut outcomes = vec![("", "Any outcome".to_owned())];
    outcomes.extend(Outcome::ALL.map(|outcome| (outcome.name(), outcome.name().to_owned())));
    html! {
        (filter(route::CALLS, "list", &html! {
            (field(InputLine { name: "q", label: "Tool or arguments", value: chosen.q.raw(), example: "invoice", kind: "search", ..InputLine::default() }))
            (field(InputLine { name: "tool", label: "Tool", value: chosen.tool.raw(), example: "*delete*", kind: "search", ..InputLine::default() }))
            (field(InputLine { name: "principal", label: "Caller", value: chosen.principal.raw(), example: "ci-bot or key:dgm_*", kind: "search", ..InputLine::default() }))
            (field(InputLine { name: "client", label: "Client", value: chosen.client.raw(), example: "cursor", kind: "search", ..InputLine::default() }))
            (select("f", "outcome", "Outcome", chosen.outcome.map_or("", Outcome::name), &outcomes))
            (select("f", "server", "Server", chosen.server.raw(), &options("All servers", &data.servers)))
            (select("f", "profile", "Profile", chosen.profile.raw(), &options("All profiles", &data.profiles)))
            (select("f", "entries", "Entries", entries(chosen.of_clients), &[("", "Calls and changes".to_owned()), ("calls", "Calls only".to_owned()), ("changes", "Changes by people".to_owned())]))
            (select("f", "captured", "Messages", if chosen.captured { "yes" } else { "" }, &[("", "All calls".to_owned()), ("yes", "Captured".to_owned())]))
            @if data.is_shared || chosen.of_all {
                (select("f", "gateways", "Gateways", if chosen.of_all { ALL } else { "" }, &[("", "This gateway".to_owned()), (ALL, "All gateways".to_owned())]))
            }
            (field(InputLine { name: "since", label: "Since", value: chosen.since.raw(), example: "1h or today", ..InputLine::default() }))
            (field(InputLine { name: "until", label: "Until", value: chosen.until.raw(), example: "now", ..InputLine::default() }))
        }))
        p.hint { "In patterns, " code { "*" } " stands for any characters and " code { "?" } " for one." }
    }
}

fn list(frame: &PageFrame, data: &CallsPage, pairs: &[(&str, &str)]) -> Markup {
    let rows = html! { @for row in shown(&data.rows) { (call_row(frame, row)) } };
    let columns = [
        ("Outcome", ""),
        ("Tool or change", ""),
        ("Caller", ""),
        ("Client", ""),
        ("Server", ""),
        ("Duration", "n"),
        ("In / out", "n"),
        ("When", ""),
    ];
    html! {
        (faults(data.fault.as_slice()))
        @if data.missing > 0 { p.hint { (counted(data.missing, "call is missing", "calls are missing")) ", because the store of the cluster could not be used." } }
        @if data.rows.is_empty() {
            @if data.filter.captured { p.hint { "Messages are captured only while a capture runs, which you can begin above. They are kept in memory, up to a limit." } }
            (empty(&Empty { icon: Glyph::Search, title: "No matching calls", text: "Choose a longer period, or clear the filter.", link: Some((route::CALLS, "All calls")) }))
        } @else {
            (table("Calls", &columns, &rows))
            (pager(route::CALLS, pairs, &data.paging, shown(&data.rows).len()))
            // The link is a part of the list, so that a new filter changes it, too.
            @if data.record.on && !data.filter.of_all { p.more { a href=(route::with_query(route::CALLS_CSV, pairs)) download="calls.csv" { (Glyph::Download) "These calls as CSV" } } }
        }
    }
}

fn call_row(frame: &PageFrame, row: &CallRow) -> Markup {
    html! {
        tr {
            td data-label="Outcome" { (outcome_badge(row.outcome)) @if let Some(code) = row.code { div.sub { "code " (code) } } @if row.captured { div.sub { "captured" } } }
            td data-label="Tool or change" {
                @if let Some(gateway) = &row.gateway {
                    (row.tool.name()) div.sub { "at " (gateway.name()) }
                } @else { (at_row(&route::call(row.id), &row.tool.name())) }
                @if let Some(arguments) = &row.arguments { div.sub.clamp { code { (arguments) } } }
                @if let Some(reason) = &row.reason { div.sub.clamp { (reason) } }
                @if let Some(today) = &row.today { div.sub.clamp { (today) } }
            }
            td.wrap data-label="Caller" { a href=(route::with_query(route::CALLS, &[("principal", row.principal.id.raw())])) { (caller(&row.principal)) } @if let Some(address) = &row.address { div.sub { (address.name()) } } }
            td.wrap data-label="Client" { @if let Some(client) = &row.client { span.clamp { (client.name()) } } @else { span.quiet { "–" } } div.sub { (row.profile.name()) } }
            td.wrap data-label="Server" { @if let Some(server) = &row.server { (server.name()) } @else { span.quiet { "–" } } }
            td.n data-label="Duration" {
                (duration(row.duration_us))
                @if row.waited_us >= 10_000 { div.sub { "waited " (duration(row.waited_us)) } }
                @if row.cached { div.sub { "kept result" } } @else if row.tries > 1 { div.sub { (row.tries) " tries" } }
            }
            td.n.minor data-label="In / out" { (bytes(row.request_bytes)) div.sub { (bytes(row.response_bytes)) } }
            td data-label="When" { (when(frame.now, row.at)) }
        }
    }
}
