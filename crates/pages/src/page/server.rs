//! One server: its state with the reason, its processes, its changed definitions, its configuration.

use super::overview::call_table;
use super::{definitions, server_config};
use crate::model::{ForeignText, PageFrame, ServerLogin, ServerPage, ServerRow, ServerState};
use crate::part::{
    Button, Glyph, Head, Section, Tone, badge, button, bytes, count, counted, defined_in, duration, facts,
    jump, left_out, not_recorded, page, percent, recorded, server_badge, shown, table, until, when,
};
use crate::route::{self, ServerAction};
use maud::{Markup, html};

/// One server.
pub fn server(frame: &PageFrame, data: &ServerPage) -> Markup {
    let row = &data.row;
    let head = Head {
        section: Section::Servers,
        title: format!("{} · Servers", row.id.label()),
        heading: row.id.name(),
        lead: html! { (server_badge(row.state)) " changed " (when(frame.now, row.since)) @if !row.description.is_empty() { " · " (row.description) } },
        actions: actions(frame, row),
        above: Some((route::SERVERS, "Servers")),
    };
    page(
        frame,
        &head,
        &html! {
            (state(frame, data))
            (definitions::changes(frame, data))
            (jump(&contents(data)))
            section aria-labelledby="facts" { h2 id="facts" { "At a glance" } (glance(frame, data)) }
            @if !data.refusals.is_empty() {
                section aria-labelledby="refusals" {
                    h2 id="refusals" { "Clients that refuse tools of this server" }
                    ul.bullets { @for refusal in &data.refusals { li { (Glyph::Warning) (refusal) } } }
                    p.hint { "Set " code { "tools.schemas" } " of the profile to the family of the client, and Dragoman sends schemas in a form that the client accepts." }
                }
            }
            (processes(frame, data))
            (stderr(frame, data))
            section aria-labelledby="history" { h2 id="history" { "State history" } (history(frame, data)) }
            (definitions::tool_events(frame, data))
            section aria-labelledby="failures" {
                h2 id="failures" { "Latest failures" }
                @if !frame.records_calls { (not_recorded()) } @else if data.failures.is_empty() { p.quiet { "No recorded call to this server has failed." } } @else { (call_table(frame, "Latest failures", &data.failures)) }
                p.more { a href=(route::with_query(route::CALLS, &[("server", row.id.raw())])) { "All calls to this server" } }
            }
            (server_config::configuration(frame, data))
        },
    )
}

/// The sections of the page, for the links at its top.
fn contents(data: &ServerPage) -> Vec<(&'static str, &'static str)> {
    let mut contents = vec![("#facts", "At a glance")];
    if !data.processes.is_empty() {
        contents.push(("#processes", "Processes"));
    }
    if has_stderr(data) {
        contents.push(("#stderr", "Output on stderr"));
    }
    contents.extend([
        ("#history", "State history"),
        ("#tool-history", "Changes of tools"),
        ("#failures", "Latest failures"),
        ("#configuration", "Configuration"),
    ]);
    contents
}

fn has_stderr(data: &ServerPage) -> bool {
    data.row.transport.raw() == "stdio" || !data.stderr.is_empty()
}

fn actions(frame: &PageFrame, row: &ServerRow) -> Markup {
    let action = |action| route::server_action(row.id.raw(), action);
    html! {
        a.button.plain href=(route::with_query(route::TOOLS, &[("server", row.id.raw())])) { (Glyph::Tool) "Tools" }
        @if row.state != ServerState::Disabled {
            (button(frame, &action(ServerAction::Refresh), Button::Plain, Glyph::Download, "Fetch lists", &[]))
            (button(frame, &action(ServerAction::Restart), Button::Plain, Glyph::Refresh, "Restart", &[]))
        } @else if frame.manages { (button(frame, &action(ServerAction::Enable), Button::Main, Glyph::Run, "Enable", &[])) }
    }
}

fn state(frame: &PageFrame, data: &ServerPage) -> Markup {
    let row = &data.row;
    let (class, icon) = match row.state {
        ServerState::Ready | ServerState::Resting | ServerState::PerCaller => ("note", Glyph::Note),
        ServerState::BackingOff | ServerState::Unreachable => ("bad", Glyph::Bad),
        _ => ("warn", Glyph::Warning),
    };
    html! {
        @if row.reason.is_some() || row.advice.is_some() {
            div.notice.(class) {
                (icon)
                div {
                    @if let Some(reason) = &row.reason { p { strong { "Reason: " } (reason) } }
                    @if let Some(advice) = &row.advice { p { (advice) } }
                    @if let Some(next) = row.next_try { div.quiet { "Next attempt " (when(frame.now, next)) } }
                }
            }
        }
        @if let Some(login) = &data.login { (self::login(frame, row, login)) }
    }
}

