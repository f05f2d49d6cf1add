//! The configuration of one server: the form that changes it, and the forms that switch the server off or remove
//! it.

use crate::model::{DefinedIn, PageFrame, ServerPage, ServerState};
use crate::part::{Button, Confirmed, Glyph, button, code, confirmed, post, refused, submit};
use crate::route::{self, ServerAction};
use maud::{Markup, html};

/// The section with the configuration of a server.
pub(super) fn configuration(frame: &PageFrame, data: &ServerPage) -> Markup {
    html! {
        section id="configuration" aria-labelledby="configuration-title" {
            h2 id="configuration-title" { "Configuration" }
            @if frame.manages { (form(frame, data)) } @else {
                (code("Configuration of the server", &data.config.text))
                (whole(data))
                p.hint { "Changes through these pages are disabled. Set " code { "management: true" } " in the configuration to allow them." }
            }
        }
    }
}

/// The entry with all its keys, such as `definitions`, `concurrentCalls` and `timeout`, which the form does not have.
fn whole(data: &ServerPage) -> Markup {
    html! {
        details.raw open {
            summary { "All keys in force, with defaults" }
            (code("All keys in force", &data.config.whole))
            p.hint { "To change a key that the form does not show, add it to " code { "settings" } ", as in " code { "\"settings\": { \"timeout\": \"2m\" }" } ". A key that you remove from " code { "settings" } " has the value of the configuration file again." }
        }
    }
}

fn form(frame: &PageFrame, data: &ServerPage) -> Markup {
    let config = &data.config;
    let id = data.row.id.raw();
    html! {
        @if data.row.origin != DefinedIn::Api {
            p.quiet { "The configuration file defines this server. A change here applies on top of the file, and survives restarts." }
        }
        (post(frame, &route::server_action(id, ServerAction::Change), "stack", &html! {
            input type="hidden" name="etag" value=(config.etag);
            div.field.wide {
                label for="config-text" { "Entry as JSON" }
                textarea.mono id="config-text" name="text" rows="10" data-json spellcheck="false" aria-describedby="config-hint" { "\n" (config.text.value()) }
                p.hint id="config-hint" { "Secrets are shown as " code { "***" } ". Leave them unchanged to keep the stored values." }
            }
            (refused("config-faults", &config.faults))
            div.row { (submit(Button::Main, Glyph::Check, "Save and apply")) }
        }))
        (whole(data))
        div.row.ends {
            @if data.row.state != ServerState::Disabled {
                (button(frame, &route::server_action(id, ServerAction::Disable), Button::Plain, Glyph::Off, "Disable", &[]))
            }
            @if config.profiles.is_empty() {
                (confirmed(frame, &route::server_action(id, ServerAction::Remove), Confirmed {
                    form: "remove",
                    words: "Remove the server",
                    effect: "Its running calls end, and clients no longer see its tools.",
                    name: &data.row.id,
                    fields: &[],
                }))
            } @else {
                span.quiet {
                    "Remove the server from these profiles before you remove it: "
                    @for (at, profile) in config.profiles.iter().enumerate() { @if at > 0 { ", " } a href=(route::profile(profile.raw())) { (profile.name()) } }
                }
            }
        }
    }
}
