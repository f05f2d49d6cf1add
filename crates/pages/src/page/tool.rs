//! One tool: its arguments, its cost in each profile, its changes, its calls.

use super::access::rule_links;
use super::definitions;
use super::overview::call_table;
use crate::model::{DefinitionState, PageFrame, ToolAbsence, ToolAccessRow, ToolPage};
use crate::part::{
    Button, Glyph, Head, Section, Tone, at_row, badge, code, count, counted, definition_badge, diff, hints,
    jump, left_out, meter, not_recorded, page, percent, post, shown, submit, table, when,
};
use crate::route::{self, ServerAction};
use maud::{Markup, html};

/// One tool.
pub fn tool(frame: &PageFrame, data: &ToolPage) -> Markup {
    let row = &data.row;
    let profile = data.profiles.first();
    let head = Head {
        section: Section::Tools,
        title: format!("{} · Tools", row.name.label()),
        heading: row.name.name(),
        lead: html! {
            "of " a href=(route::server(row.server.raw())) { (row.server.name()) } @if data.absence.is_none() { " · " (counted(row.tokens, "token", "tokens")) " · " (hints(row.hints)) }
            @if let Some(state) = row.pending { " " (definition_badge(state)) }
        },
        actions: html! {
            @if let Some(profile) = profile.filter(|_| data.absence.is_none()) {
                a.button.main href=(route::with_query(route::PLAYGROUND, &[("profile", profile.profile.raw()), ("tool", profile.client_name.raw())])) { (Glyph::Playground) "Try it" }
            }
        },
        above: Some((route::TOOLS, "Tools")),
    };
    page(
        frame,
        &head,
        &html! {
            @if let Some(absence) = &data.absence { (self::absence(frame, data, absence)) }
            (change(frame, data))
            (jump(&[("#description", "Description"), ("#arguments", "Arguments"), ("#profiles", "Cost and visibility"), ("#access", "Who may use it"), ("#calls", "Latest calls"), ("#approvals", "Approvals")]))
            section aria-labelledby="description" {
                h2 id="description" { "Description" }
                @if !row.title.is_empty() { p { strong { (row.title) } } }
                @if row.description.is_empty() { p.quiet { "The server gives no description of this tool, so models have only its name." } }
                @else { div.prose { (row.description.block()) } }
            }
            section aria-labelledby="arguments" { h2 id="arguments" { "Arguments" } (arguments(data)) }
            section aria-labelledby="profiles" { h2 id="profiles" { "Cost and visibility by profile" } (profiles(data)) }
            section aria-labelledby="access" { h2 id="access" { "Who may use it" } (access(data)) }
            (findings(data))
            section aria-labelledby="calls" {
                h2 id="calls" { "Latest calls" }
                @if !frame.records_calls { (not_recorded()) } @else if data.calls.is_empty() { p.quiet { "There is no call of this tool among the newest 100,000 recorded calls." } } @else { (call_table(frame, "Latest calls", &data.calls)) }
            }
            section aria-labelledby="approvals" {
                h2 id="approvals" { "Approvals" }
                (dates(frame, data))
                @if data.approvals.is_empty() { p.quiet { "This definition was never approved." } }
                ol.history { @for approval in shown(&data.approvals) { li { (when(frame.now, approval.at)) " by " (approval.by.name()) } } }
                (left_out(&data.approvals))
            }
        },
    )
}

/// The times at which the server first listed the tool, and last changed it.
fn dates(frame: &PageFrame, data: &ToolPage) -> Markup {
    html! {
        @if let (Some(at), None) = (data.first_listed, &data.absence) {
            // A time opens to the exact one, so it cannot be in a paragraph.
            div.quiet {
                "The server listed this tool first " (when(frame.now, at)) ". "
                @if let Some(at) = data.changed { "It last changed the definition " (when(frame.now, at)) "." }
            }
        }
    }
}

fn absence(frame: &PageFrame, data: &ToolPage, absence: &ToolAbsence) -> Markup {
    let server = data.row.server.raw();
    html! {
        div.notice.warn {
            (Glyph::Warning)
            div {
                @match &absence.unknown {
                    Some(reason) => p { strong { "The tools of this server are not known now. " } "The server " (reason) "." },
                    None => p { strong { "The server no longer lists this tool. " } "Clients cannot call it." },
                }
                @if let Some(at) = absence.vanished { div { "It vanished from the server's list " (when(frame.now, at)) ". " } }
                // A time opens to the exact one, so it cannot be in a paragraph.
                div {
                    @match absence.last_seen {
                        Some(at) => { "Its last recorded call that reached the server was " (when(frame.now, at)) ". " },
                        None => "No recorded call has reached it. ",
                    }
                    @if let Some(at) = absence.first_seen { "The server listed it first " (when(frame.now, at)) ". " }
                    @if absence.has_definition { "This page shows the last known definition." } @else { "Its definition is not recorded." }
                }
                p {
                    a href=(route::with_query(route::CALLS, &[("tool", absence.calls.raw())])) { "Recorded calls" } ", "
                    a href=(route::approval(server)) { "changed definitions of the server" } ", "
                    a href=(route::with_query(route::TOOLS, &[("server", server)])) { "its tools now" }
                }
            }
        }
    }
}

