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
    /// The way in which it authenticates.
    pub scheme: Scheme,
}

impl CallerId {
    /// The caller with this principal.
    pub fn of(principal: &Principal) -> Self {
        Self { id: principal.id.clone(), scheme: principal.scheme }
    }

    /// Returns true if the caller is authenticated.
    pub fn is_known(&self) -> bool {
        self.scheme != Scheme::Anyone
    }

    /// A name under which it is found, and which reveals nothing.
    pub(super) fn digest(&self) -> String {
        let bytes = digest(&SHA256, self.id.as_bytes());
        bytes.as_ref().iter().fold(String::with_capacity(64), |mut text, byte| {
            // Writing to a text does not fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}