fn login(frame: &PageFrame, row: &ServerRow, login: &ServerLogin) -> Markup {
    let action = route::server_action(row.id.raw(), ServerAction::Login);
    html! {
        section.panel aria-labelledby="login" {
            h2 id="login" { "Login at this server" }
            div.lead {
                @if login.valid { (badge(Tone::Good, Glyph::Good, "logged in")) } @else { (badge(Tone::Warn, Glyph::Lock, "not logged in")) }
                " at " (login.issuer.name()) ", " (counted(login.callers, "caller", "callers")) " gave consent"
                @if login.expires.is_some() { ", the token ends " (until(frame.now, login.expires, "")) }
            }
            div.row {
                @if login.can_start { (button(frame, &action, if login.valid { Button::Plain } else { Button::Main }, Glyph::Login, "Log in", &[])) }
                a.button.plain href=(route::with_query(route::LOGINS, &[("q", row.id.raw())])) { "All consents" (Glyph::Go) }
            }
        }
    }
}

fn glance(frame: &PageFrame, data: &ServerPage) -> Markup {
    let row = &data.row;
    let dash = || html! { span.quiet { "–" } };
    facts(&[
        ("Reached by", html! { code { (data.destination) } }),
        ("Transport", row.transport.name()),
        ("Protocol version", row.era.as_ref().map_or_else(dash, ForeignText::name)),
        (
            "Offers",
            html! { (counted(row.tools, "tool", "tools")) ", " (counted(data.prompts, "prompt", "prompts")) ", " (counted(data.resources, "resource", "resources")) },
        ),
        (
            "Tools cost",
            html! { (counted(row.tokens, "token", "tokens")) span.quiet { " with the server's own names; profiles add prefixes" } },
        ),
        ("Lists are", data.freshness.line()),
        (
            "Calls, 24 h",
            html! {
                @if frame.records_calls { (count(row.calls)) ", " (percent(row.errors, row.calls)) " failed, " @if row.refused > 0 { (count(row.refused)) " refused or cancelled, " } "95 % within " @if row.calls == 0 { "–" } @else { (duration(row.p95_us)) } }
                @else { (recorded(frame, "")) }
            },
        ),
        (
            "Connections",
            html! { (count(data.connections.shared)) " shared, " (count(data.connections.dedicated)) " dedicated" },
        ),
        (
            "Calls now",
            html! { (count(data.connections.running)) " running, " (count(data.connections.waiting)) " waiting" },
        ),
        (
            "Connections moved",
            html! { (counted(data.connections.moves, "time", "times")) " to another client" },
        ),
        ("Next attempt", until(frame.now, row.next_try, "not planned")),
        ("Defined in", defined_in(row.origin)),
        ("Changed definitions", html! { "policy " code { (data.policy.name()) } }),
    ])
}

fn processes(frame: &PageFrame, data: &ServerPage) -> Markup {
    let rows = html! {
        @for process in shown(&data.processes) { tr {
            td data-label="Process" { code { (process.pid) } }
            td data-label="Used by" { (process.role.name()) }
            td.n data-label="Memory" { (bytes(process.memory)) }
            td.n data-label="Descendants" { (count(process.children)) }
            td data-label="Started" { (when(frame.now, process.started)) }
        } }
    };
    html! {
        @if !data.processes.is_empty() {
            section aria-labelledby="processes" {
                h2 id="processes" { "Processes" }
                (table("Processes", &[("Process", ""), ("Used by", ""), ("Memory", "n"), ("Descendants", "n"), ("Started", "")], &rows))
                (left_out(&data.processes))
            }
        }
    }
}

fn stderr(frame: &PageFrame, data: &ServerPage) -> Markup {
    html! {
        @if has_stderr(data) {
            section aria-labelledby="stderr" {
                h2 id="stderr" { "Output on stderr" }
                @if data.stderr.is_empty() { p.quiet { "The process has written nothing to stderr." } } @else {
                    div.log role="group" tabindex="0" aria-label="Output on stderr" {
                        @for line in shown(&data.stderr) { div {
                            @if let Some(at) = line.at { (when(frame.now, at)) }
                            code { (line.text) }
                        } }
                    }
                    (left_out(&data.stderr))
                }
            }
        }
    }
}

fn history(frame: &PageFrame, data: &ServerPage) -> Markup {
    html! {
        @if data.history.is_empty() { p.quiet { "The state has not changed since the start." } }
        ol.history {
            @for change in shown(&data.history) { li {
                (server_badge(change.state))
                (when(frame.now, change.at))
                @if let Some(reason) = &change.reason { span.reason { (reason) } }
            } }
        }
        (left_out(&data.history))
    }
}
