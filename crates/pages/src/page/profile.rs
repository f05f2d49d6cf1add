//! One profile: its servers, what its clients see, and what this costs.

use super::profiles::mode;
use crate::model::{
    DefinedIn, ForeignText, PageFrame, ProfilePage, ProfileServer, ServerState, UnservedCaller,
};
use crate::part::{
    Button, Confirmed, Empty, Glyph, Head, InputLine, Section, Tone, at_row, badge, button, confirmed,
    copyable, count, counted, defined_in, empty, facts, field, filter, hints, left_out, meter, page, pager,
    percent, post, select, server_badge, shown, submit, table,
};
use crate::route::{self, ProfileAction};
use maud::{Markup, html};

/// The context size of a typical model, in tokens, for comparison.
const CONTEXT: u64 = 200_000;

/// One profile.
pub fn profile(frame: &PageFrame, data: &ProfilePage) -> Markup {
    let row = &data.row;
    let slug = row.slug.raw();
    let head = Head {
        section: Section::Profiles,
        title: format!("{} · Profiles", row.slug.label()),
        heading: row.slug.name(),
        lead: html! { (copyable("endpoint", "address of the profile", &row.endpoint)) @if !row.title.is_empty() { " · " (row.title) } },
        actions: html! {
            a.button.plain href=(route::with_query(route::PLAYGROUND, &[("profile", slug)])) { (Glyph::Playground) "Try its tools" }
            a.button.main href=(route::with_query(route::CONNECT, &[("profile", slug)])) { (Glyph::Connect) "Connect a client" }
        },
        above: Some((route::PROFILES, "Profiles")),
    };
    page(
        frame,
        &head,
        &html! {
            (failing(data))
            (without_tools(data))
            (cost(data))
            section aria-labelledby="servers" { h2 id="servers" { "Servers" } (servers(frame, data)) }
            section aria-labelledby="tools" { h2 id="tools" { "What clients see" } (tools(data)) }
            section aria-labelledby="rules" {
                h2 id="rules" { "Rules" }
                (facts(&[
                    ("Clients", html! { (mode(row.mode.raw())) }),
                    ("Allowed", patterns(&data.allow, "everything")),
                    ("Denied", patterns(&data.deny, "nothing")),
                    ("Who may use it", patterns_as_list(&data.callers)),
                    ("Defined in", defined_in(row.origin)),
                ]))
                p.more { a href=(route::with_query(route::TOOLS, &[("profile", slug)])) { "Allow or deny tools" } }
            }
            @if frame.manages { (clone(frame, data)) }
        },
    )
}

/// The servers of the profile that cannot be used, with their reasons.
fn failing(data: &ProfilePage) -> Markup {
    let failing: Vec<&ProfileServer> =
        data.servers.iter().filter(|one| one.active && is_failing(one.state)).collect();
    html! {
        @if !failing.is_empty() {
            div.notice.warn {
                (Glyph::Warning)
                div {
                    p { strong { @if failing.len() == data.servers.len() { "No server of this profile can be used now:" } @else { "Servers that cannot be used now:" } } }
                    ul { @for one in failing { li {
                        a href=(route::server(one.id.raw())) { (one.id.name()) }
                        @if let Some(reason) = &one.reason { ": " (reason) }
                    } } }
                }
            }
        }
    }
}

fn is_failing(state: ServerState) -> bool {
    matches!(state, ServerState::BackingOff | ServerState::Unreachable | ServerState::AuthRequired)
}

fn without_tools(data: &ProfilePage) -> Markup {
    let check = |one: &UnservedCaller| {
        let pairs =
            [("caller", one.caller.raw()), ("profile", data.row.slug.raw()), ("tool", one.tool.raw())];
        route::with_query(route::ACCESS, &pairs)
    };
    html! {
        @if !data.without_tools.is_empty() {
            div.notice.warn {
                (Glyph::Warning)
                div {
                    p { strong { "Clients of these callers show no tools:" } }
                    ul { @for one in shown(&data.without_tools) { li {
                        code { (one.name.name()) } " may use 0 of " (counted(one.tools, "tool", "tools")) ": " (one.reason) ". "
                        a href=(check(one)) { "Check the access" }
                    } } }
                }
            }
        }
    }
}

fn cost(data: &ProfilePage) -> Markup {
    let row = &data.row;
    let all = row.cost();
    html! {
        section aria-labelledby="cost" {
            h2.vh id="cost" { "Context cost" }
            dl.stats {
                div { dt { "Context cost" } dd.value { (count(all)) } dd.below { "tokens at every turn of a model" } }
                div { dt { "Of 200,000 tokens" } dd.value { (percent(all, CONTEXT)) } dd.below { (meter(all, CONTEXT)) } }
                div { dt { "Listed tools" } dd.value { (count(row.listed)) } dd.below { (count(row.tokens)) " tokens" } }
                div { dt { "Searchable tools" } dd.value { (count(row.searchable)) } dd.below { (count(row.unsearched_cost.saturating_sub(all))) " tokens saved" } }
                div { dt { "Instructions" } dd.value { (count(row.instructions_tokens)) } dd.below { "tokens, with those of the servers" } }
                div { dt { "Open sessions" } dd.value { (count(row.sessions)) } dd.below { a href=(route::with_query(route::SESSIONS, &[("q", row.slug.raw())])) { "Show them" } } }
            }
            @if let Some(text) = &data.instructions { details.raw { summary { "Instructions for models" } div.prose { (text.block()) } } }
        }
    }
}

