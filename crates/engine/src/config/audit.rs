//! `audit`: whether calls are written down, and what of them.

use std::time::Duration;

use schemars::JsonSchema;

use super::check::Flaw;
use super::parse::{Entry, Kind};
use super::pieces;
use super::read::Reader;
use super::text::Text;
use super::written;

const KEYS: &[&str] = &["file", "arguments", "redact", "keep"];
const SHORTEST: Duration = Duration::from_hours(1);
const LONGEST: Duration = Duration::from_hours(3650 * 24);

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
    /// Names of arguments whose values are never written down: a word covers every name that it is a part of, a pattern
    /// with `*` or `?` names that match as a whole. Only letters and digits count, in upper or lower case.
    #[schemars(with = "Option<written::OneOrMany<String>>", extend("default" = Audit::REDACT))]
    pub redact: Vec<String>,
    /// The time for which an entry is kept, as `30d` or `12h`.
    #[schemars(with = "Option<written::Time>", extend("default" = "30d"))]
    pub keep: Duration,
}

impl Audit {
    /// The file when nobody says otherwise.
    pub const FILE: &str = "audit.db";
    /// What is left out when nobody says otherwise.
    pub const REDACT: &[&str] =
        &["password", "passwd", "secret", "token", "authorization", "apikey", "api_key", "credential"];
    /// The time for which an entry is kept when nobody says otherwise.
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

/// `true`, `false`, or what differs from the defaults or from `base`.
pub(super) fn read(reader: &mut Reader<'_>, entry: &Entry, base: Option<Audit>) -> Option<Audit> {
    if let Kind::Scalar { .. } = &entry.value.kind {
        return reader.flag(&entry.value)?.then(|| base.unwrap_or_default());
    }
    let mut audit = base.unwrap_or_default();
    let mut fields = reader.fields(&entry.value, "true, false, or a mapping with `file`, `arguments`, …")?;
    if let Some(entry) = fields.take("file") {
        let file = reader.within("file", |reader| pieces::path(reader, entry));
        audit.file = file.unwrap_or(audit.file);
    }
    audit.arguments = reader.flag_in(&mut fields, "arguments", audit.arguments);
    if let Some(entry) = fields.take("redact") {
        audit.redact = pieces::texts(reader, entry, redacted);
    }
    audit.keep = pieces::time(reader, &mut fields, "keep", SHORTEST, LONGEST).unwrap_or(audit.keep);
    reader.refuse(&fields.rest(), KEYS);
    Some(audit)
}

fn redacted(word: &str) -> Result<String, Flaw> {
    if word.trim().is_empty() {
        return Err(Flaw::new("this would leave out every argument", "write a part of a name: password"));
    }
    Ok(word.to_ascii_lowercase())
}
