//! Durations, counted by range. An observation costs two atomic additions. This module must not know what is measured.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

const MS: u64 = 1_000_000;
const S: u64 = 1_000 * MS;

/// The upper bounds for operations, in nanoseconds: the buckets of the OpenTelemetry conventions for MCP.
pub const OPERATION_BOUNDS: &[u64] = &[
    10 * MS,
    20 * MS,
    50 * MS,
    100 * MS,
    200 * MS,
    500 * MS,
    S,
    2 * S,
    5 * S,
    10 * S,
    30 * S,
    60 * S,
    120 * S,
    300 * S,
];

/// The upper bounds for the gateway's own share of an operation, in nanoseconds.
pub const OVERHEAD_BOUNDS: &[u64] =
    &[50_000, 100_000, 250_000, 500_000, MS, 2_500_000, 5 * MS, 10 * MS, 25 * MS, 50 * MS, 100 * MS];

/// A histogram of durations.
#[derive(Debug)]
pub struct DurationHistogram {
    bounds: &'static [u64],
    /// One count for each bound, and one for longer durations.
    counts: Box<[AtomicU64]>,
    nanoseconds: AtomicU64,
}

/// The figures of a histogram at one point in time.
#[derive(Debug, Clone, PartialEq)]
pub struct HistogramFigures {
    /// The sum of all durations, in seconds.
    pub sum: f64,
    /// The number of durations.
    pub count: u64,
    /// The upper bounds in seconds, the last one infinite, each with the number of durations between the previous bound and
    /// this one.
    pub buckets: Vec<(f64, u64)>,
}

impl DurationHistogram {
    /// Creates an empty histogram with these upper bounds in nanoseconds, in rising order.
    pub fn new(bounds: &'static [u64]) -> Self {
        let counts = (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect();
        Self { bounds, counts, nanoseconds: AtomicU64::new(0) }
    }

    /// Counts a duration.
    pub fn observe(&self, duration: Duration) {
        let nanoseconds = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        // Most durations are short, so the first bounds are compared first.
        let at = self.bounds.iter().position(|bound| nanoseconds <= *bound).unwrap_or(self.bounds.len());
        self.counts[at].fetch_add(1, Relaxed);
        self.nanoseconds.fetch_add(nanoseconds, Relaxed);
    }

    /// Returns the current figures.
    pub fn figures(&self) -> HistogramFigures {
        let bounds = self.bounds.iter().map(|bound| seconds(*bound)).chain([f64::INFINITY]);
        let buckets: Vec<(f64, u64)> =
            bounds.zip(self.counts.iter().map(|count| count.load(Relaxed))).collect();
        HistogramFigures {
            sum: seconds(self.nanoseconds.load(Relaxed)),
            count: buckets.iter().map(|(_, count)| count).sum(),
            buckets,
        }
    }
}

/// Returns nanoseconds as seconds.
#[expect(clippy::cast_precision_loss, reason = "a sum of durations needs no more than 53 bits")]
pub(super) fn seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e9
}
