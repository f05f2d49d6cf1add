//! The cap on the number of series in one metric family. Each server and each tool adds series, and a monitoring system keeps
//! every series in memory.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// The number of series that one family may still get.
#[derive(Debug)]
pub struct SeriesAllowance {
    most: AtomicUsize,
    used: AtomicUsize,
    refused: AtomicU64,
    round: AtomicU64,
}

impl SeriesAllowance {
    /// Creates the allowance of a family with at most `most` series.
    pub const fn new(most: usize) -> Self {
        Self {
            most: AtomicUsize::new(most),
            used: AtomicUsize::new(0),
            refused: AtomicU64::new(0),
            round: AtomicU64::new(1),
        }
    }

    /// Reserves this many series. Returns false if too few are left, and counts the refusal.
    pub fn take(&self, series: usize) -> bool {
        let most = self.most.load(Relaxed);
        let taken = self.used.fetch_update(Relaxed, Relaxed, |used| {
            let after = used.saturating_add(series);
            (after <= most).then_some(after)
        });
        if taken.is_err() {
            self.note_refused();
        }
        taken.is_ok()
    }

    /// Counts an event that has no series of its own.
    pub fn note_refused(&self) {
        self.refused.fetch_add(1, Relaxed);
    }

    /// Returns the number of events that were counted without a series of their own.
    pub fn refused(&self) -> u64 {
        self.refused.load(Relaxed)
    }

    /// Returns the number of the current round. A refusal is valid for one round: the next [`Self::recount`] may free series.
    pub fn round(&self) -> u64 {
        self.round.load(Relaxed)
    }

    /// Sets the cap, and the number of series that exist, after series were removed.
    pub fn recount(&self, most: usize, used: usize) {
        self.most.store(most, Relaxed);
        self.used.store(used, Relaxed);
        self.round.fetch_add(1, Relaxed);
    }
}
