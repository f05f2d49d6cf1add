//! The list of servers, and the form that adds servers.

use crate::model::{AddServer, PageFrame, ServerRow, ServerState, ServersPage};
use crate::page::overview::counted_since;
use crate::part::{
    Button, Empty, Glyph, Head, InputLine, Section, Tone, at_row, badge, count, defined_in, empty, field,
    filter, page, pager, percent, post, recorded, refused, select, server_badge, shown, state_name, submit,
    table, when,
};
use crate::route;
use maud::{Markup, html};

/// The servers.
pub fn servers(frame: &PageFrame, data: &ServersPage) -> Markup {
    let mut head = Head::of(
        Section::Servers,
        "Servers",
        "The MCP servers behind this gateway, with the state of each and the reason for it.",
    );
    if frame.manages {
        head.actions = html! { a.button.main href="#add" { (Glyph::Add) "Add servers" } };
    }
    let filtered = !data.filter.q.is_empty() || data.filter.state.is_some();
    page(
        frame,
        &head,
        &html! {
            @if !data.rows.is_empty() || filtered { (filters(data)) }
            div id="list" {
                @if !data.rows.is_empty() { (list(frame, data)) }
                @else if filtered {
                    (empty(&Empty { icon: Glyph::Search, title: "No matching servers", text: "Clear the filter to see all servers.", link: Some((route::SERVERS, "All servers")) }))
                } @else {
                    (empty(&Empty {
                        icon: Glyph::Server,
                        title: "No servers yet",
                        text: "Add one below: paste the mcpServers block of another client, or the URL of a server.",
                        link: None,
                    }))
                }
            }
            (add(frame, &data.add))
        },
    )
}

fn filters(data: &ServersPage) -> Markup {
    let mut states = vec![("", "Any state".to_owned())];
    states.extend(ServerState::ALL.map(|state| (state.name(), state_name(state).to_owned())));
    filter(
        route::SERVERS,
        "list",
        &html! {
            (field(InputLine { name: "q", label: "Name or description", value: data.filter.q.raw(), kind: "search", ..InputLine::default() }))
            (select("f", "state", "State", data.filter.state.map_or("", ServerState::name), &states))
        },
    )
}

fn list(frame: &PageFrame, data: &ServersPage) -> Markup {
    let rows = html! { @for row in shown(&data.rows) { (server_row(frame, row)) } };
    let pairs = [("q", data.filter.q.raw()), ("state", data.filter.state.map_or("", ServerState::name))];
    let columns = [
        ("Server", ""),
        ("State", ""),
        ("Reason", ""),
        ("Tools", "n"),
        ("Tokens", "n"),
        ("Calls, 24 h", "n"),
        ("Failed, 24 h", "n"),
        ("State changed", ""),
    ];
    html! {
        (table("Servers", &columns, &rows))
        (counted_since(frame.now, data.counted_since))
        (pager(route::SERVERS, &pairs, &data.paging, shown(&data.rows).len()))
    }
}

fn server_row(frame: &PageFrame, row: &ServerRow) -> Markup {
    html! {
        tr {
            td data-label="Server" {
                (at_row(&route::server(row.id.raw()), &row.id.name()))
                div.sub { (row.transport.name()) " · " (defined_in(row.origin)) }
            }
            td data-label="State" {
                (server_badge(row.state))
                @if row.pending > 0 { " " (badge(Tone::Warn, Glyph::Compare, &format!("{} to approve", count(row.pending)))) }
            }
            td.reason data-label="Reason" {
                @if let Some(reason) = &row.reason { (reason) } @else { span.quiet { "–" } }
                @if let Some(advice) = &row.advice { div.sub { (advice) } }
            }
            td.n data-label="Tools" { (count(row.tools)) }
            td.n data-label="Tokens" { (count(row.tokens)) }
            td.n data-label="Calls, 24 h" { (recorded(frame, &count(row.calls))) }
            td.n data-label="Failed, 24 h" { (recorded(frame, &count(row.errors))) @if row.errors > 0 { div.sub { (percent(row.errors, row.calls)) } } @if row.refused > 0 { div.sub { (count(row.refused)) " refused" } } }
            td data-label="State changed" { (when(frame.now, row.since)) }
        }
    }
}

fn add(frame: &PageFrame, add: &AddServer) -> Markup {
    html! {
        section.panel id="add" aria-labelledby="add-heading" {
            h2 id="add-heading" { "Add servers" }
            @if frame.manages {
                p.quiet { "Paste the " code { "mcpServers" } " block of Claude, Cursor or another client, or the URL of one server. You see what would run before anything starts." }
                (post(frame, route::SERVERS_ADD, "stack", &html! {
                    div.field.wide {
                        label for="add-text" { "Block or URL" }
                        textarea.mono id="add-text" name="text" rows="7" required spellcheck="false" aria-describedby=[(!add.faults.is_empty()).then_some("add-faults")]
                            placeholder="{ \"mcpServers\": { \"files\": { \"command\": \"npx\", \"args\": [\"-y\", \"@modelcontextprotocol/server-filesystem\", \".\"] } } }" { "\n" (add.text.value()) }
                    }
                    (field(InputLine { form: "add", name: "name", label: "Name", value: add.name.raw(), example: "files", hint: "Only for a URL. A block already contains names.", ..InputLine::default() }))
                    (refused("add-faults", &add.faults))
                    @if add.preview.is_empty() {
                        (submit(Button::Main, Glyph::Go, "Check"))
                    } @else {
                        div.notice.note tabindex="-1" autofocus { (Glyph::Note) div { p { strong { "These servers would be added:" } } ul { @for line in &add.preview { li { code { (line) } } } } } }
                        input type="hidden" name="confirm" value=(add.mark);
                        (submit(Button::Main, Glyph::Add, "Add and start"))
                    }
                }))
            } @else {
                p { "Changes through these pages are disabled. Set " code { "management: true" } " in the configuration, or run " code { "dragoman add NAME -- command" } "." }
            }
        }
    }
}
