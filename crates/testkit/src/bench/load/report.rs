//! The outcome of a run.

use super::histogram::Histogram;
use std::time::Duration;

/// The counts of one client, or of all clients.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) took: Histogram,
    pub(super) errors: u64,
    pub(super) first_error: Option<String>,
}

impl Report {
    /// Counts a call without the correct answer.
    pub(super) fn fail(&mut self, why: String) {
        self.errors += 1;
        self.first_error.get_or_insert(why);
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.took.merge(&other.took);
        self.errors += other.errors;
        if self.first_error.is_none() {
            self.first_error = other.first_error;
        }
    }

    /// One line of JSON; times in µs.
    pub(super) fn line(&self, elapsed: Duration) -> String {
        let micros = |duration: Duration| (duration.as_secs_f64() * 1e7).round() / 10.0;
        let calls = self.took.count();
        // There are fewer than 2^52 calls.
        #[allow(clippy::cast_precision_loss)]
        let rate = calls as f64 / elapsed.as_secs_f64().max(1e-9);
        serde_json::json!({
            "calls": calls,
            "seconds": elapsed.as_secs_f64(),
            "calls_per_second": rate.round(),
            "p50_us": micros(self.took.percentile(50)),
            "p99_us": micros(self.took.percentile(99)),
            "max_us": micros(self.took.longest()),
            "errors": self.errors,
            "first_error": self.first_error,
        })
        .to_string()
    }
}
