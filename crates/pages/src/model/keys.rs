//! The API keys.

use super::{ForeignText, Millis, Paging};

/// The API keys.
#[derive(Debug, Clone, Default)]
pub struct KeysPage {
    /// The profile and the client for which a key is needed, if the operator is connecting a client. The query parameters are
    /// `profile` and `client`.
    pub connect: (ForeignText, ForeignText),
    /// True if the configuration accepts keys (`auth.keys`).
    pub accepted: bool,
    /// The filter: a part of the name or the prefix. The query parameter is `q`.
    pub q: ForeignText,
    /// The keys that match the filter, the newest first.
    pub rows: Vec<KeyRow>,
    /// The position of these rows in the whole list.
    pub paging: Paging,
    /// The profiles to choose from.
    pub profiles: Vec<ForeignText>,
    /// The key that was just created. The page shows it only this once.
    pub made: Option<NewKey>,
    /// The form that creates a key.
    pub form: KeyForm,
}

/// A key.
#[derive(Debug, Clone, Default)]
pub struct KeyRow {
    /// The rules in `access` that name the key, counted from 1.
    pub rules: Vec<u64>,
    /// The name.
    pub name: ForeignText,
    /// The first twelve characters.
    pub prefix: ForeignText,
    /// The profiles; none means all.
    pub profiles: Vec<ForeignText>,
    /// The time of creation.
    pub created: Millis,
    /// The expiry time, if the key expires.
    pub expires: Option<Millis>,
    /// The time of the last use.
    pub used: Option<Millis>,
    /// The status of the key.
    pub standing: KeyStanding,
    /// The number of calls in the last 24 hours.
    pub calls: u64,
}

/// The status of a key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum KeyStanding {
    /// The key can be used.
    #[default]
    Valid,
    /// The key has expired.
    Expired,
    /// The key was revoked.
    Revoked,
}

/// A key that was just created.
#[derive(Debug, Clone, Default)]
pub struct NewKey {
    /// The name.
    pub name: ForeignText,
    /// The whole key.
    pub text: String,
    /// True if the access rules do not let the key use anything.
    pub gets_nothing: bool,
}

/// The form that creates a key: fields `name`, `profile` (several), `expires`.
#[derive(Debug, Clone, Default)]
pub struct KeyForm {
    /// The name that was entered before.
    pub name: ForeignText,
    /// The duration or the date that was entered before.
    pub expires: ForeignText,
    /// The profiles that were chosen before.
    pub profiles: Vec<ForeignText>,
    /// The reason why the form was refused.
    pub fault: Option<ForeignText>,
}
