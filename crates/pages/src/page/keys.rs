//! The API keys.

use super::access::rule_links;
use crate::model::{ForeignText, KeyRow, KeyStanding, KeysPage, PageFrame};
use crate::part::{
    Button, Confirmed, Empty, Glyph, Head, InputLine, Section, Tone, badge, confirmed, count, empty, field,
    filter, page, pager, post, recorded, refused, shown, snippet, submit, table, until, when,
};
use crate::route;
use maud::{Markup, html};

/// The API keys.
pub fn keys(frame: &PageFrame, data: &KeysPage) -> Markup {
    let mut head = Head::of(
        Section::Keys,
        "Keys",
        "An API key lets a client use some or all profiles. Dragoman shows a key once, and stores only its digest.",
    );
    head.actions = html! { a.button.main href="#new" { (Glyph::Add) "New key" } };
    page(
        frame,
        &head,
        &html! {
            @if !data.accepted {
                div.notice.warn { (Glyph::Warning) div { p { strong { "Keys are not accepted. " } "Set " code { "auth: { keys: true }" } " in the configuration, so that clients can use them." } } }
            }
            @if let Some(made) = &data.made {
                section.panel.made aria-labelledby="made" {
                    h2 id="made" { "The new key " code { (made.name.name()) } }
                    p { "Copy it now: it is shown only this once, and cannot be recovered." }
                    (snippet("new-key", "the new key", &ForeignText::from(made.text.as_str())))
                    @if made.gets_nothing {
                        div.notice.warn { (Glyph::Warning) div { p { strong { "The access rules give this key no access. " } "Add a rule for it to " code { "access" } " in the configuration; the page " a href=(route::ACCESS) { "Access check" } " says which rule decides about a call." } } }
                    }
                    p { a href=(route::with_query(route::CONNECT, &[("profile", data.connect.0.raw()), ("client", data.connect.1.raw())])) { "Connect a client with it" } }
                }
            }
            (list(frame, data))
            (form(frame, data))
        },
    )
}

fn list(frame: &PageFrame, data: &KeysPage) -> Markup {
    let rows = html! { @for (number, row) in shown(&data.rows).iter().enumerate() { (key_row(frame, row, number)) } };
    let columns = [
        ("Key", ""),
        ("Profiles", ""),
        ("Access", ""),
        ("State", ""),
        ("Calls, 24 h", "n"),
        ("Last used", ""),
        ("Created", ""),
        ("Expires", ""),
        ("", "acts"),
    ];
    html! {
        @if !data.rows.is_empty() || !data.q.is_empty() {
            (filter(route::KEYS, "list", &html! {
                (field(InputLine { name: "q", label: "Name or first characters", value: data.q.raw(), kind: "search", ..InputLine::default() }))
            }))
        }
        div id="list" {
            @if !data.rows.is_empty() {
                (table("Keys", &columns, &rows))
                (pager(route::KEYS, &[("q", data.q.raw())], &data.paging, shown(&data.rows).len()))
            } @else if !data.q.is_empty() {
                (empty(&Empty { icon: Glyph::Search, title: "No matching keys", text: "Clear the filter to see all keys.", link: Some((route::KEYS, "All keys")) }))
            } @else {
                (empty(&Empty { icon: Glyph::Key, title: "No keys yet", text: "Create one below for each client or person, so that you can revoke each one separately.", link: None }))
            }
        }
    }
}

fn key_row(frame: &PageFrame, row: &KeyRow, number: usize) -> Markup {
    let form = format!("key-{number}");
    html! {
        tr {
            td data-label="Key" { strong { (row.name.name()) } div.sub { code { (row.prefix.name()) "…" } } }
            td data-label="Profiles" {
                @if row.profiles.is_empty() { "all" }
                @for (at, profile) in row.profiles.iter().enumerate() { @if at > 0 { ", " } a href=(route::profile(profile.raw())) { (profile.name()) } }
            }
            td data-label="Access" {
                @if !row.rules.is_empty() { "by " (rule_links(&row.rules)) @if row.standing == KeyStanding::Valid { ", " } }
                @if row.standing == KeyStanding::Valid { a href=(route::with_query(route::ACCESS, &[("caller", &format!("key:{}", row.name.raw()))])) { "check" span.vh { " the access of " (row.name.label()) } } }
                @else if row.rules.is_empty() { span.quiet { "–" } }
            }
            td data-label="State" { @match row.standing {
                KeyStanding::Valid => (badge(Tone::Good, Glyph::Check, "valid")),
                KeyStanding::Expired => (badge(Tone::Quiet, Glyph::Clock, "expired")),
                KeyStanding::Revoked => (badge(Tone::Quiet, Glyph::Deny, "revoked")),
            } }
            td.n data-label="Calls, 24 h" {
                @let pattern = format!("key:{}", row.prefix.raw());
                a href=(route::with_query(route::CALLS, &[("principal", &pattern), ("since", "24h")])) { (recorded(frame, &count(row.calls))) span.vh { " calls of " (row.name.label()) } }
            }
            td data-label="Last used" { (until(frame.now, row.used, "never")) }
            td data-label="Created" { (when(frame.now, row.created)) }
            td data-label="Expires" { (until(frame.now, row.expires, "never")) }
            td.acts data-label="Actions" { @if row.standing == KeyStanding::Valid {
                (confirmed(frame, route::KEYS_REVOKE, Confirmed {
                    form: &form,
                    words: "Revoke",
                    effect: "Clients with this key are refused within five seconds, and their sessions end.",
                    name: &row.name,
                    fields: &[("key", row.prefix.raw())],
                }))
            } }
        }
    }
}

fn form(frame: &PageFrame, data: &KeysPage) -> Markup {
    let entered = &data.form;
    html! {
        section.panel id="new" aria-labelledby="new-title" {
            h2 id="new-title" { "New key" }
            (post(frame, route::KEYS_NEW, "stack", &html! {
                div.fields {
                    (field(InputLine { form: "new", name: "name", label: "Name", value: entered.name.raw(), example: "cursor-ann", hint: "Who or what uses the key", ..InputLine::default() }))
                    (field(InputLine { form: "new", name: "expires", label: "Expires", value: entered.expires.raw(), example: "90d", hint: "A duration (12h, 30d, 4w), a date, or empty for never", ..InputLine::default() }))
                }
                @if !data.profiles.is_empty() {
                    fieldset { legend { "Profiles (none means all)" } div.choices {
                        @for (number, profile) in data.profiles.iter().enumerate() {
                            @let id = format!("new-profile-{number}");
                            span { input type="checkbox" id=(id) name="profile" value=(profile.value()) checked[entered.profiles.contains(profile)]; label for=(id) { (profile.name()) } }
                        }
                    } }
                }
                input type="hidden" name="client" value=(data.connect.1.value());
                (refused("new-faults", entered.fault.as_slice()))
                (submit(Button::Main, Glyph::Key, "Make the key"))
            }))
        }
    }
}
