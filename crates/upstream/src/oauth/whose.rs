//! Whose a consent is. It must not know how that was shown.

use std::fmt::Write as _;
use std::sync::Arc;

use aws_lc_rs::digest::{SHA256, digest};
use engine::access::{Principal, Scheme};

/// A caller whose consents are its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Whose {
    /// The principal's id.
    pub id: Arc<str>,
    /// How it shows who it is.
    pub scheme: Scheme,
}

impl Whose {
    /// The caller that has shown to be this principal.
    pub fn of(principal: &Principal) -> Self {
        Self { id: principal.id.clone(), scheme: principal.scheme }
    }

    /// Returns true if it is somebody in particular.
    pub fn is_known(&self) -> bool {
        self.scheme != Scheme::Anyone
    }

    /// A name for it, by which it is found and not known.
    pub(super) fn digest(&self) -> String {
        let bytes = digest(&SHA256, self.id.as_bytes());
        bytes.as_ref().iter().fold(String::with_capacity(64), |mut text, byte| {
            // Writing to a text does not fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}
