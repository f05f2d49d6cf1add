//! The credentials that sites accepted a short time ago. This module must not know how sites are asked.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The largest number of remembered credentials.
const MOST: usize = 4096;

/// Digests of the credentials that sites accepted recently.
#[derive(Default)]
pub(crate) struct AcceptedCredentials(Mutex<HashMap<[u8; 32], Duration>>);

impl AcceptedCredentials {
    pub(super) fn is(&self, digest: &[u8; 32], now: Duration) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(digest).is_some_and(|until| *until > now)
    }

    pub(super) fn put(&self, digest: [u8; 32], now: Duration, until: Duration) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST && !known.contains_key(&digest) {
            known.retain(|_, until| *until > now);
            // Forgetting the credentials costs only one more request.
            if known.len() >= MOST {
                known.clear();
            }
        }
        known.insert(digest, until);
    }

    pub(super) fn forget(&self, digest: &[u8; 32]) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(digest);
    }
}
