//! Refusals of callers, in the form of the endpoint's dialect or of the standard (MCP 2025-11-25, authorization, error
//! handling; RFC 6750, section 3). This module must not know credentials.

use std::time::Duration;

use engine::Condition;
use engine::access::{Principal, Scheme};
use engine::dialect::{Dialect, DialectFault};
use engine::rate::Verdict;
use http::Response;
use http::header::{HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use transport::net::Body;

use super::entry::AdmittedRequest;
use super::reply;
use super::{answer, limited};
use crate::admission::auth::{Denied, NotAdmitted};
use crate::front::dialect::{refuse, too_soon};
use crate::process::Shard;

/// The reason why a caller is not admitted.
pub enum EntryRefused {
    /// The credential was refused.
    Denied(Denied),
    /// Too many attempts from this address have failed; the credential was not checked.
    TooSoon(Verdict),
}

impl From<NotAdmitted> for EntryRefused {
    fn from(why: NotAdmitted) -> Self {
        match why {
            NotAdmitted::Denied(denied) => Self::Denied(denied),
            NotAdmitted::TooSoon(verdict) => Self::TooSoon(verdict),
        }
    }
}

/// Returns the response for either reason, in the form of the endpoint's dialect, if the endpoint has one.
pub fn refuse_entry(row: Option<&Dialect>, refused: &EntryRefused) -> Response<Body> {
    match (refused, row) {
        (EntryRefused::Denied(why), row) => denied(row, why),
        (EntryRefused::TooSoon(verdict), Some(row)) => reply::response(refuse(row, &too_soon(verdict))),
        (EntryRefused::TooSoon(verdict), None) => limited::refused(verdict, None),
    }
}

/// Returns the response to a caller that is not admitted, in the form of the endpoint's dialect, if the endpoint has
/// one.
pub(super) fn denied(row: Option<&Dialect>, denied: &Denied) -> Response<Body> {
    let mut response = match row {
        Some(row) => {
            let challenge = denied.challenge.clone();
            reply::response(refuse(
                row,
                &DialectFault { challenge, ..DialectFault::new(denied.condition, &*denied.message) },
            ))
        }
        None => answer::refusal(denied.status(), &denied.message),
    };
    let headers = response.headers_mut();
    if let Some(value) = denied.challenge.as_ref().and_then(|text| HeaderValue::from_str(text).ok()) {
        headers.insert(WWW_AUTHENTICATE, value);
    }
    if let Some(after) = denied.retry_after {
        headers.insert(RETRY_AFTER, HeaderValue::from(after.max(Duration::from_secs(1)).as_secs()));
    }
    response
}

/// Returns a refusal if the caller's credential is valid only for other profiles than the one at `path`.
pub(super) fn elsewhere(shard: &Shard, entry: &AdmittedRequest, path: &str) -> Option<EntryRefused> {
    let profile = &shard.gateway.snapshot.profiles[entry.profile].slug;
    not_for(shard, &entry.identity.principal, (profile, path))
}

/// Returns a refusal if the principal's credential is not valid for the profile with this name, at this path. The profile
/// may not exist.
pub(super) fn not_for(
    shard: &Shard,
    principal: &Principal,
    (profile, path): (&str, &str),
) -> Option<EntryRefused> {
    if principal.may_enter(profile) {
        return None;
    }
    if principal.scheme == Scheme::Login {
        return Some(shard.door.for_other_endpoint(path).into());
    }
    Some(EntryRefused::Denied(Denied {
        condition: Condition::Forbidden,
        message: format!("these credentials are not valid for the profile {profile:?}"),
        challenge: None,
        retry_after: None,
    }))
}
