//! One call, from the client's request to the answer that the client gets.

use crate::model::{CallPage, CallRow, CaptureState, ForeignText, PageFrame};
use crate::part::{
    Button, Glyph, Head, Section, button, bytes, caller, code, count, duration, facts, messages,
    outcome_badge, page, when,
};
use crate::route;
use maud::{Markup, html};

/// One call.
pub fn call(frame: &PageFrame, data: &CallPage) -> Markup {
    let row = &data.row;
    let head = Head {
        section: Section::Calls,
        title: format!("Call {} · Calls", row.id),
        heading: html! { "Call of " (row.tool.name()) },
        lead: html! { (outcome_badge(row.outcome)) " " (when(frame.now, row.at)) " · " (duration(row.duration_us)) " · by " (caller(&row.principal)) },
        actions: html! {
            @if let Some(older) = data.older { a.button.plain rel="prev" href=(route::call(older)) { (Glyph::Previous) "Older" } }
            @if let Some(newer) = data.newer { a.button.plain rel="next" href=(route::call(newer)) { "Newer" (Glyph::Next) } }
        },
        above: Some((route::CALLS, "Calls")),
    };
    page(
        frame,
        &head,
        &html! {
            (reason(data))
            section aria-labelledby="facts" { h2 id="facts" { "At a glance" } (glance(data)) }
            section aria-labelledby="arguments" {
                h2 id="arguments" { "Arguments" }
                @match &data.arguments {
                    Some(arguments) => (code("Arguments", arguments)),
                    None if data.records_arguments => p.quiet { "The record has no arguments of this entry." },
                    None => p.quiet { "Arguments are not recorded. To record them, redacted, set " code { "audit: { arguments: true }" } "." },
                }
            }
            @if !data.steps.is_empty() {
                section aria-labelledby="steps" {
                    h2 id="steps" { "What happened" }
                    ol.steps-list { @for step in &data.steps { li { span.n { @match step.after_us { Some(after) => { "+" (duration(after)) } None => "–" } } span { (step.text) } } } }
                }
            }
            section aria-labelledby="messages" { h2 id="messages" { "Messages" } (captured(frame, data)) }
        },
    )
}

fn reason(data: &CallPage) -> Markup {
    let row = &data.row;
    html! {
        @if row.reason.is_some() || row.today.is_some() {
            div.notice.bad {
                (Glyph::Bad)
                div {
                    @if let Some(reason) = &row.reason { p { strong { "Reason: " } (reason) } }
                    @if let Some(today) = &row.today { p { strong { "Today: " } (today) } }
                    @if data.access {
                        p { a href=(access_check(row)) { "Check the access of this caller" } }
                    }
                }
            }
        }
    }
}

fn access_check(row: &CallRow) -> String {
    let address = row.address.as_ref().map_or("", ForeignText::raw);
    route::with_query(
        route::ACCESS,
        &[
            ("caller", row.principal.raw()),
            ("address", address),
            ("profile", row.profile.raw()),
            ("tool", if row.tool == row.method { "" } else { row.tool.raw() }),
        ],
    )
}

fn glance(data: &CallPage) -> Markup {
    let row = &data.row;
    let or_dash = |text: &Option<ForeignText>| html! { @match text { Some(text) => (text.name()), None => span.quiet { "–" } } };
    facts(&[
        (
            "Caller",
            html! { (caller(&row.principal)) " · " a href=(route::with_query(route::CALLS, &[("principal", row.principal.id.raw())])) { "calls of this caller" } },
        ),
        (
            "Tool",
            html! { @match &data.tool { Some((server, own)) => a href=(route::tool(server.raw(), own.raw())) { (row.tool.name()) }, None if row.tool == row.method => span.quiet { "–" }, None => (row.tool.name()) } },
        ),
        (
            "Client",
            html! { (or_dash(&row.client)) @if let Some(address) = &row.address { " from " (address.name()) } },
        ),
        (
            "Profile",
            html! { @if row.profile.is_empty() { span.quiet { "–" } } @else { a href=(route::profile(row.profile.raw())) { (row.profile.name()) } } },
        ),
        (
            "Server",
            html! { @match &row.server { Some(server) => a href=(route::server(server.raw())) { (server.name()) }, None => span.quiet { "none was asked" } } },
        ),
        ("Method", html! { code { (row.method.name()) } }),
        ("Code", html! { @match row.code { Some(code) => code { (code) }, None => span.quiet { "–" } } }),
        (
            "Versions",
            html! {
                @if data.client_era.is_none() && data.server_era.is_none() { span.quiet { "not recorded; captured messages show them" } }
                @else { "client " (or_dash(&data.client_era)) ", server " (or_dash(&data.server_era)) }
            },
        ),
        ("Waited", html! { (duration(row.waited_us)) " of " (duration(row.duration_us)) }),
        (
            "Attempts",
            html! { @if row.cached { "none: a kept result was returned" } @else { (count(u64::from(row.tries))) } },
        ),
        ("Size", html! { (bytes(row.request_bytes)) " in, " (bytes(row.response_bytes)) " out" }),
    ])
}

/// The state of the capture, with a button to end it, or buttons to begin it.
pub(super) fn capture(frame: &PageFrame, state: &CaptureState) -> Markup {
    let start = |minutes: &'static str, words| {
        button(frame, route::CAPTURE, Button::Plain, Glyph::Run, words, &[("minutes", minutes)])
    };
    html! {
        @if let CaptureState::Until(end) = *state {
            div.row {
                span.quiet { "Messages of new calls are being captured. The capture ends" } (when(frame.now, end))
                (button(frame, route::CAPTURE, Button::Plain, Glyph::Stop, "End the capture", &[("minutes", "0")]))
            }
        } @else {
            div.row { (start("10", "Capture for 10 minutes")) (start("60", "Capture for an hour")) }
        }
    }
}

fn captured(frame: &PageFrame, data: &CallPage) -> Markup {
    html! {
        @match data.capture {
            CaptureState::Captured if data.messages.is_empty() => p.quiet { "No message was captured." },
            CaptureState::Captured => {
                p.quiet { "Values under the names in " code { "audit.redact" } " are removed." }
                (messages(&data.messages))
            },
            CaptureState::Dropped => p.quiet { "The messages of this call were dropped to make room for newer ones." },
            CaptureState::Off => {
                p.quiet { "Messages were not captured. Capture keeps the messages of the next calls in memory, redacted, and ends by itself." }
                (capture(frame, &data.capture))
            },
            CaptureState::Until(_) => (capture(frame, &data.capture)),
        }
    }
}
