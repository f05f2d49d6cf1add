//! Consents: who allowed the gateway to act at a server.

use crate::model::{ConsentRow, ConsentStanding, LoginsPage, PageFrame};
use crate::part::{
    Button, Empty, Glyph, Head, InputLine, Section, Tone, at_row, badge, button, empty, field, filter, page,
    pager, shown, table, until,
};
use crate::route;
use maud::{Markup, html};

/// The log-ins at servers.
pub fn logins(frame: &PageFrame, data: &LoginsPage) -> Markup {
    let head = Head::of(
        Section::Logins,
        "Upstream logins",
        "Who allowed Dragoman to act at which server, and for how long. Tokens are never shown.",
    );
    let rows = html! { @for row in shown(&data.rows) { (consent_row(frame, row)) } };
    let columns =
        [("Server", ""), ("Consent of", ""), ("State", ""), ("Scopes", ""), ("Token ends", ""), ("", "acts")];
    page(
        frame,
        &head,
        &html! {
            @if !data.rows.is_empty() || !data.q.is_empty() {
                (filter(route::LOGINS, "list", &html! {
                    (field(InputLine { name: "q", label: "Server or caller", value: data.q.raw(), kind: "search", ..InputLine::default() }))
                }))
            }
            div id="list" {
                @if !data.rows.is_empty() {
                    (table("Consents", &columns, &rows))
                    (pager(route::LOGINS, &[("q", data.q.raw())], &data.paging, shown(&data.rows).len()))
                } @else if !data.q.is_empty() {
                    (empty(&Empty { icon: Glyph::Search, title: "No consent matches", text: "Clear the filter to see all.", link: Some((route::LOGINS, "All consents")) }))
                } @else {
                    (empty(&Empty {
                        icon: Glyph::Login,
                        title: "No consents",
                        text: "Remote servers that need a login ask for it when a client first calls one of their tools. You can also start it on the page of a server.",
                        link: Some((route::SERVERS, "Servers")),
                    }))
                }
            }
        },
    )
}

fn consent_row(frame: &PageFrame, row: &ConsentRow) -> Markup {
    html! {
        tr {
            td data-label="Server" { (at_row(&route::server(row.server.raw()), &row.server.name())) div.sub { "at " (row.issuer.name()) } }
            td data-label="Consent of" { (row.principal.name()) @if row.shared { div.sub { "for all callers" } } }
            td data-label="State" {
                @match row.standing {
                    ConsentStanding::Valid => (badge(Tone::Good, Glyph::Check, "valid")),
                    ConsentStanding::Asked => (badge(Tone::Accent, Glyph::Waiting, "waits for consent")),
                    ConsentStanding::Expired => (badge(Tone::Warn, Glyph::Clock, "expired")),
                    ConsentStanding::Refused => (badge(Tone::Bad, Glyph::Bad, "refused")),
                }
                @if let Some(reason) = &row.reason { div.sub { (reason) } }
            }
            td data-label="Scopes" { @if row.scopes.is_empty() { span.quiet { "–" } } @for (at, scope) in row.scopes.iter().enumerate() { @if at > 0 { " " } code { (scope.name()) } } }
            td data-label="Token ends" { (until(frame.now, row.expires, "unknown")) }
            td.acts data-label="Actions" { (button(frame, route::LOGINS_REVOKE, Button::Danger, Glyph::Remove, "Revoke", &[("consent", &row.id)])) }
        }
    }
}
