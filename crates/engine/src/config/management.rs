//! `management`: whether servers and profiles can be changed over HTTP, and by whom.

use std::time::Duration;

use schemars::JsonSchema;

use super::access::{self, Who, WrittenWho};
use super::parse::{Entry, Kind};
use super::rates;
use super::read::Reader;
use super::schema::written;

const KEYS: &[&str] = &["who", "rate"];

/// Changing servers and profiles over HTTP, below `/api`. Whoever may do that can start programs as the user whom Dragoman
/// runs as.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct Management {
    /// Who may; when left out, everybody whose credential is good for all profiles.
    #[schemars(with = "Option<WrittenWho>")]
    pub who: Option<Who>,
    /// How many requests are taken from one address in which time.
    #[schemars(rename = "rate", with = "Option<written::Rate>", extend("default" = "100/1m"))]
    pub count: u32,
    /// The time of `count`.
    #[schemars(skip)]
    pub period: Duration,
}

impl Default for Management {
    fn default() -> Self {
        Self { who: None, count: 100, period: Duration::from_mins(1) }
    }
}

/// `true`, `false`, or what differs from the defaults or from `base`.
pub(super) fn read(reader: &mut Reader<'_>, entry: &Entry, base: Option<Management>) -> Option<Management> {
    if let Kind::Scalar { .. } = &entry.value.kind {
        return reader.flag(&entry.value)?.then(|| base.unwrap_or_default());
    }
    let mut management = base.unwrap_or_default();
    let mut fields = reader.fields(&entry.value, "true, false, or a mapping with `who` or `rate`")?;
    if let Some(entry) = fields.take("who") {
        management.who = Some(reader.within("who", |reader| access::read_who(reader, &entry.value)));
    }
    if let Some(entry) = fields.take("rate") {
        let rate = reader.within("rate", |reader| rates::read_rate(reader, &entry.value, 1));
        (management.count, management.period) = rate.unwrap_or((management.count, management.period));
    }
    reader.refuse(&fields.rest(), KEYS);
    Some(management)
}
