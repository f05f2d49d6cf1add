//! The credentials that sites accepted a short time ago. This module must not know how sites are asked.

use std::time::Duration;

use super::expiring::ExpiringMap;

/// Digests of the credentials that sites accepted recently.
#[derive(Default)]
pub(crate) struct AcceptedCredentials(ExpiringMap<[u8; 32], ()>);

impl AcceptedCredentials {
    pub(super) fn is(&self, digest: &[u8; 32], now: Duration) -> bool {
        self.0.get(digest, now).is_some()
    }

    pub(super) fn put(&self, digest: [u8; 32], now: Duration, until: Duration) {
        self.0.put(digest, (), now, until);
    }

    pub(super) fn forget(&self, digest: &[u8; 32]) {
        self.0.remove(digest);
    }
}
