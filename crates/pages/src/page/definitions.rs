//! Definitions of tools that await approval. A page offers to approve only changes that it shows completely. This module must
//! not know what a definition contains.

use crate::model::{DefinitionChange, DefinitionState, PageFrame, ServerPage};
use crate::part::{
    Button, Glyph, counted, definition_badge, diff, diff_fits, left_out, post, shown, submit, when,
};
use crate::route::{self, ServerAction};
use maud::{Markup, html};

/// The maximum size of all differences on the page of a server, in bytes.
const MOST_TEXT: usize = 256 * 1024;

/// Returns true if the page of a tool shows the whole change, and the change can therefore be approved there.
pub(super) fn is_readable(change: &DefinitionChange) -> bool {
    let is_shown = change.state == DefinitionState::Vanished || !change.lines.is_empty();
    is_shown && !change.cut && diff_fits(&change.lines)
}

/// The definitions of a server that await approval.
pub(super) fn changes(frame: &PageFrame, data: &ServerPage) -> Markup {
    let offers = offers(&data.changes);
    let all = offers.len() == data.changes.len() && !offers.contains(&false);
    let number = data.changes.len() as u64;
    let is_gone = |change: &&DefinitionChange| change.state == DefinitionState::Vanished;
    let gone = data.changes.iter().filter(is_gone).count() as u64;
    html! {
        @if !data.changes.is_empty() {
            section.panel id="definitions" aria-labelledby="definitions-title" {
                h2 id="definitions-title" { "Changed definitions" }
                p.quiet {
                    @if number > gone {
                        "The server lists " (counted(number - gone, "tool that differs from the approved one", "tools that differ from the approved ones")) ". "
                        @if data.policy.raw() == "hold" { "Clients do not see them until you approve them. " } @else { "Clients see them already; approve them to keep them as the new standard. " }
                    }
                    @if gone > 0 {
                        "The server no longer lists " (counted(gone, "approved tool", "approved tools")) ", so clients do not see " (if gone == 1 { "it" } else { "them" }) ". Approve this to forget the approved definition; if you do not, the same definition needs no new approval when it returns."
                    }
                }
                (post(frame, &route::server_action(data.row.id.raw(), ServerAction::Approve), "stack", &html! {
                    input type="hidden" name="revision" value=(data.revision);
                    @for (number, (change, offer)) in data.changes.iter().zip(&offers).enumerate() { (self::change((frame, data), change, number, *offer)) }
                    (left_out(&data.changes))
                    @if offers.contains(&true) { div.row {
                        (submit(Button::Main, Glyph::Check, "Approve the chosen tools"))
                        @if all { button.button.plain type="submit" name="all" value="yes" { (Glyph::Check) "Approve all" } }
                    } }
                }))
            }
        }
    }
}

/// The times at which the server's tools appeared, changed and vanished.
pub(super) fn tool_events(frame: &PageFrame, data: &ServerPage) -> Markup {
    html! {
        section aria-labelledby="tool-history" {
            h2 id="tool-history" { "Changes of tools" }
            @if data.tool_events.is_empty() { p.quiet {
                @if data.policy.raw() == "allow" { "With " code { "definitions: allow" } ", changes are not recorded." }
                @else { "The server has listed the same tools since they were first seen." }
            } }
            ol.history {
                @for event in shown(&data.tool_events) { li {
                    (definition_badge(event.state))
                    (when(frame.now, event.at))
                    a href=(route::tool(data.row.id.raw(), event.tool.raw())) { code { (event.tool.name()) } }
                } }
            }
        }
    }
}

/// For each shown change, true if the page shows the change completely and offers its approval.
fn offers(changes: &[DefinitionChange]) -> Vec<bool> {
    let mut room = MOST_TEXT;
    let mut offers = Vec::new();
    for change in shown(changes) {
        let size: usize = change.lines.iter().map(|line| line.text.raw().len()).sum();
        let offer = size <= room && is_readable(change);
        if offer {
            room -= size;
        }
        offers.push(offer);
    }
    offers
}

fn change(
    (frame, data): (&PageFrame, &ServerPage),
    change: &DefinitionChange,
    number: usize,
    offer: bool,
) -> Markup {
    let id = format!("change-{number}");
    html! {
        div.change {
            div.row {
                @if offer {
                    input type="checkbox" id=(id) name="tool" value=(route::segment(change.tool.raw()));
                    label for=(id) { code { (change.tool.name()) } }
                } @else { code { (change.tool.name()) } }
                (definition_badge(change.state))
                span.quiet { @for (at, part) in change.parts.iter().enumerate() { @if at > 0 { ", " } (part.name()) } }
                @if let Some(since) = change.since { span.quiet { "first listed " (when(frame.now, since)) } }
                a href=(route::tool(data.row.id.raw(), change.tool.raw())) { "Tool" }
            }
            @if !offer { p.hint { "The whole difference does not fit here. Read and approve it on the page of the tool." } }
            @else if !change.lines.is_empty() { (diff(&format!("Differences of {}", change.tool.label()), &change.lines)) }
        }
    }
}
