//! The list of profiles, and the form that adds one.

use crate::model::{PageFrame, ProfilesPage};
use crate::part::{
    Button, Empty, Glyph, Head, InputLine, Section, at_row, count, counted, defined_in, empty, field,
    left_out, page, post, refused, shown, submit, table,
};
use crate::route;
use maud::{Markup, html};

/// The profiles.
pub fn profiles(frame: &PageFrame, data: &ProfilesPage) -> Markup {
    let mut head = Head::of(
        Section::Profiles,
        "Profiles",
        "Each profile is a view of some servers at an address of its own. Its tools take up room in the context of every model that uses it.",
    );
    if frame.manages {
        head.actions = html! { a.button.main href="#add" { (Glyph::Add) "Add a profile" } };
    }
    page(
        frame,
        &head,
        &html! {
            @if data.rows.is_empty() {
                (empty(&Empty {
                    icon: Glyph::Profile,
                    title: "No profiles yet",
                    text: "Add a profile to give some clients only some of the servers.",
                    link: None,
                }))
            } @else { (list(data)) }
            (add(frame, data))
        },
    )
}

fn list(data: &ProfilesPage) -> Markup {
    let rows = html! {
        @for row in shown(&data.rows) { tr {
            td data-label="Profile" {
                (at_row(&route::profile(row.slug.raw()), &row.slug.name()))
                @if !row.title.is_empty() { div.sub { (row.title) } }
            }
            td data-label="Address" { code { (row.endpoint.name()) } div.sub { (defined_in(row.origin)) } }
            td.n.wrap data-label="Servers" { (count(row.servers)) @for id in &row.failing { div.sub { a href=(route::server(id.raw())) { (id.name()) } " fails" } } }
            td data-label="Clients" { (mode(row.mode.raw())) }
            td.n data-label="Listed tools" { (count(row.listed)) }
            td.n data-label="Context cost" { (counted(row.cost(), "token", "tokens")) @if row.searchable > 0 { div.sub { "instead of " (count(row.unsearched_cost)) } } }
            td.n data-label="Sessions" { (count(row.sessions)) }
        } }
    };
    let columns = [
        ("Profile", ""),
        ("Address", ""),
        ("Servers", "n"),
        ("Clients", ""),
        ("Listed tools", "n"),
        ("Context cost", "n"),
        ("Sessions", "n"),
    ];
    html! { (table("Profiles", &columns, &rows)) (left_out(&data.rows)) }
}

/// The way in which clients find tools, in words.
pub(super) fn mode(mode: &str) -> &'static str {
    match mode {
        "search" => "search for tools",
        "hybrid" => "list some, search the rest",
        _ => "list all tools",
    }
}

fn add(frame: &PageFrame, data: &ProfilesPage) -> Markup {
    html! {
        section.panel id="add" aria-labelledby="add-heading" {
            h2 id="add-heading" { "Add a profile" }
            @if frame.manages {
                (post(frame, route::PROFILES_ADD, "stack", &html! {
                    div.fields {
                        (field(InputLine { form: "add", name: "slug", label: "Name in the address", example: "office", hint: "3 to 50 characters from a-z 0-9 -", ..InputLine::default() }))
                        (field(InputLine { form: "add", name: "title", label: "Title for people", example: "Office", ..InputLine::default() }))
                    }
                    @if !data.servers.is_empty() {
                        fieldset { legend { "Servers" } div.choices {
                            @for (number, server) in shown(&data.servers).iter().enumerate() {
                                @let id = format!("add-server-{number}");
                                span { input type="checkbox" id=(id) name="server" value=(server.value()); label for=(id) { (server.name()) } }
                            }
                        } (left_out(&data.servers)) }
                    }
                    (refused("add-faults", data.fault.as_slice()))
                    (submit(Button::Main, Glyph::Add, "Add the profile"))
                }))
            } @else {
                p { "Changes through these pages are disabled. Set " code { "management: true" } " in the configuration, or add the profile there." }
            }
        }
    }
}
