//! A text from the configuration that may contain secrets, together with the form that people may see.

use std::fmt;

use secrecy::{ExposeSecret, SecretString};

/// A value from the configuration after `${…}` was filled in. `Debug` and `Display` show the text as written in the
/// file, never the filled-in values; for headers and environment variables, they show no literal characters either.
#[derive(Clone)]
pub struct Text {
    value: SecretString,
    shown: Box<str>,
    /// The values that were filled in for `${…}`.
    filled: Vec<SecretString>,
}

/// The minimum length of a filled-in value that can be searched for: shorter values are not secrets, and would match everywhere.
const LEAST_PIECE: usize = 4;

impl Text {
    /// A text without secrets.
    pub fn plain(value: &str) -> Self {
        Self::hidden(value, value)
    }

    /// A text that people see as `shown`.
    pub fn hidden(value: &str, shown: &str) -> Self {
        Self { value: SecretString::from(value), shown: shown.into(), filled: Vec::new() }
    }

    /// The same text with the values that were filled in for `${…}`; values of fewer than four characters are left out.
    #[must_use]
    pub(crate) fn filled_with(mut self, pieces: Vec<String>) -> Self {
        self.filled = pieces
            .into_iter()
            .filter(|piece| piece.chars().count() >= LEAST_PIECE)
            .map(SecretString::from)
            .collect();
        self
    }

    /// The same text, which people see as `shown`.
    #[must_use]
    pub(crate) fn shown_as(mut self, shown: &str) -> Self {
        self.shown = shown.into();
        self
    }

    /// A relative path as a path below `folder`; people still see it as it was written.
    #[must_use]
    pub(crate) fn in_folder(self, folder: &std::path::Path) -> Self {
        let path = folder.join(self.expose()).display().to_string();
        Self { value: SecretString::from(path), ..self }
    }

    /// The values of at least four characters that were filled in for `${…}`, so that other code can find them in other
    /// texts.
    pub fn filled(&self) -> impl Iterator<Item = &str> {
        self.filled.iter().map(ExposeSecret::expose_secret)
    }

    /// The real value, for the code that needs it.
    pub fn expose(&self) -> &str {
        self.value.expose_secret()
    }

    /// The real value, still wrapped as a secret.
    pub fn secret(&self) -> &SecretString {
        &self.value
    }

    /// Returns true if the text has a hidden part; values derived from such a text must not be shown either.
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

impl Eq for Text {}

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
