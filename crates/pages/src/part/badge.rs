//! States as an icon and a word. Color only repeats what the word says.

use super::icon::Glyph;
use crate::model::{DefinedIn, DefinitionState, Outcome, ServerState, Severity, ToolHints};
use maud::{Markup, html};

/// The color of a badge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Good,
    Warn,
    Bad,
    Quiet,
    Accent,
}

impl Tone {
    /// The class of the style sheet.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Warn => "warn",
            Self::Bad => "bad",
            Self::Quiet => "plain",
            Self::Accent => "accent",
        }
    }
}

/// A badge.
pub(crate) fn badge(tone: Tone, icon: Glyph, word: &str) -> Markup {
    html! { span.badge.(tone.class()) { (icon) (word) } }
}

/// The state of a server.
pub(crate) fn server_badge(state: ServerState) -> Markup {
    let (tone, icon) = match state {
        ServerState::Ready => (Tone::Good, Glyph::Good),
        ServerState::Starting | ServerState::Listing => (Tone::Accent, Glyph::Busy),
        ServerState::Resting => (Tone::Quiet, Glyph::Resting),
        ServerState::Degraded => (Tone::Warn, Glyph::Warning),
        ServerState::BackingOff | ServerState::Unreachable => (Tone::Bad, Glyph::Bad),
        ServerState::AuthRequired => (Tone::Warn, Glyph::Lock),
        ServerState::PerCaller => (Tone::Good, Glyph::Login),
        ServerState::Leaving | ServerState::Disabled => (Tone::Quiet, Glyph::Off),
    };
    badge(tone, icon, state_name(state))
}

/// The state of a server in words.
pub(crate) fn state_name(state: ServerState) -> &'static str {
    match state {
        ServerState::Starting => "Starting",
        ServerState::Listing => "Listing",
        ServerState::Ready => "Ready",
        ServerState::Resting => "Resting",
        ServerState::Degraded => "Degraded",
        ServerState::BackingOff => "Backing off",
        ServerState::Unreachable => "Unreachable",
        ServerState::AuthRequired => "Login required",
        ServerState::PerCaller => "Login per caller",
        ServerState::Leaving => "Leaving",
        ServerState::Disabled => "Disabled",
    }
}

/// The outcome of a call.
pub(crate) fn outcome_badge(outcome: Outcome) -> Markup {
    match outcome {
        Outcome::Ok => badge(Tone::Good, Glyph::Check, "ok"),
        Outcome::Error => badge(Tone::Bad, Glyph::Bad, "error"),
        Outcome::Denied => badge(Tone::Warn, Glyph::Deny, "denied"),
        Outcome::Unknown => badge(Tone::Quiet, Glyph::Unknown, "unknown"),
    }
}

/// The relation of a tool to its approved definition.
pub(crate) fn definition_badge(state: DefinitionState) -> Markup {
    match state {
        DefinitionState::Changed => badge(Tone::Warn, Glyph::Compare, "changed"),
        DefinitionState::New => badge(Tone::Accent, Glyph::Add, "new"),
        DefinitionState::Vanished => badge(Tone::Quiet, Glyph::Hidden, "vanished"),
    }
}

/// The annotations of a tool. If the server does not state an annotation, the default of the specification applies.
/// By default, every tool may reach beyond its server, so this annotation is shown only if the server states it.
pub(crate) fn hints(hints: ToolHints) -> Markup {
    html! {
        span.badges {
            @if hints.read_only == Some(true) {
                (badge(Tone::Good, Glyph::Shown, "reads"))
            } @else if hints.destructive.unwrap_or(true) {
                (badge(Tone::Warn, Glyph::Warning, "may destroy"))
            } @else {
                (badge(Tone::Quiet, Glyph::Edit, "writes"))
            }
            @if hints.read_only != Some(true) && hints.idempotent == Some(true) { (badge(Tone::Quiet, Glyph::Refresh, "repeatable")) }
            @match hints.open_world {
                Some(true) => (badge(Tone::Quiet, Glyph::Up, "reaches outside")),
                Some(false) => (badge(Tone::Quiet, Glyph::Server, "stays inside")),
                None => "",
            }
        }
    }
}

/// The place where something is defined.
pub(crate) fn defined_in(place: DefinedIn) -> Markup {
    let word = match place {
        DefinedIn::File => "file",
        DefinedIn::Api => "added here",
        DefinedIn::Preset => "preset",
    };
    html! { span.quiet { (word) } }
}

/// The icon of a message.
pub(crate) fn severity_icon(severity: Severity) -> Glyph {
    match severity {
        Severity::Good => Glyph::Good,
        Severity::Note => Glyph::Note,
        Severity::Warning => Glyph::Warning,
        Severity::Bad => Glyph::Bad,
    }
}

/// The word before a message, and the class of its color.
pub(crate) fn severity_word(severity: Severity) -> (&'static str, &'static str) {
    match severity {
        Severity::Good => ("Done", "good"),
        Severity::Note => ("Note", "note"),
        Severity::Warning => ("Warning", "warn"),
        Severity::Bad => ("Problem", "bad"),
    }
}
