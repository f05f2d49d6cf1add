//! `management`: changes to servers and profiles over HTTP, and the callers that may make them.

use std::time::Duration;

use crate::callers::access::CallerSelection;
use crate::callers::auth::Auth;
use crate::callers::rates::{Rate, RequestRate};
use crate::reading::reader::Reader;
use crate::reading::rows::section;
use crate::reading::spellings::{MergedSection, Optional};
use crate::syntax::source::Span;

section! {
    /// Changes to servers and profiles over HTTP, below `/api`. Callers that may make such changes can start programs with the
    /// rights of the user that runs Dragoman.
    pub struct Management: "true, false, or a mapping with `who` or `rate`" [
        /// The callers that may change servers and profiles. This key is required if people log in with `auth.users`,
        /// `auth.site`, `auth.login` or `auth.jwt`.
        "who" who: Option<CallerSelection> = Optional(MergedSection), absent "callers whose credentials are valid for all profiles";
        /// The maximum number of requests from one caller, and of failed logins from one address, within a period.
        "rate" rate: RequestRate = Rate { least: 1 },
            default RequestRate { count: 100, period: Duration::from_mins(1) };
    ]
}

/// Returns true if every user who can log in may change servers, and therefore start programs, because the
/// configuration does not restrict management.
pub(crate) fn is_for_every_login(management: Option<&Management>, auth: &Auth) -> bool {
    management.is_some_and(|management| management.who.is_none())
        && ways_to_log_in(auth).iter().any(|(is_there, _)| *is_there)
}

/// The keys of `auth` by which people log in with their own accounts, each with a flag that is true if it is
/// configured.
fn ways_to_log_in(auth: &Auth) -> [(bool, &'static str); 4] {
    [
        (!auth.users.is_empty(), "users"),
        (auth.site.is_some(), "site"),
        (auth.login.is_some(), "login"),
        (!auth.jwt.is_empty(), "jwt"),
    ]
}

/// Rejects management that is open to every login; `at` is the position to report.
pub(crate) fn check(reader: &mut Reader<'_>, management: Option<&Management>, auth: &Auth, at: &Span) {
    if !is_for_every_login(management, auth) {
        return;
    }
    let ways: Vec<String> = ways_to_log_in(auth)
        .iter()
        .filter(|(is_there, _)| *is_there)
        .map(|(_, way)| format!("`auth.{way}`"))
        .collect();
    let message = format!(
        "everybody who can log in through {} may change servers here, and can therefore start programs on this machine",
        ways.join(" or ")
    );
    reader.fault(at, message, "restrict this: `management: { who: { user: [NAME] } }`");
}
