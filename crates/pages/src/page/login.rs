//! The pages without a session: login and errors.

use crate::model::{ErrorPage, LoginPage};
use crate::part::{Button, Glyph, InputLine, brand, document, field, note, submit};
use crate::route;
use maud::{Markup, html};

/// The login page.
pub fn login(data: &LoginPage) -> Markup {
    document(
        "Log in",
        "alone",
        &html! {
            main.door id="main" {
                (brand())
                h1 { "Log in" }
                p.quiet { "to the gateway at " strong { (data.address.name()) } }
                @if let Some(notice) = &data.notice { (note(notice)) }
                @if data.passwords {
                    form.stack method="post" action=(route::LOGIN) {
                        input type="hidden" name="next" value=(data.next);
                        (field(InputLine { form: "login", name: "name", label: "Name", value: data.name.raw(), ..InputLine::default() }))
                        (field(InputLine { form: "login", name: "password", label: "Password", kind: "password", ..InputLine::default() }))
                        (submit(Button::Main, Glyph::Lock, "Log in"))
                    }
                }
                section.panel aria-labelledby="link" {
                    h2 id="link" { "With a one-time link" }
                    p { "On the machine of the gateway, run" }
                    pre.code { "dragoman admin link" }
                    p.quiet { "and open the printed link. It can be used once, within 15 minutes. The gateway also prints one when it starts." }
                }
                p.quiet { "API keys of clients do not open these pages." }
            }
        },
    )
}

/// The page of a one-time link. Only submitting the form uses up the link, because programs that preview links open
/// pages, but do not submit forms.
pub fn enter() -> Markup {
    document(
        "Open the admin pages",
        "alone",
        &html! {
            main.door id="main" {
                (brand())
                h1 { "Open the admin pages" }
                p.quiet { "This link opens the pages once." }
                form.stack method="post" { (submit(Button::Main, Glyph::Lock, "Open the pages")) }
            }
        },
    )
}

/// A page that could not be shown.
pub fn error(data: &ErrorPage) -> Markup {
    document(
        &data.title,
        "alone",
        &html! {
            main.door id="main" {
                (brand())
                p.status { (data.status) }
                h1 { (data.title) }
                @if !data.text.is_empty() { p { (data.text) } }
                p.quiet { (data.advice) }
                a.button.plain href=(route::ROOT) { (Glyph::Overview) "Overview" }
            }
        },
    )
}
