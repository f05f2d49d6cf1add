//! The question before something is done that cannot be undone, or that interrupts others.

use crate::foreign::field_value;
use crate::model::{ConfirmPage, PageFrame};
use crate::part::{Button, Glyph, Head, Section, page, post, submit};
use crate::route;
use maud::{Markup, html};

/// The question, with the form that is sent again.
pub fn confirm(frame: &PageFrame, data: &ConfirmPage) -> Markup {
    let section = if data.back.starts_with(route::SERVERS) {
        Section::Servers
    } else if data.back == route::SESSIONS {
        Section::Sessions
    } else {
        Section::Logins
    };
    let head = Head { above: Some((&data.back, "Back")), ..Head::of(section, data.question, "") };
    page(
        frame,
        &head,
        &html! {
            section.panel {
                @if !data.subject.is_empty() { p { strong { (data.subject) } } }
                p { (data.effect) }
                (post(frame, &data.action, "row", &html! {
                    @for (name, value) in &data.fields { input type="hidden" name=(name) value=(field_value(value)); }
                    input type="hidden" name=(route::SURE) value="yes";
                    (submit(Button::Danger, Glyph::Check, data.words))
                    a.button.plain href=(data.back) { "Cancel" }
                }))
            }
        },
    )
}
