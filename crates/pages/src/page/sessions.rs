//! Sessions, streams, and the calls that wait.

use crate::model::{CallNowRow, CallNowStage, PageFrame, ParkedRow, QueueRow, SessionRow, SessionsPage};
use crate::part::{
    Button, Empty, Glyph, Head, InputLine, Section, Tone, at_row, badge, button, caller, count, counted,
    empty, field, filter, left_out, meter, page, pager, shown, table, until, when,
};
use crate::route;
use maud::{Markup, html};

/// Sessions and streams.
pub fn sessions(frame: &PageFrame, data: &SessionsPage) -> Markup {
    let head = Head::of(
        Section::Sessions,
        "Sessions and streams",
        "Connected clients, and everything that runs or waits right now.",
    );
    let running: u64 = data.queues.iter().map(|row| row.running).sum();
    let waiting: u64 = data.queues.iter().map(|row| row.waiting).sum();
    let open = data.paging.total.unwrap_or(data.sessions.len() as u64);
    page(
        frame,
        &head,
        &html! {
            dl.stats {
                div { dt { "Sessions" } dd.value { (count(open)) } dd.below { "of at most " (count(data.limit)) " " (meter(open, data.limit)) } }
                div { dt { "Event streams" } dd.value { (count(data.streams.len() as u64)) } dd.below { "open now" } }
                div { dt { "Running calls" } dd.value { (count(running)) } dd.below { "at all servers" } }
                div { dt { "Waiting calls" } dd.value { (count(waiting)) } dd.below { "for their turn or a connection" } }
                div { dt { "Open questions" } dd.value { (count(data.parked.len() as u64)) } dd.below { "that clients have not answered" } }
            }
            @if !data.calls.is_empty() { section aria-labelledby="calls" { h2 id="calls" { "Calls in progress" } (calls(frame, &data.calls)) } }
            section aria-labelledby="queues" { h2 id="queues" { "Running and waiting, by server" } (queues(&data.queues)) }
            @if !data.parked.is_empty() { section aria-labelledby="parked" { h2 id="parked" { "Open questions" } (parked(frame, &data.parked)) } }
            section aria-labelledby="sessions" { h2 id="sessions" { "Sessions" } (list(frame, data)) }
            section aria-labelledby="streams" { h2 id="streams" { "Open event streams" } (streams(frame, data)) }
        },
    )
}

fn queues(queues: &[QueueRow]) -> Markup {
    let rows = html! {
        @for row in shown(queues) { tr {
            td data-label="Server" { (at_row(&route::server(row.server.raw()), &row.server.name())) }
            td.n data-label="Running" { (count(row.running)) @match row.limit { Some(limit) => { " of " (count(limit)) } None => "" } }
            td.n data-label="Waiting" {
                (count(row.waiting))
                @if let Some((all, own)) = row.queue { " of " (count(all)) div.sub { "at most " (count(own)) " of one caller" } }
            }
            td.reason data-label="Reason" { @if let Some(reason) = &row.reason { (reason) } @else { span.quiet { "–" } } }
        } }
    };
    html! {
        @if queues.is_empty() { p.quiet { "No call is running, and none is waiting." } }
        @else { (table("Running and waiting calls", &[("Server", ""), ("Running", "n"), ("Waiting", "n"), ("Reason", "")], &rows)) (left_out(queues)) }
    }
}

fn calls(frame: &PageFrame, calls: &[CallNowRow]) -> Markup {
    let rows = html! {
        @for row in shown(calls) { tr {
            td.wrap data-label="Call" { (row.target.name()) div.sub { (row.server.name()) } }
            td.wrap data-label="Caller" { (caller(&row.principal)) @if let Some(client) = &row.client { div.sub { (client.name()) } } }
            td data-label="Began" { (when(frame.now, row.since)) }
            td data-label="State" {
                @match row.stage {
                    CallNowStage::Runs => (badge(Tone::Good, Glyph::Go, "runs")),
                    CallNowStage::Waits => (badge(Tone::Accent, Glyph::Waiting, "waits for its turn")),
                    CallNowStage::Asks => (badge(Tone::Warn, Glyph::Waiting, "waits for its client")),
                }
            }
        } }
    };
    html! {
        (table("Calls in progress", &[("Call", ""), ("Caller", ""), ("Began", ""), ("State", "")], &rows))
        (left_out(calls))
    }
}

