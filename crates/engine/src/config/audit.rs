//! `audit`: whether calls are written down, and what of them.

use std::time::Duration;

use schemars::JsonSchema;

use super::schema::written;
use super::text::Text;

/// The record of all calls.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct Audit {
    /// The file; a relative path counts from the folder of kept state.
    #[schemars(with = "Option<String>", extend("default" = Audit::FILE))]
    pub file: Text,
    /// Write down the arguments of calls, too.
    #[schemars(with = "Option<written::Flag>", extend("default" = false))]
    pub arguments: bool,
    /// Parts of names of arguments whose values are never written down; upper and lower case do not matter.
    #[schemars(with = "Option<written::OneOrMany<String>>", extend("default" = Audit::REDACT))]
    pub redact: Vec<String>,
    /// How long an entry is kept, as `30d` or `12h`.
    #[schemars(with = "Option<written::Time>", extend("default" = "30d"))]
    pub keep: Duration,
}

impl Audit {
    /// The file when nobody says otherwise.
    pub const FILE: &str = "audit.db";
    /// What is left out when nobody says otherwise.
    pub const REDACT: &[&str] =
        &["password", "passwd", "secret", "token", "authorization", "apikey", "api_key", "credential"];
    /// How long an entry is kept when nobody says otherwise.
    pub const KEEP: Duration = Duration::from_hours(30 * 24);
}

impl Default for Audit {
    fn default() -> Self {
        Self {
            file: Text::plain(Self::FILE),
            arguments: false,
            redact: Self::REDACT.iter().map(|word| (*word).to_owned()).collect(),
            keep: Self::KEEP,
        }
    }
}
