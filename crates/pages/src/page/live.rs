//! The live traffic.

use super::call::capture;
use crate::model::{CaptureState, LiveEvent, LiveEventKind, LivePage, PageFrame, Severity};
use crate::part::{
    Glyph, Head, InputLine, Section, Tone, at_row, badge, caller, field, filter, page, select, shown, table,
    when,
};
use crate::route;
use maud::{Markup, html};

/// The live traffic.
pub fn live(frame: &PageFrame, data: &LivePage) -> Markup {
    let head = Head::of(
        Section::Live,
        "Live",
        "Calls, changes in servers' states, and changes by people, as they happen. This page keeps no events; recorded calls are under Calls.",
    );
    let pairs = [("q", data.q.raw()), ("kind", data.kind.map_or("", LiveEventKind::name))];
    let rows = html! {
        @for event in shown(&data.events) { (live_row(frame, event)) }
    };
    let columns = [("When", ""), ("Kind", ""), ("Who", ""), ("What", ""), ("Result", "")];
    page(
        frame,
        &head,
        &html! {
            (filters(data))
            @if let CaptureState::Until(_) = data.capture { (capture(frame, &data.capture)) }
            div id="list" {
                div data-stream=(route::with_query(route::LIVE_EVENTS, &pairs)) data-most="200" {
                    div.row.live-bar {
                        span.state role="status" data-stream-state { noscript { "Without scripts, reload the page to see new events." } }
                        button.button.plain type="button" data-pause hidden { (Glyph::Pause) span.words { "Pause" } }
                    }
                    (table("Events", &columns, &rows))
                    @if data.events.is_empty() { p.empty-line.quiet { "Nothing has happened yet. Call a tool from a client or in the playground, and it appears here." } }
                }
            }
        },
    )
}

/// One event as a row. The stream [`route::LIVE_EVENTS`] sends new ones.
pub fn live_row(frame: &PageFrame, event: &LiveEvent) -> Markup {
    html! {
        tr {
            td data-label="When" { (when(frame.now, event.at)) }
            td data-label="Kind" { (kind(event)) }
            td data-label="Who" { (caller(&event.who)) }
            td data-label="What" { @match &event.href { Some(href) => (at_row(href, &event.what.name())), None => (event.what.name()) } }
            td.reason data-label="Result" { (event.text) }
        }
    }
}

fn kind(event: &LiveEvent) -> Markup {
    let icon = match event.kind {
        LiveEventKind::Call => Glyph::Calls,
        LiveEventKind::Server => Glyph::Server,
        LiveEventKind::Change => Glyph::Edit,
    };
    let (tone, icon, word) = match event.severity {
        Severity::Good => (Tone::Good, icon, event.kind.name()),
        Severity::Note => (Tone::Quiet, icon, event.kind.name()),
        Severity::Warning => (Tone::Warn, Glyph::Warning, event.kind.name()),
        Severity::Bad => (Tone::Bad, Glyph::Bad, event.kind.name()),
    };
    badge(tone, icon, word)
}

fn filters(data: &LivePage) -> Markup {
    let mut kinds = vec![("", "Everything".to_owned())];
    kinds.extend(LiveEventKind::ALL.map(|kind| {
        let words = match kind {
            LiveEventKind::Call => "Calls",
            LiveEventKind::Server => "Servers",
            LiveEventKind::Change => "Changes by people",
        };
        (kind.name(), words.to_owned())
    }));
    filter(
        route::LIVE,
        "list",
        &html! {
            (field(InputLine { name: "q", label: "Contains", value: data.q.raw(), kind: "search", ..InputLine::default() }))
            (select("f", "kind", "Kind", data.kind.map_or("", LiveEventKind::name), &kinds))
        },
    )
}
