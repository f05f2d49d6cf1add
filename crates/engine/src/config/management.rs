//! `management`: whether servers and profiles can be changed over HTTP, and by whom.

use std::time::Duration;

use schemars::JsonSchema;

use super::access::{self, Who, WrittenWho};
use super::auth::Auth;
use super::parse::{Entry, Kind};
use super::rates;
use super::read::Reader;
use super::source::Span;
use super::written;

const KEYS: &[&str] = &["who", "rate"];

/// Changing servers and profiles over HTTP, below `/api`. Whoever may do that can start programs as the user whom Dragoman
/// runs as.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct Management {
    /// Who may; when left out, everybody whose credential is good for all profiles. It has to be said where people log in:
    /// where there are `auth.users`, `auth.site` or `auth.jwt`.
    #[schemars(with = "Option<WrittenWho>")]
    pub who: Option<Who>,
    /// The number of requests that one caller may send in `period`, and one address of those who are not
    /// let in.
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

/// Returns true if everybody who can log in, as people do, may change servers and so start programs: nobody says who may.
pub(super) fn is_for_every_login(management: Option<&Management>, auth: &Auth) -> bool {
    management.is_some_and(|management| management.who.is_none())
        && (!auth.users.is_empty() || auth.site.is_some() || !auth.jwt.is_empty())
}

/// Refuses what is for every login; `at` is what makes it so.
pub(super) fn check(reader: &mut Reader<'_>, management: Option<&Management>, auth: &Auth, at: &Span) {
    if !is_for_every_login(management, auth) {
        return;
    }
    let ways =
        [(!auth.users.is_empty(), "users"), (auth.site.is_some(), "site"), (!auth.jwt.is_empty(), "jwt")];
    let ways: Vec<String> =
        ways.iter().filter(|(is_there, _)| *is_there).map(|(_, way)| format!("`auth.{way}`")).collect();
    let message = format!(
        "everybody who can log in by {} may change servers here, and so start programs on this machine",
        ways.join(" or ")
    );
    reader.fault(at, message, "say who may: `management: { who: { user: [NAME] } }`");
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
