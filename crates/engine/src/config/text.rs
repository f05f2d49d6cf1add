//! A text out of the configuration that may hold secrets, together with the form of it that people may see.

use std::fmt;

use secrecy::{ExposeSecret, SecretString};

/// A value out of the configuration after `${…}` was filled in. What `Debug` and `Display` show is what was written in
/// the file, never what was filled in; of headers and environment variables they show no literal characters either.
#[derive(Clone)]
pub struct Text {
    value: SecretString,
    shown: Box<str>,
    /// The pieces that `${…}` filled in.
    filled: Vec<SecretString>,
}

/// Shorter pieces are no secrets, and would be found everywhere.
const LEAST_PIECE: usize = 4;

impl Text {
    /// A text that hides nothing.
    pub fn plain(value: &str) -> Self {
        Self::hidden(value, value)
    }

    /// A text that people see as `shown`.
    pub fn hidden(value: &str, shown: &str) -> Self {
        Self { value: SecretString::from(value), shown: shown.into(), filled: Vec::new() }
    }

    /// The same with the pieces that `${…}` filled in; those of fewer than four characters are left out.
    #[must_use]
    pub(super) fn filled_with(mut self, pieces: Vec<String>) -> Self {
        self.filled = pieces
            .into_iter()
            .filter(|piece| piece.chars().count() >= LEAST_PIECE)
            .map(SecretString::from)
            .collect();
        self
    }

    /// The same, seen by people as `shown`.
    #[must_use]
    pub(super) fn shown_as(mut self, shown: &str) -> Self {
        self.shown = shown.into();
        self
    }

    /// The pieces that `${…}` filled in, for whoever has to find them in other texts: those of at least four characters.
    pub fn filled(&self) -> impl Iterator<Item = &str> {
        self.filled.iter().map(ExposeSecret::expose_secret)
    }

    /// The real value, for the one place that needs it.
    pub fn expose(&self) -> &str {
        self.value.expose_secret()
    }

    /// The real value, still wrapped.
    pub fn secret(&self) -> &SecretString {
        &self.value
    }

    /// Is something hidden, so that nothing that was made of the value may be shown either?
    pub fn hides(&self) -> bool {
        self.expose() != self.shown()
    }

    /// The form that may be shown to people and written to logs.
    pub fn shown(&self) -> &str {
        &self.shown
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.expose() == other.expose() && self.shown == other.shown
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.shown, f)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}
