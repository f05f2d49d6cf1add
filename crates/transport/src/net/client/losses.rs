//! The connections that upstreams have closed in the middle of a request, counted for all threads together. When a process
//! ends, the system closes its connections one after another, so the others still look open for a moment: a request on
//! one of them would be lost as well. This module must not know how connections are kept.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::limits::MOST_ORIGINS;
use super::route::OriginKey;

/// The counts of all origins of a client and its siblings.
#[derive(Default)]
pub(super) struct Losses(Mutex<HashMap<OriginKey, LossCount>>);

/// The number of connections to one origin that were lost in the middle of a request. Clones share the number.
#[derive(Clone, Default)]
pub(super) struct LossCount(Arc<AtomicU64>);

impl Losses {
    /// Returns the count of this origin. Counts that no other origin uses are removed above [`MOST_ORIGINS`].
    pub(super) fn of(&self, origin: &OriginKey) -> LossCount {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.len() >= MOST_ORIGINS {
            counts.retain(|_, count| Arc::strong_count(&count.0) > 1);
        }
        counts.entry(origin.clone()).or_default().clone()
    }
}

impl LossCount {
    /// Counts a lost connection.
    pub(super) fn add(&self) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }

    /// Returns the number of lost connections.
    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}
