//! Names that other keys refer to: servers, profiles and dialects. This module must not know how they are read.

use indexmap::IndexSet;

use crate::values::suggest;
use crate::values::text::Text;
use crate::values::wording::clip;

/// The maximum number of names that a fault lists.
const MOST_LISTED: usize = 16;

/// A kind of name that other keys refer to.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ReferenceKind {
    Server,
    Profile,
    Dialect,
}

impl ReferenceKind {
    pub(crate) fn word(self) -> &'static str {
        ["server", "profile", "dialect"][self as usize]
    }
}

/// The known names, including those of values that could not be read; otherwise, these would be reported as
/// unknown.
#[derive(Default)]
pub(crate) struct KnownNames([IndexSet<String>; 3]);

impl KnownNames {
    /// All names of a kind.
    pub(crate) fn all(&self, kind: ReferenceKind) -> &IndexSet<String> {
        &self.0[kind as usize]
    }

    /// Adds names of one kind to the known ones.
    pub(crate) fn add(&mut self, kind: ReferenceKind, names: impl IntoIterator<Item = String>) {
        self.0[kind as usize].extend(names);
    }

    /// A flaw that reports an unknown server, profile or dialect and suggests the name that was probably meant;
    /// `None` for a known name.
    pub(crate) fn unknown(&self, name: &Text, kind: ReferenceKind) -> Option<(String, String)> {
        let (names, what) = (self.all(kind), kind.word());
        if names.contains(name.expose()) {
            return None;
        }
        let help = suggest::or(name.expose(), names.iter().map(String::as_str), || {
            if names.is_empty() {
                return format!("there is no {what} yet: add one, or remove this");
            }
            let mut listed: Vec<String> = names.iter().take(MOST_LISTED).map(|name| clip(name)).collect();
            listed.extend((names.len() > MOST_LISTED).then(|| "…".to_owned()));
            format!("available: {}", listed.join(", "))
        });
        Some((format!("there is no {what} `{}`", clip(name.shown())), help))
    }
}
