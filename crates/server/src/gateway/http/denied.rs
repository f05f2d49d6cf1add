//! Refusals at the door: said as the endpoint's dialect says them, or as the standard does (MCP 2025-11-25, authorization,
//! error handling; RFC 6750, section 3). It must not know credentials.

use std::time::Duration;

use engine::Condition;
use engine::access::Principal;
use engine::dialect::{Dialect, Trouble};
use engine::rate::Verdict;
use http::Response;
use http::header::{HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use transport::net::Body;

use super::entry::Entry;
use super::reply;
use super::{answer, limited};
use crate::auth::{Denied, NotAdmitted};
use crate::gateway::Shard;
use crate::gateway::dialect::{refuse, too_soon};

/// The reason why somebody is not let in.
pub(super) enum Shut {
    Denied(Denied),
    /// Too many from there were not let in: nobody has looked at the credential.
    TooSoon(Verdict),
}

impl From<NotAdmitted> for Shut {
    fn from(why: NotAdmitted) -> Self {
        match why {
            NotAdmitted::Denied(denied) => Self::Denied(denied),
            NotAdmitted::TooSoon(verdict) => Self::TooSoon(verdict),
        }
    }
}

/// The response to either, as the dialect says it, if there is one.
pub(super) fn shut(row: Option<&Dialect>, shut: &Shut) -> Response<Body> {
    match (shut, row) {
        (Shut::Denied(why), row) => denied(row, why),
        (Shut::TooSoon(verdict), Some(row)) => reply::said(refuse(row, &too_soon(verdict))),
        (Shut::TooSoon(verdict), None) => limited::refused(verdict, None),
    }
}

/// The response to somebody who is not let in, as the dialect says it, if there is one.
pub(super) fn denied(row: Option<&Dialect>, denied: &Denied) -> Response<Body> {
    let mut response = match row {
        Some(row) => {
            let challenge = denied.challenge.clone();
            reply::said(refuse(
                row,
                &Trouble { challenge, ..Trouble::new(denied.condition, &*denied.message) },
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

/// The refusal of a principal whose credential is good for other profiles alone.
pub(super) fn elsewhere(shard: &Shard, entry: &Entry) -> Option<Denied> {
    let profile = &shard.gateway.snapshot.profiles[entry.profile].slug;
    not_for(&entry.identity.principal, profile)
}

/// The same by the profile's name, whether or not there is one of this name.
pub(super) fn not_for(principal: &Principal, profile: &str) -> Option<Denied> {
    (!principal.may_enter(profile)).then(|| Denied {
        condition: Condition::Forbidden,
        message: format!("what you showed is not good for the profile {profile:?}"),
        challenge: None,
        retry_after: None,
    })
}
