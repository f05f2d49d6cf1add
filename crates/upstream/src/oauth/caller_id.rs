//! The owner of a consent. It must not know how the owner authenticates.

use std::fmt::Write as _;
use std::sync::Arc;

use aws_lc_rs::digest::{SHA256, digest};
use engine::access::{Principal, Scheme};

/// A caller with its own consents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallerId {
    /// The principal's id.
    pub id: Arc<str>,
    /// The scheme by which the principal authenticates.
    pub scheme: Scheme,
}

impl CallerId {
    /// Returns the caller that this principal is.
    pub fn of(principal: &Principal) -> Self {
        Self { id: principal.id.clone(), scheme: principal.scheme }
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
