//! Checks of the whole installation.

use crate::model::{CheckGroup, DoctorPage, LogRow, PageFrame, Severity};
use crate::part::{
    Button, Empty, Glyph, Head, Section, button, chooser, counted, empty, left_out, page, select,
    severity_icon, severity_word, shown, until, when,
};
use crate::route;
use maud::{Markup, html};

/// The results of the checks.
pub fn doctor(frame: &PageFrame, data: &DoctorPage) -> Markup {
    let mut head = Head::of(Section::Doctor, "Doctor", "");
    head.lead = html! { "Checks of the configuration, the servers, the certificate, the clock and the state folder. Last run: " (until(frame.now, data.ran, "never")) };
    head.actions = button(frame, route::DOCTOR_RUN, Button::Main, Glyph::Doctor, "Run the checks", &[]);
    page(
        frame,
        &head,
        &html! {
            @if data.groups.is_empty() {
                (empty(&Empty { icon: Glyph::Doctor, title: "The checks have not run yet", text: "They connect to every server once, and take a few seconds.", link: None }))
            } @else {
                (summary(data))
                @for (number, group) in data.groups.iter().enumerate() { (self::group(group, number)) }
            }
            (log(frame, data))
        },
    )
}

/// The gateway's own log.
fn log(frame: &PageFrame, data: &DoctorPage) -> Markup {
    let lines: &[LogRow] = &data.log;
    html! {
        section aria-labelledby="log" {
            h2 id="log" { "Log of the gateway" }
            p.quiet { "The last lines, the newest first. In a terminal, " code { "dragoman logs -f" } " shows them with the output of the servers." }
            (chooser(route::DOCTOR, "log-lines", &select("log", "level", "Lines", data.log_level, &[
                ("", "Every line".to_owned()), ("warn", "Warnings and errors".to_owned()), ("error", "Errors".to_owned()),
            ])))
            div id="log-lines" {
                @if lines.is_empty() { p.quiet { @if data.log_level.is_empty() { "Nothing has been logged since the start." } @else { "No such line has been logged since the start." } } } @else { div.log role="group" tabindex="0" aria-label="Log of the gateway" {
                    @for line in shown(lines) { div {
                        (when(frame.now, line.at))
                        span.level.(severity_word(line.severity).1) { (line.level) }
                        @if let Some((name, href)) = &line.server { a href=(href) { (name) } }
                        code { (line.text) }
                    } }
                } }
                (left_out(lines))
            }
        }
    }
}

fn summary(data: &DoctorPage) -> Markup {
    let number = |severity| {
        data.groups.iter().flat_map(|group| &group.checks).filter(|check| check.severity == severity).count()
            as u64
    };
    let (bad, warnings) = (number(Severity::Bad), number(Severity::Warning));
    let (class, icon) = match (bad, warnings) {
        (0, 0) => ("good", Glyph::Good),
        (0, _) => ("warn", Glyph::Warning),
        _ => ("bad", Glyph::Bad),
    };
    html! {
        div.notice.(class) { (icon) div { p {
            @if bad + warnings == 0 { strong { "All is well. " } (counted(number(Severity::Good), "check", "checks")) " passed." }
            @else { strong { (counted(bad, "problem", "problems")) " and " (counted(warnings, "warning", "warnings")) ". " } "Each entry below tells you what to do." }
        } } }
    }
}

fn group(group: &CheckGroup, number: usize) -> Markup {
    let id = format!("group-{number}");
    html! {
        section aria-labelledby=(id) {
            h2 id=(id) { (group.title) }
            ul.advice {
                @for check in shown(&group.checks) {
                    @let (word, class) = severity_word(check.severity);
                    li.(class) {
                        (severity_icon(check.severity))
                        div { p { span.vh { (word) ": " } (check.text) } @if let Some(advice) = &check.advice { p.quiet { (advice) } } }
                        @if let Some(href) = &check.href { a.button.plain href=(href) { "Open" (Glyph::Go) } }
                    }
                }
            }
            (left_out(&group.checks))
        }
    }
}
