//! The owner of a consent. This module must not know how the owner authenticates.

use std::fmt::Write as _;
use std::sync::Arc;

use aws_lc_rs::digest::{SHA256, digest};
use engine::access::{Principal, Scheme};
use engine::passed_headers::PassedHeaders;

/// A caller with its own consents, or with its own values of passed headers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CallerId {
    /// The principal's id; empty for a caller that has no consents.
    pub id: Arc<str>,
    /// The scheme by which the principal authenticates.
    pub scheme: Scheme,
    /// The headers of the caller's requests that are passed on to servers.
    pub passed: PassedHeaders,
}

impl CallerId {
    /// Returns this principal as a caller.
    pub fn of(principal: &Principal) -> Self {
        Self { id: principal.id.clone(), scheme: principal.scheme, passed: PassedHeaders::default() }
    }

    /// Returns a caller that has no consents, with these headers.
    pub fn stranger(passed: PassedHeaders) -> Self {
        Self { id: "".into(), scheme: Scheme::Anyone, passed }
    }

    /// Returns the same caller with these headers.
    #[must_use]
    pub fn passing(self, passed: PassedHeaders) -> Self {
        Self { passed, ..self }
    }

    /// Returns true for a caller that has no consents.
    pub fn is_stranger(&self) -> bool {
        self.id.is_empty()
    }

    /// Returns true if the caller is authenticated.
    pub fn is_known(&self) -> bool {
        self.scheme != Scheme::Anyone
    }

    /// Returns a name for stored data of this caller; the name reveals nothing about the caller.
    pub(super) fn digest(&self) -> String {
        let bytes = digest(&SHA256, self.id.as_bytes());
        bytes.as_ref().iter().fold(String::with_capacity(64), |mut text, byte| {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}