fn patterns(list: &[ForeignText], none: &str) -> Markup {
    html! { @if list.is_empty() { (none) } @for (at, pattern) in list.iter().enumerate() { @if at > 0 { ", " } code { (pattern.name()) } } }
}

fn patterns_as_list(list: &[ForeignText]) -> Markup {
    html! { @if list.is_empty() { "anyone who can reach the address" } @for (at, text) in list.iter().enumerate() { @if at > 0 { "; " } (text) } }
}

fn servers(frame: &PageFrame, data: &ProfilePage) -> Markup {
    let action = route::profile_action(data.row.slug.raw(), ProfileAction::Servers);
    let rows = html! { @for server in shown(&data.servers) { (server_row(frame, &action, server)) } };
    let mut columns = vec![("Server", ""), ("State", ""), ("Shown tools", "n"), ("Tokens", "n")];
    if frame.manages {
        columns.push(("", "acts"));
    }
    html! {
        @if data.servers.is_empty() {
            (empty(&Empty { icon: Glyph::Server, title: "No server in this profile", text: "Clients see no tools. Add a server below.", link: None }))
        } @else { (table("Servers of the profile", &columns, &rows)) (left_out(&data.servers)) }
        @if frame.manages && !data.others.is_empty() {
            @let options: Vec<_> = data.others.iter().map(|name| (name.raw(), name.label())).collect();
            (post(frame, &action, "row below", &html! {
                input type="hidden" name="action" value="add";
                (select("others", "server", "Add a server", "", &options))
                div.field { (submit(Button::Plain, Glyph::Add, "Add")) }
            }))
        }
    }
}

fn server_row(frame: &PageFrame, action: &str, server: &ProfileServer) -> Markup {
    let id = server.id.raw();
    html! {
        tr {
            td data-label="Server" { (at_row(&route::server(id), &server.id.name())) }
            td data-label="State" { @if server.active { (server_badge(server.state)) } @else { (badge(Tone::Quiet, Glyph::Off, "Off in this profile")) } }
            td.n data-label="Shown tools" { (count(server.tools)) " of " (count(server.of)) }
            td.n data-label="Tokens" { (count(server.tokens)) }
            @if frame.manages { td.acts data-label="Actions" { div.row {
                @if server.active { (button(frame, action, Button::Plain, Glyph::Off, "Turn off", &[("server", id), ("action", "off")])) }
                @else { (button(frame, action, Button::Plain, Glyph::Run, "Turn on", &[("server", id), ("action", "on")])) }
                (button(frame, action, Button::Plain, Glyph::Close, "Take out", &[("server", id), ("action", "remove")]))
            } } }
        }
    }
}

fn tools(data: &ProfilePage) -> Markup {
    let path = route::profile(data.row.slug.raw());
    let rows = html! {
        @for row in shown(&data.tools) { tr {
            td.text data-label="Name for clients" {
                (at_row(&route::tool(row.server.raw(), row.name.raw()), &row.client_name.name()))
                div.sub.clamp { (row.description) }
            }
            td data-label="Server" { (row.server.name()) }
            td data-label="May" { (hints(row.hints)) }
            td.n data-label="Tokens" { (count(row.tokens)) }
            td.nb data-label="Share" { (meter(row.tokens, data.row.tokens)) " " (percent(row.tokens, data.row.tokens)) }
        } }
    };
    html! {
        (filter(&path, "effective", &html! {
            (field(InputLine { name: "q", label: "Name or description", value: data.q.raw(), kind: "search", ..InputLine::default() }))
        }))
        div id="effective" {
            @for (server, tools) in &data.held {
                div.notice.warn { (Glyph::Warning) div { p {
                    (counted(*tools, "tool of the server ", "tools of the server ")) a href=(route::server(server.raw())) { (server.name()) }
                    @if *tools == 1 { " awaits" } @else { " await" } " approval, so clients do not get "
                    @if *tools == 1 { "it" } @else { "them" } ". Review the changed definitions on the server's page."
                } } }
            }
            @if data.tools.is_empty() {
                (empty(&Empty { icon: Glyph::Tool, title: "No tools here", text: "Check the servers of the profile and its rules: both decide what clients see.", link: None }))
            } @else {
                (table("Tools as clients see them", &[("Name for clients", ""), ("Server", ""), ("May", ""), ("Tokens", "n"), ("Share", "")], &rows))
                (pager(&path, &[("q", data.q.raw())], &data.paging, shown(&data.tools).len()))
            }
        }
    }
}

fn clone(frame: &PageFrame, data: &ProfilePage) -> Markup {
    let slug = &data.row.slug;
    html! {
        section.panel aria-labelledby="clone" {
            h2 id="clone" { "Clone or remove" }
            (post(frame, route::PROFILES_ADD, "row", &html! {
                input type="hidden" name="from" value=(slug.value());
                (field(InputLine { form: "clone", name: "slug", label: "Name of the clone", example: "office-2", ..InputLine::default() }))
                (field(InputLine { form: "clone", name: "title", label: "Title of the clone", ..InputLine::default() }))
                div.field { (submit(Button::Plain, Glyph::Clone, "Clone")) }
            }))
            @if data.row.origin == DefinedIn::Api {
                (confirmed(frame, &route::profile_action(slug.raw(), ProfileAction::Remove), Confirmed {
                    form: "remove",
                    words: "Remove the profile",
                    effect: "Its address answers 404, and its sessions end.",
                    name: slug,
                    fields: &[],
                }))
            } @else { p.quiet { "The configuration file defines this profile; remove it there." } }
        }
    }
}
