//! The configuration in force: errors of the last reload, changes, and the effective text.

use crate::model::{ConfigFault, ConfigurationPage, PageFrame};
use crate::part::{
    Button, Glyph, Head, Section, Tone, badge, button, counted, diff, facts, left_out, page, shown, snippet,
    table, until, when,
};
use crate::route;
use maud::{Markup, html};

/// The configuration.
pub fn configuration(frame: &PageFrame, data: &ConfigurationPage) -> Markup {
    let mut head = Head::of(Section::Configuration, "Configuration", "");
    head.lead = html! { code { (data.path) } ", put in force " (when(frame.now, data.loaded)) };
    head.actions = button(
        frame,
        route::RELOAD,
        Button::Main,
        Glyph::Refresh,
        "Reload the file",
        &[("etag", &data.etag)],
    );
    page(
        frame,
        &head,
        &html! {
            (file_faults(frame, data))
            @if !data.needs_restart.is_empty() {
                div.notice.warn { (Glyph::Warning) div { p { strong { "Restart needed. " } "New values of these keys take effect at the next start: "
                    @for (at, key) in data.needs_restart.iter().enumerate() { @if at > 0 { ", " } code { (key.name()) } } } } }
            }
            section aria-labelledby="difference" {
                h2 id="difference" { "Changes on top of the file" }
                @if data.difference.is_empty() { p.quiet { "None: the configuration in force matches the file." } } @else {
                    p.quiet { "These changes were made through the management API or these pages. They are stored in " code { "changes.db" } "." }
                    (diff("Difference between the file and the configuration in force", &data.difference))
                }
            }
            section aria-labelledby="effective" {
                h2 id="effective" { "Effective configuration" }
                p.quiet { "Everything that is in force, with defaults of servers and profiles. Secrets are masked." }
                (snippet("effective-text", "effective configuration", &data.effective))
                (facts(&[("ETag", html! { code { (data.etag) } })]))
            }
            section aria-labelledby="changes" { h2 id="changes" { "Latest changes" } (changes(frame, data)) }
        },
    )
}

fn file_faults(frame: &PageFrame, data: &ConfigurationPage) -> Markup {
    html! {
        @if !data.faults.is_empty() {
            section.panel.broken aria-labelledby="faults" {
                h2 id="faults" { (Glyph::Bad) "The file has " (counted(data.faults.len() as u64, "error", "errors")) ", so the old configuration stays in force" }
                div.lead { "Last attempt: " (until(frame.now, data.failed, "unknown")) }
                ol.config-faults { @for fault in shown(&data.faults) { (config_fault(fault)) } }
                (left_out(&data.faults))
            }
        }
    }
}

fn config_fault(fault: &ConfigFault) -> Markup {
    html! {
        li {
            p { @if let Some(line) = fault.line { strong { "Line " (line) @if let Some(column) = fault.column { ", column " (column) } ": " } } (fault.text) }
            @if let Some(excerpt) = &fault.excerpt { pre.code { (excerpt.block()) } }
            @if let Some(help) = &fault.help { p.help { strong { "Help: " } (help) } }
        }
    }
}

fn changes(frame: &PageFrame, data: &ConfigurationPage) -> Markup {
    let rows = html! {
        @for change in shown(&data.changes) { tr {
            td data-label="When" { (when(frame.now, change.at)) }
            td data-label="By" { (change.by.name()) }
            td.text data-label="Change" { (change.what) }
            td data-label="Result" { @if change.done { (badge(Tone::Good, Glyph::Check, "done")) } @else { (badge(Tone::Bad, Glyph::Bad, "refused")) } }
        } }
    };
    html! {
        @if !frame.records_calls {
            p.quiet { "Changes are not recorded. To see who changed what, set " code { "audit: true" } " in the configuration." }
        } @else if data.changes.is_empty() { p.quiet { "No change is recorded." } }
        @else { (table("Changes", &[("When", ""), ("By", ""), ("Change", ""), ("Result", "")], &rows)) (left_out(&data.changes)) }
    }
}
