//! Authentication of clients. A request's `Authorization` header becomes a [`Principal`](engine::access::Principal), or a
//! refusal that tells the client how to authenticate. `engine::access` decides what a principal may do; the configuration
//! decides which other servers receive a credential; `engine::credential` parses credentials.
//!
//! | file | is for |
//! |---|---|
//! | `authenticator` | tries the methods of authentication one by one; caches results for a short time |
//! | `digest`, `recent` | credentials as digests under a key of this process, and cached results |
//! | `results` | all cached results |
//! | `near` | the latest results of this thread |
//! | `counted` | the running calls of a principal, counted across all of its credentials |
//! | `keys` | API keys |
//! | `passwords` | names with passwords: chooses the method that checks them; cached results |
//! | `users` | names with Argon2 hashes |
//! | `site` | users of a WordPress site |
//! | `login` | people who have signed in, through the crate `login` |
//! | `jwt/` | tokens from issuers |
//! | `protected`, `resource`, `challenge` | OAuth 2.1: this gateway as a protected resource (RFC 9728), and challenges for clients |
//! | `denied` | refusals |
//! | `guesses` | wrong passwords, counted by client address |
//! | `moment` | the time of a request |
//! | `turns` | a queue for expensive checks: a few run at once, with a quota for each client address |
//! | `upstream::web` | the port to other servers |
//!
//! No error, log line or `Debug` output contains a credential: types that may hold one never print it.

mod authenticator;
mod challenge;
mod counted;
mod denied;
mod digest;
mod guesses;
mod jwt;
mod keys;
mod login;
mod logins;
mod moment;
mod near;
mod passwords;
mod protected;
mod recent;
mod resource;
mod results;
mod site;
mod turns;
mod users;

#[cfg(test)]
mod tests;

pub(crate) use authenticator::Authenticator;
pub use denied::{Denied, NotAdmitted};
pub(crate) use keys::{KeyBook, StoredKeys};
pub use logins::{LoginOutcome, Logins};

use moment::Moment;

/// An invalid setting, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct InvalidSetting(pub(crate) String);

impl From<digest::NoRandomness> for InvalidSetting {
    fn from(error: digest::NoRandomness) -> Self {
        Self(error.to_string())
    }
}
