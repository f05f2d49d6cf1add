//! Outcomes that were available immediately, for clients that wait for a task; kept until they are fetched, expire,
//! or are displaced.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use bytes::Bytes;
use jiff::Timestamp;
use proto::bridge::tasks::{Status, related_to};
use proto::json::quote;

/// Limits on the kept outcomes.
#[derive(Debug, Clone, Copy)]
pub struct HeldLimits {
    /// The maximum number of outcomes.
    pub count: usize,
    /// The maximum size of all outcomes together, in bytes.
    pub bytes: usize,
    /// The time for which each outcome is kept.
    pub lifetime: Duration,
}

#[derive(Debug)]
struct HeldOutcome {
    number: u64,
    outcome: Bytes,
    /// The time of the outcome's creation, in the form that clients get.
    time: String,
    until: Instant,
}

/// The outcomes of one gateway, the oldest first.
#[derive(Debug)]
pub struct HeldOutcomes {
    limits: HeldLimits,
    entries: VecDeque<HeldOutcome>,
    bytes: usize,
}

/// The polling interval that clients are given, in milliseconds.
const INTERVAL: u64 = 1000;

impl HeldOutcomes {
    /// Creates an empty table.
    pub fn new(limits: HeldLimits) -> Self {
        Self { limits, entries: VecDeque::new(), bytes: 0 }
    }

    /// Changes the time for which outcomes are kept; applies to future outcomes.
    pub fn set_lifetime(&mut self, lifetime: Duration) {
        self.limits.lifetime = lifetime;
    }

    /// Keeps an outcome, a JSON object, under a new number; the oldest outcomes are dropped if there are too many.
    /// `unix_ms` is the time in milliseconds since 1970. Returns `false` if the outcome alone is too large.
    pub fn keep(&mut self, number: u64, outcome: Bytes, now: Instant, unix_ms: u64) -> bool {
        if outcome.len() > self.limits.bytes || self.limits.count == 0 {
            return false;
        }
        self.sweep(now);
        while self.entries.len() >= self.limits.count || self.bytes + outcome.len() > self.limits.bytes {
            self.drop_oldest();
        }
        self.bytes += outcome.len();
        let until = now + self.limits.lifetime;
        self.entries.push_back(HeldOutcome { number, outcome, time: iso_time(unix_ms), until });
        true
    }

    /// Drops expired outcomes.
    pub fn sweep(&mut self, now: Instant) {
        while self.entries.front().is_some_and(|entry| entry.until <= now) {
            self.drop_oldest();
        }
    }

    fn drop_oldest(&mut self) {
        if let Some(entry) = self.entries.pop_front() {
            self.bytes -= entry.outcome.len();
        }
    }

    /// The number of bytes in the kept outcomes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    fn find(&self, number: u64) -> Option<&HeldOutcome> {
        self.entries.iter().find(|entry| entry.number == number)
    }

    /// The task that represents an outcome, a JSON object with the id `shown`; `None` if the outcome is no longer
    /// kept.
    pub fn task(&self, number: u64, shown: &str) -> Option<String> {
        let (time, status) = (&self.find(number)?.time, Status::Completed.json());
        let lifetime = self.limits.lifetime.as_millis();
        Some(format!(
            "{{\"taskId\":{},\"status\":{status},\"createdAt\":\"{time}\",\"lastUpdatedAt\":\"{time}\",\"ttl\":{lifetime},\"pollInterval\":{INTERVAL}}}",
            quote(shown)
        ))
    }

    /// The outcome, with the id `shown` of its task; `None` if the outcome is no longer kept.
    pub fn outcome(&self, number: u64, shown: &str) -> Option<Bytes> {
        Some(related_to(&self.find(number)?.outcome, quote(shown).as_bytes()))
    }
}

/// A point in time, given in milliseconds since 1970, as ISO 8601 text.
fn iso_time(unix_ms: u64) -> String {
    let at = i64::try_from(unix_ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
    format!("{:.3}", at.unwrap_or(Timestamp::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::disallowed_methods, reason = "a test has to begin at some time")]
    fn start() -> Instant {
        Instant::now()
    }

    const LIMITS: HeldLimits = HeldLimits { count: 2, bytes: 10, lifetime: Duration::from_secs(9) };

    #[test]
    fn what_is_kept_has_bounds() {
        let (mut held, now) = (HeldOutcomes::new(LIMITS), start());
        for (number, outcome) in [(1, "{}"), (2, "{}"), (3, "{ }")] {
            assert!(held.keep(number, Bytes::from_static(outcome.as_bytes()), now, 0));
        }
        assert_eq!((held.task(1, "x"), held.bytes()), (None, 5), "the oldest is gone");
        assert!(!held.keep(4, Bytes::from_static(b"{         }"), now, 0));
        assert!(held.keep(5, Bytes::from_static(b"{       }"), now, 0));
        assert_eq!((held.outcome(3, "x"), held.bytes()), (None, 9));
        held.sweep(now + Duration::from_secs(9));
        assert_eq!((held.outcome(5, "x"), held.bytes()), (None, 0));
    }

    #[test]
    fn an_outcome_is_told_as_a_task() {
        let mut held = HeldOutcomes::new(LIMITS);
        held.keep(7, Bytes::from_static(b"{\"a\":1e0}"), start(), 1_785_283_199_070);
        assert_eq!(
            held.task(7, "id").unwrap(),
            r#"{"taskId":"id","status":"completed","createdAt":"2026-07-28T23:59:59.070Z","lastUpdatedAt":"2026-07-28T23:59:59.070Z","ttl":9000,"pollInterval":1000}"#
        );
        assert_eq!(
            held.outcome(7, "id").unwrap(),
            r#"{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"id"}},"a":1e0}"#
        );
    }

    #[test]
    fn points_in_time_have_their_dates() {
        for (seconds, date) in [
            (0, "1970-01-01T00:00:00"),
            (951_782_400, "2000-02-29T00:00:00"),
            (1_767_225_599, "2025-12-31T23:59:59"),
            (4_107_542_400, "2100-03-01T00:00:00"),
        ] {
            assert_eq!(iso_time(seconds * 1000 + 70), format!("{date}.070Z"));
        }
    }
}
