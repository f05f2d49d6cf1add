//! Longer texts: code, differences, messages, and texts to copy. This module must not know their meaning.

use super::figures::{bytes, counted, duration};
use super::icon::Glyph;
use crate::model::{Caller, DiffLine, DiffMark, ForeignText, MessageLane, PageFrame, WireMessage};
use maud::{Markup, html};

/// The maximum size of a comparison on a page, in bytes.
const MOST_DIFF: usize = 128 * 1024;

/// A text in a box that scrolls. `label` is read by screen readers.
pub(crate) fn code(label: &str, text: &ForeignText) -> Markup {
    html! { pre.code tabindex="0" role="group" aria-label=(label) { (text.block()) } }
}

/// A text in a box, with a button that copies it. The button appears if the script can copy, and if the text is
/// shown unchanged: without marks, and not cut.
pub(crate) fn snippet(id: &str, label: &str, text: &ForeignText) -> Markup {
    html! {
        div.snippet {
            pre.code id=(id) tabindex="0" role="group" aria-label=(label) { (text.block()) }
            (copy_button(id, label))
        }
    }
}

/// A short text with a button that copies it.
pub(crate) fn copyable(id: &str, label: &str, text: &ForeignText) -> Markup {
    html! { span.copyable { code id=(id) { (text.line()) } (copy_button(id, label)) } }
}

fn copy_button(id: &str, label: &str) -> Markup {
    html! { button.copy type="button" data-copy=(id) hidden aria-label=(format!("Copy: {label}")) { (Glyph::Copy) span.words { "Copy" } } }
}

/// A comparison of two texts. Each line begins with its mark, so color is not needed.
pub(crate) fn diff(label: &str, lines: &[DiffLine]) -> Markup {
    let fitting = fitting(lines);
    let left_out = (lines.len() - fitting.len()) as u64;
    html! {
        pre.code.diff tabindex="0" role="group" aria-label=(label) {
            @for line in fitting {
                @match line.mark {
                    DiffMark::Same => span { "  " (line.text.whole_line()) },
                    DiffMark::Added => ins { "+ " (line.text.whole_line()) },
                    DiffMark::Removed => del { "- " (line.text.whole_line()) },
                }
            }
            @if left_out > 0 { span.cut { "… " (counted(left_out, "more line", "more lines")) } }
        }
    }
}

/// Returns true if [`diff`] shows every line, and every line completely.
pub(crate) fn diff_fits(lines: &[DiffLine]) -> bool {
    fitting(lines).len() == lines.len() && lines.iter().all(|line| line.text.fits())
}

/// The lines of a comparison that fit into a page.
fn fitting(lines: &[DiffLine]) -> &[DiffLine] {
    let mut bytes = 0_usize;
    let fits = lines.iter().take_while(|line| {
        bytes = bytes.saturating_add(line.text.raw().len() + 8);
        bytes <= MOST_DIFF
    });
    &lines[..fits.count()]
}

/// Messages between client, Dragoman and server, in two columns: the client's side and the server's side.
pub(crate) fn messages(list: &[WireMessage]) -> Markup {
    html! {
        div.lanes {
            div.lane-heads aria-hidden="true" { span { "Client ↔ Dragoman" } span { "Dragoman ↔ server" } }
            ol.messages {
                @for (number, message) in list.iter().enumerate() {
                    li class=(if is_client_side(message.lane) { "client" } else { "server" }) {
                        details open[list.len() <= 8] data-key=(format!("message-{number}")) {
                            summary {
                                span.way { (way(message.lane)) }
                                code.title { (message.title.name()) }
                                span.quiet { "+" (duration(message.after_us)) " · " (bytes(message.bytes)) " · " (message.era.name()) }
                            }
                            (code("Message", &message.body))
                            @if message.cut { p.hint { "Only the beginning was kept." } }
                        }
                    }
                }
            }
        }
    }
}

fn is_client_side(lane: MessageLane) -> bool {
    matches!(lane, MessageLane::FromClient | MessageLane::ToClient)
}

fn way(lane: MessageLane) -> &'static str {
    match lane {
        MessageLane::FromClient => "client → Dragoman",
        MessageLane::ToServer => "Dragoman → server",
        MessageLane::FromServer => "server → Dragoman",
        MessageLane::ToClient => "Dragoman → client",
    }
}

/// A caller: the name of its key before the id.
pub(crate) fn caller(caller: &Caller) -> Markup {
    match &caller.key {
        Some(key) => {
            let id = ForeignText::from(caller.id.raw().replacen("key:", "key ", 1));
            html! { (key.name()) " " span.quiet { "(" (id.name()) ")" } }
        }
        None => caller.id.name(),
    }
}

/// A figure about earlier calls; a dash if calls are not recorded, since then nothing is known about them.
pub(crate) fn recorded(frame: &PageFrame, figure: &str) -> Markup {
    html! { @if frame.records_calls { (figure) } @else { span.quiet title="Calls are not recorded" { "–" span.vh { " (calls are not recorded)" } } } }
}

/// The remark in place of a list of earlier calls, if calls are not recorded.
pub(crate) fn not_recorded() -> Markup {
    html! { p.quiet { "Calls are not recorded. To see them here, set " code { "audit: true" } " in the configuration." } }
}