fn parked(frame: &PageFrame, parked: &[ParkedRow]) -> Markup {
    let rows = html! {
        @for row in shown(parked) { tr {
            td.text data-label="Question" { @for (method, text) in &row.questions {
                div { @if text.is_empty() { span.quiet { "no text" } } @else { (text) } }
                div.sub { code { (method.name()) } }
            } }
            td.wrap data-label="Call" { @if let Some((tool, server)) = &row.call { (tool.name()) div.sub { (server.name()) } } @else { span.quiet { "–" } } }
            td.wrap data-label="Caller" { (caller(&row.principal)) @if let Some(client) = &row.client { div.sub { (client.name()) } } }
            td data-label="Asked" { (when(frame.now, row.since)) }
            td data-label="Given up" { (until(frame.now, row.until, "–")) }
        } }
    };
    html! {
        (table("Open questions", &[("Question", ""), ("Call", ""), ("Caller", ""), ("Asked", ""), ("Given up", "")], &rows))
        (left_out(parked))
    }
}

fn list(frame: &PageFrame, data: &SessionsPage) -> Markup {
    let rows = html! { @for row in shown(&data.sessions) { (session_row(frame, row)) } };
    let columns = [
        ("Client", ""),
        ("Caller", ""),
        ("Profile", ""),
        ("Version", ""),
        ("Open", ""),
        ("Opened", ""),
        ("Last used", ""),
        ("", "acts"),
    ];
    html! {
        (filter(route::SESSIONS, "list", &html! {
            (field(InputLine { name: "q", label: "Caller, client, profile or address", value: data.q.raw(), kind: "search", ..InputLine::default() }))
        }))
        div id="list" {
            @if data.sessions.is_empty() {
                (empty(&Empty {
                    icon: Glyph::Session,
                    title: if data.q.is_empty() { "No sessions" } else { "No session matches" },
                    text: "Most clients open a session when they connect. Stateless clients need none; their streams are below.",
                    link: Some((route::CONNECT, "Connect a client")),
                }))
            } @else {
                (table("Sessions", &columns, &rows))
                (pager(route::SESSIONS, &[("q", data.q.raw())], &data.paging, shown(&data.sessions).len()))
            }
        }
    }
}

fn session_row(frame: &PageFrame, row: &SessionRow) -> Markup {
    html! {
        tr {
            td.wrap data-label="Client" {
                (row.client.name())
                @if !row.capabilities.is_empty() { div.sub { "can be asked: " @for (at, item) in row.capabilities.iter().enumerate() { @if at > 0 { ", " } (item.name()) } } }
            }
            td.wrap data-label="Caller" { (caller(&row.principal)) @if let Some(address) = &row.address { div.sub { (address.name()) } } }
            td data-label="Profile" { a href=(route::profile(row.profile.raw())) { (row.profile.name()) } }
            td.nb data-label="Version" { (row.era.name()) div.sub { (row.transport.name()) } }
            td.nb data-label="Open" {
                (counted(row.calls, "call", "calls")) ", " (counted(row.streams, "stream", "streams"))
                @if row.questions > 0 { div.sub { (counted(row.questions, "open question", "open questions")) } }
            }
            td data-label="Opened" { (when(frame.now, row.opened)) }
            td data-label="Last used" { (when(frame.now, row.used)) }
            td.acts data-label="Actions" { (button(frame, route::SESSIONS_END, Button::Danger, Glyph::Close, "End", &[("session", &row.id)])) }
        }
    }
}

fn streams(frame: &PageFrame, data: &SessionsPage) -> Markup {
    let rows = html! {
        @for row in shown(&data.streams) { tr {
            td.wrap data-label="Client" { (row.client.name()) }
            td.wrap data-label="Caller" { (caller(&row.principal)) }
            td data-label="Purpose" { code { (row.purpose.name()) } }
            td data-label="Opened" { (when(frame.now, row.opened)) }
        } }
    };
    html! {
        @if data.streams.is_empty() { p.quiet { "No client listens on an event stream." } }
        @else { (table("Streams", &[("Client", ""), ("Caller", ""), ("Purpose", ""), ("Opened", "")], &rows)) (left_out(&data.streams)) }
    }
}
