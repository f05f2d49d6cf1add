//! Consents that allow the gateway to act at a server, and people who have signed in here.

use crate::model::{ConsentRow, ConsentStanding, LoginsPage, PageFrame, SignInRow};
use crate::part::{
    Button, Empty, Glyph, Head, InputLine, Section, Tone, at_row, badge, button, caller, empty, field,
    filter, page, pager, shown, table, until, when,
};
use crate::route;
use maud::{Markup, html};

/// The number of people who have signed in that the page shows; the filter finds the others.
const MOST_SIGN_INS: usize = 50;

/// The log-ins at servers.
pub fn logins(frame: &PageFrame, data: &LoginsPage) -> Markup {
    let head = Head::of(
        Section::Logins,
        "Logins",
        "Who allowed Dragoman to act at which server, and who has signed in here. Tokens are never shown.",
    );
    let rows = html! { @for row in shown(&data.rows) { (consent_row(frame, row)) } };
    let columns =
        [("Server", ""), ("Consent of", ""), ("State", ""), ("Scopes", ""), ("Token ends", ""), ("", "acts")];
    page(
        frame,
        &head,
        &html! {
            @let signed_in = data.sign_ins.as_ref().is_some_and(|rows| !rows.is_empty());
            @if !data.rows.is_empty() || signed_in || !data.q.is_empty() {
                (filter(route::LOGINS, "list", &html! {
                    (field(InputLine { name: "q", label: "Server, site or person", value: data.q.raw(), kind: "search", ..InputLine::default() }))
                }))
            }
            div id="list" {
                @if let Some(rows) = &data.sign_ins { (sign_ins(frame, rows, !data.q.is_empty())) h2 { "Consents to servers" } }
                @if !data.rows.is_empty() {
                    (table("Consents", &columns, &rows))
                    (pager(route::LOGINS, &[("q", data.q.raw())], &data.paging, shown(&data.rows).len()))
                } @else if !data.q.is_empty() {
                    (empty(&Empty { icon: Glyph::Search, title: "No matching consents", text: "Clear the filter to see all.", link: Some((route::LOGINS, "All consents")) }))
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

/// The people who have signed in.
fn sign_ins(frame: &PageFrame, rows: &[SignInRow], filtered: bool) -> Markup {
    let columns = [("Person", ""), ("Application", ""), ("Signed in", ""), ("Last used", ""), ("", "acts")];
    let shown = &rows[..rows.len().min(MOST_SIGN_INS)];
    let body = html! { @for row in shown { (sign_in_row(frame, row)) } };
    html! {
        h2 { "People who have signed in" }
        @if rows.is_empty() {
            p.quiet {
                @if filtered { "Nobody matches." } @else { "Nobody has signed in yet. A client offers to sign in when it connects without a token." }
            }
        } @else {
            (table("People who have signed in", &columns, &body))
            @if rows.len() > shown.len() { p.hint { "More people have signed in: use the filter." } }
        }
    }
}

fn sign_in_row(frame: &PageFrame, row: &SignInRow) -> Markup {
    html! {
        tr {
            td data-label="Person" { (row.user.name()) div.sub { "at " (row.site.name()) } }
            td data-label="Application" { (row.client.name()) div.sub { (row.client_id.name()) } }
            td data-label="Signed in" { (when(frame.now, row.since)) }
            td data-label="Last used" { (when(frame.now, row.used)) }
            td.acts data-label="Actions" { (button(frame, route::SIGN_INS_END, Button::Danger, Glyph::Remove, "End", &[("signIn", &row.id)])) }
        }
    }
}

fn consent_row(frame: &PageFrame, row: &ConsentRow) -> Markup {
    html! {
        tr {
            td data-label="Server" { (at_row(&route::server(row.server.raw()), &row.server.name())) div.sub { "at " (row.issuer.name()) } }
            td data-label="Consent of" { (caller(&row.principal)) @if row.shared { div.sub { "for all callers" } } }
            td data-label="State" {
                @match row.standing {
                    ConsentStanding::Valid => (badge(Tone::Good, Glyph::Check, "valid")),
                    ConsentStanding::Asked => (badge(Tone::Accent, Glyph::Waiting, "waits for consent")),
                    ConsentStanding::Expired => (badge(Tone::Warn, Glyph::Clock, "expired")),
                    ConsentStanding::Refused => (badge(Tone::Bad, Glyph::Bad, "refused")),
                }
                @if let Some(reason) = &row.reason { div.sub { (reason) } }
                @if row.standing == ConsentStanding::Asked {
                    div.sub {
                        @if row.shared { "Start the consent on the server's page." }
                        @else { "Its calls are answered with a link. Someone has to open the link and log in at the server." }
                    }
                }
            }
            td data-label="Scopes" { @if row.scopes.is_empty() { span.quiet { "–" } } @for (at, scope) in row.scopes.iter().enumerate() { @if at > 0 { " " } code { (scope.name()) } } }
            td data-label="Token ends" { (until(frame.now, row.expires, if row.standing == ConsentStanding::Asked { "no token yet" } else { "unknown" })) }
            td.acts data-label="Actions" { (button(frame, route::LOGINS_REVOKE, Button::Danger, Glyph::Remove, if row.standing == ConsentStanding::Asked { "Forget" } else { "Revoke" }, &[("consent", &row.id)])) }
        }
    }
}
