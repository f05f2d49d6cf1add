//! The list of tools: what they cost, what they do, which clients see them.

use crate::model::{ForeignText, PageFrame, ToolRow, ToolsPage};
use crate::part::{
    Empty, Glyph, Head, InputLine, Section, Tone, at_row, badge, count, counted, definition_badge, empty,
    field, filter, hints, page, pager, percent, post, recorded, select, shown, table,
};
use crate::route;
use maud::{Markup, html};

/// The tools.
pub fn tools(frame: &PageFrame, data: &ToolsPage) -> Markup {
    let head = Head::of(
        Section::Tools,
        "Tools",
        "Every tool of every server: its cost in a model's context, what it may do, and who sees it.",
    );
    let filter = &data.filter;
    let filtered =
        [&filter.q, &filter.server, &filter.profile, &filter.show].iter().any(|text| !text.is_empty());
    page(
        frame,
        &head,
        &html! {
            @if !data.rows.is_empty() || filtered { (filters(data)) }
            div id="list" {
                @if !data.rows.is_empty() { (list(frame, data)) }
                @else if filtered {
                    (empty(&Empty { icon: Glyph::Search, title: "No matching tools", text: "Clear the filter to see all tools.", link: Some((route::TOOLS, "All tools")) }))
                } @else {
                    (empty(&Empty {
                        icon: Glyph::Tool,
                        title: "No tools yet",
                        text: "Tools appear here when a server has listed them. Check that the servers are ready.",
                        link: Some((route::SERVERS, "Servers")),
                    }))
                }
            }
        },
    )
}

/// Options of a choice: a first one with an empty value, then names.
pub(super) fn options<'a>(first: &str, names: &'a [ForeignText]) -> Vec<(&'a str, String)> {
    let mut options = vec![("", first.to_owned())];
    options.extend(names.iter().map(|name| (name.raw(), name.label())));
    options
}

fn filters(data: &ToolsPage) -> Markup {
    let kinds = [
        ("", "All tools"),
        ("pending", "Awaiting approval"),
        ("writes", "May change something"),
        ("findings", "Refused by some clients"),
        ("hidden", "Hidden from clients"),
    ];
    filter(
        route::TOOLS,
        "list",
        &html! {
            (field(InputLine { name: "q", label: "Name or description", value: data.filter.q.raw(), kind: "search", ..InputLine::default() }))
            (select("f", "server", "Server", data.filter.server.raw(), &options("All servers", &data.servers)))
            (select("f", "profile", "As seen in profile", data.filter.profile.raw(), &options("Any profile", &data.profiles)))
            (select("f", "show", "Show", data.filter.show.raw(), &kinds.map(|(value, words)| (value, words.to_owned()))))
        },
    )
}

fn list(frame: &PageFrame, data: &ToolsPage) -> Markup {
    let filter = &data.filter;
    let bulk = frame.manages && !filter.profile.is_empty();
    let rows = html! { @for (number, row) in shown(&data.rows).iter().enumerate() { (tool_row(frame, row, bulk.then_some(number))) } };
    let mut columns = vec![
        ("Tool", ""),
        ("Server", ""),
        ("May", ""),
        ("Tokens", "n"),
        ("Calls, 24 h", "n"),
        ("Failed, 24 h", "n"),
        ("Clients", ""),
    ];
    if bulk {
        columns.insert(0, ("Choose", "box"));
    }
    let pairs = [
        ("q", filter.q.raw()),
        ("server", filter.server.raw()),
        ("profile", filter.profile.raw()),
        ("show", filter.show.raw()),
    ];
    let content = html! {
        (table("Tools", &columns, &rows))
        (pager(route::TOOLS, &pairs, &data.paging, shown(&data.rows).len()))
    };
    html! {
        p.sum { strong { (count(data.tokens)) } (if data.tokens == 1 { " token" } else { " tokens" }) " for all tools that match" @if !filter.profile.is_empty() { " in profile " code { (filter.profile.name()) } } }
        @if bulk {
            (post(frame, route::TOOLS_VISIBILITY, "bulk", &html! {
                @for (name, text) in [("profile", &filter.profile), ("q", &filter.q), ("server", &filter.server), ("show", &filter.show)] {
                    input type="hidden" name=(name) value=(text.value());
                }
                div.bulk-bar {
                    span.quiet { "The chosen tools in profile " code { (filter.profile.name()) } ":" }
                    span.choice {
                        input type="checkbox" id="tools-all" name="all" value="yes";
                        label for="tools-all" { "all" @if let Some(total) = data.paging.total { " " (count(total)) } " that match the filter" }
                    }
                    button.button.plain type="submit" name="action" value="allow" { (Glyph::Check) "Allow" }
                    button.button.plain type="submit" name="action" value="deny" { (Glyph::Deny) "Deny" }
                }
                (content)
            }))
        } @else {
            (content)
            @if frame.manages { p.hint { "Choose a profile above to allow or deny several tools at once." } }
        }
    }
}

fn tool_row(frame: &PageFrame, row: &ToolRow, choice: Option<usize>) -> Markup {
    html! {
        tr {
            @if let Some(number) = choice {
                td.box data-label="Choose" {
                    input type="checkbox" id=(format!("tool-{number}")) name="tool" value=(route::tool_path(row.server.raw(), row.name.raw()))
                        aria-label=(format!("Choose {}", row.name.label()));
                }
            }
            td.text data-label="Tool" {
                (at_row(&route::tool(row.server.raw(), row.name.raw()), &row.name.name()))
                @if row.pending.is_some() || row.findings > 0 { span.badges {
                    @if let Some(state) = row.pending { (definition_badge(state)) }
                    @if row.findings > 0 { (badge(Tone::Warn, Glyph::Warning, &counted(row.findings, "finding", "findings"))) }
                } }
                @if row.hidden.is_none() && row.client_name != row.name { div.sub { "for clients " code { (row.client_name.name()) } } }
                div.sub.clamp { (row.description) }
            }
            td data-label="Server" { (row.server.name()) }
            td data-label="May" { (hints(row.hints)) }
            td.n data-label="Tokens" { (count(row.tokens)) }
            td.n data-label="Calls, 24 h" { (recorded(frame, &count(row.calls))) }
            td.n data-label="Failed, 24 h" { (recorded(frame, &percent(row.errors, row.calls))) }
            td data-label="Clients" {
                @if row.held {
                    (badge(Tone::Warn, Glyph::Compare, "held"))
                    div.sub { a href=(route::approval(row.server.raw())) { "awaits approval" } }
                } @else if let Some(reason) = &row.hidden { (badge(Tone::Quiet, Glyph::Hidden, "hidden")) div.sub { (reason) } }
                @else { (badge(Tone::Good, Glyph::Shown, "visible")) }
            }
        }
    }
}