fn change(frame: &PageFrame, data: &ToolPage) -> Markup {
    let Some(change) = &data.change else { return html! {} };
    let sentence = match change.state {
        DefinitionState::Changed => {
            "The server has changed this tool since it was approved. Read the difference, then approve it or ask the server's operator."
        }
        DefinitionState::New => "The server lists this tool for the first time.",
        DefinitionState::Vanished => {
            "The server no longer lists this tool. Once it is forgotten, a tool with this name counts as new."
        }
    };
    html! {
        section.panel aria-labelledby="change" {
            h2 id="change" { "Awaits approval" }
            p.quiet { (sentence) }
            @if !change.parts.is_empty() { p { "Changed: " @for (at, part) in change.parts.iter().enumerate() { @if at > 0 { ", " } code { (part.name()) } } } }
            @if !change.lines.is_empty() { (diff("Difference from the approved definition", &change.lines)) }
            @if definitions::is_readable(change) {
                (post(frame, &route::server_action(data.row.server.raw(), ServerAction::Approve), "row", &html! {
                    input type="hidden" name="revision" value=(data.revision);
                    input type="hidden" name="tool" value=(route::segment(change.tool.raw()));
                    (submit(Button::Main, Glyph::Check, if change.state == DefinitionState::Vanished { "Forget this tool" } else { "Approve this definition" }))
                }))
            } @else {
                p.hint { "This page does not show the whole difference, so it offers no approval. Review the server with " code { "dragoman definitions" } " in a terminal." }
            }
        }
    }
}

fn arguments(data: &ToolPage) -> Markup {
    let rows = html! {
        @for argument in shown(&data.arguments) { tr {
            td data-label="Argument" { code { (argument.name.name()) } @if argument.required { div.sub { "required" } } }
            td data-label="Type" { code { (argument.kind.name()) } }
            td.text data-label="Description" { @if argument.description.is_empty() { span.quiet { "–" } } @else { (argument.description) } }
        } }
    };
    html! {
        @if data.arguments.is_empty() { p.quiet { "The tool takes no arguments." } }
        @else { (table("Arguments", &[("Argument", ""), ("Type", ""), ("Description", "")], &rows)) (left_out(&data.arguments)) }
        details.raw { summary { "Input schema" } (code("Input schema", &data.input_schema)) }
        @if let Some(schema) = &data.output_schema { details.raw { summary { "Output schema" } (code("Output schema", schema)) } }
    }
}

fn profiles(data: &ToolPage) -> Markup {
    let rows = html! {
        @for row in shown(&data.profiles) { tr {
            td data-label="Profile" { (at_row(&route::profile(row.profile.raw()), &row.profile.name())) }
            td data-label="Name there" { code { (row.client_name.name()) } }
            td data-label="Clients" { (row.visibility) }
            td.n data-label="Tokens" { (count(row.tokens)) }
            td.nb data-label="Share of the profile" { (meter(row.tokens, row.profile_tokens)) " " (percent(row.tokens, row.profile_tokens)) }
        } }
    };
    html! {
        @if data.profiles.is_empty() { p.quiet { "No profile contains this tool's server." } }
        @else { (table("Profiles", &[("Profile", ""), ("Name there", ""), ("Clients", ""), ("Tokens", "n"), ("Share of the profile", "")], &rows)) (left_out(&data.profiles)) }
    }
}

fn access(data: &ToolPage) -> Markup {
    let check = |row: &ToolAccessRow, caller: &str| {
        let pairs = [("profile", row.profile.raw()), ("tool", row.client_name.raw()), ("caller", caller)];
        route::with_query(route::ACCESS, &pairs)
    };
    let rows = html! {
        @for row in shown(&data.access) { tr {
            td data-label="Profile" { (at_row(&route::profile(row.profile.raw()), &row.profile.name())) }
            td data-label="May use it" { @if row.allowed { (badge(Tone::Good, Glyph::Check, "yes")) } @else { (badge(Tone::Bad, Glyph::Deny, "no")) } }
            td.text data-label="Callers" {
                @if row.callers.is_empty() { "every caller of the profile" }
                @for (at, caller) in row.callers.iter().enumerate() { @if at > 0 { ", " } a href=(check(row, caller.raw())) { (caller.name()) } }
                @if row.more > 0 { ", and " (count(row.more)) " more" }
            }
            td.reason data-label="Because" { @if let Some(rule) = row.rule { (rule_links(&[rule])) @if !row.reason.is_empty() { ": " } } (row.reason) }
        } }
    };
    html! {
        @if data.access.is_empty() { p.quiet { "Clients of no profile get this tool." } }
        @else {
            (table("Who may use it", &[("Profile", ""), ("May use it", ""), ("Callers", ""), ("Because", "")], &rows))
            (left_out(&data.access))
        }
        p.hint {
            @if data.has_other_callers { "Only keys and configured users are listed. " }
            a href=(data.access.first().map_or_else(|| route::ACCESS.to_owned(), |row| check(row, ""))) { "Check another caller, an address or arguments" }
        }
    }
}

fn findings(data: &ToolPage) -> Markup {
    let rows = html! {
        @for finding in shown(&data.findings) { tr {
            td data-label="Clients" { (finding.family.name()) }
            td.text data-label="Rule" { (finding.rule) }
            td data-label="Place" { code { @if finding.place.is_empty() { "the whole schema" } @else { (finding.place) } } }
        } }
    };
    html! {
        @if !data.findings.is_empty() {
            section aria-labelledby="findings" {
                h2 id="findings" { "Clients that refuse this tool" }
                (table("Findings", &[("Clients", ""), ("Rule", ""), ("Place in the schema", "")], &rows))
                (left_out(&data.findings))
                p.hint { "Set " code { "tools.schemas" } " of the profile to the family, and Dragoman sends the schema in a form that these clients accept." }
            }
        }
    }
}
