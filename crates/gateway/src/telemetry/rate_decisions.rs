//! The decisions of rate limits, counted by limit. This module must not know how a limit decides.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The decisions of several limits, in their order.
pub struct RateDecisions(Box<[(String, [AtomicU64; 2])]>);

impl RateDecisions {
    /// Creates counts for the limits with these names.
    pub(crate) fn new(names: impl Iterator<Item = String>) -> Self {
        Self(names.map(|name| (name, Default::default())).collect())
    }

    /// Counts a decision of the limit with the index `place`.
    pub(crate) fn count(&self, place: usize, is_allowed: bool) {
        if let Some((_, counts)) = self.0.get(place) {
            counts[usize::from(is_allowed)].fetch_add(1, Relaxed);
        }
    }

    /// Returns the name of each limit, with the numbers of requests that it allowed and refused.
    pub fn each(&self) -> impl Iterator<Item = (&str, u64, u64)> {
        self.0
            .iter()
            .map(|(name, [refused, allowed])| (name.as_str(), allowed.load(Relaxed), refused.load(Relaxed)))
    }
}
