//! Who asks: authentication of clients. A request's `Authorization` header becomes a [`Principal`](engine::access::Principal),
//! or a refusal that says how to come in. What a principal may do is decided in `engine::access`; what other servers
//! get of a credential is decided by the configuration; how one is written, `engine::credential` knows.
//!
//! | file | is for |
//! |---|---|
//! | `authenticator` | the ways to come in, one after the other; what was found out is remembered for a short time |
//! | `digest`, `recent` | credentials as digests under a key of this process, and what is known of them |
//! | `near` | the same for what this thread saw a moment ago |
//! | `counted` | how many calls of a principal are in flight, whatever shows who it is |
//! | `keys` | API keys |
//! | `passwords` | names with passwords: who is asked, and what is remembered |
//! | `users` | names with Argon2 hashes |
//! | `site` | users of a WordPress site |
//! | `jwt/` | tokens that others sign |
//! | `protected`, `resource`, `challenge` | OAuth 2.1: this gateway as a protected resource (RFC 9728), and what a client is told |
//! | `denied` | refusals |
//! | `guesses` | wrong passwords, counted by client address |
//! | `moment` | when something is asked |
//! | `turns` | what costs much, a few at a time, with a share for each client address |
//! | `web` | the port to other servers |
//!
//! No credential is in any error, log line or `Debug` output: what may hold one shows nothing of itself.

mod authenticator;
mod challenge;
mod counted;
mod denied;
mod digest;
mod guesses;
mod jwt;
mod keys;
mod moment;
mod near;
mod passwords;
mod protected;
mod recent;
mod resource;
mod site;
mod turns;
mod users;

#[cfg(test)]
mod tests;

pub(crate) use authenticator::Authenticator;
pub(crate) use denied::{Denied, NotAdmitted};
pub(crate) use keys::{KeyBook, StoredKeys};

use moment::Moment;

/// Settings that cannot be; says which and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct NotSound(pub(crate) String);

impl From<digest::NoRandomness> for NotSound {
    fn from(error: digest::NoRandomness) -> Self {
        Self(error.to_string())
    }
}
