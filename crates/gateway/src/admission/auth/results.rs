//! Recent results of authentication: by credential, and by principal. This module must not know how credentials are
//! checked.

use std::sync::Arc;

use engine::access::Principal;

use super::InvalidSetting;
use super::counted::CallCounts;
use super::denied::CredentialDenial;
use super::digest::Digests;
use super::near::Near;
use super::recent::Recent;

/// The number of credentials whose principals are remembered.
const MOST_KNOWN: usize = 8192;
/// The number of remembered combinations of a name and a wrong password.
const MOST_WRONG: usize = 4096;

/// The results that all threads share, and the handle to each thread's own results.
pub(super) struct RecentResults {
    pub(super) digests: Digests,
    pub(super) near: Near,
    pub(super) known: Recent<Arc<Principal>>,
    pub(super) wrong: Recent<CredentialDenial>,
    /// The number of running calls of each principal.
    pub(super) counted: CallCounts,
}

impl RecentResults {
    pub(super) fn new() -> Result<Self, InvalidSetting> {
        Ok(Self {
            digests: Digests::new()?,
            near: Near::new()?,
            known: Recent::new(MOST_KNOWN),
            wrong: Recent::new(MOST_WRONG),
            counted: CallCounts::default(),
        })
    }
}
