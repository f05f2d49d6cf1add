//! The circuit breaker of one server: counts failed client requests, and decides when no more requests are sent. This
//! module must not know what failed, or read a clock.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The number of consecutive failures that opens the breaker.
const IN_A_ROW: u32 = 5;

/// The length of the window in which requests are counted.
const WINDOW: Duration = Duration::from_secs(10);

/// The minimum number of requests in the window at which a failure rate of 50 % opens the breaker.
const ENOUGH: u32 = 20;

/// The requests during one second.
#[derive(Debug)]
struct Second {
    began: Instant,
    good: u32,
    failed: u32,
}

/// The latest requests. Successful ones are counted only for a short time after a failure.
#[derive(Debug, Default)]
pub(super) struct Breaker {
    in_a_row: u32,
    /// The counts by second; at most one entry more than the window has seconds.
    seconds: VecDeque<Second>,
}

impl Breaker {
    /// Counts a request that was answered.
    pub(super) fn good(&mut self, now: Instant) {
        self.in_a_row = 0;
        if !self.is_calm(now) {
            let second = self.second(now);
            second.good = second.good.saturating_add(1);
        }
    }

    /// Counts a request that was not answered. Returns the reason to send no more requests, if there is one.
    pub(super) fn failed(&mut self, now: Instant) -> Option<String> {
        self.in_a_row = self.in_a_row.saturating_add(1);
        let second = self.second(now);
        second.failed = second.failed.saturating_add(1);
        if self.in_a_row >= IN_A_ROW {
            return Some(format!("{} requests in a row failed", self.in_a_row));
        }
        let failed: u32 = self.seconds.iter().map(|second| second.failed).sum();
        let all = self.seconds.iter().map(|second| second.good).sum::<u32>().saturating_add(failed);
        let is_too_much = all >= ENOUGH && failed.saturating_mul(2) >= all;
        is_too_much.then(|| format!("{failed} of the last {all} requests failed"))
    }

    /// Starts counting again from zero.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }

    /// Returns true if no request has failed for a while.
    pub(super) fn is_calm(&self, now: Instant) -> bool {
        let is_recent = |second: &Second| now.saturating_duration_since(second.began) < WINDOW;
        !self.seconds.iter().any(|second| second.failed > 0 && is_recent(second))
    }

    fn second(&mut self, now: Instant) -> &mut Second {
        let age = |second: &Second| now.saturating_duration_since(second.began);
        while self.seconds.front().is_some_and(|second| age(second) >= WINDOW) {
            self.seconds.pop_front();
        }
        if self.seconds.back().is_none_or(|second| age(second) >= Duration::from_secs(1)) {
            self.seconds.push_back(Second { began: now, good: 0, failed: 0 });
        }
        let last = self.seconds.len() - 1;
        &mut self.seconds[last]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(start: Instant, millis: u64) -> Instant {
        start + Duration::from_millis(millis)
    }

    #[test]
    fn five_in_a_row_are_too_many() {
        let (mut breaker, now) = (Breaker::default(), Instant::now());
        for _ in 0..3 {
            assert!((0..4).all(|_| breaker.failed(now).is_none()));
            breaker.good(now);
        }
        assert!((0..4).all(|_| breaker.failed(now).is_none()));
        assert_eq!(breaker.failed(now).as_deref(), Some("5 requests in a row failed"));
        breaker.reset();
        assert!(breaker.is_calm(now) && breaker.failed(now).is_none());
    }

    #[test]
    fn half_of_many_are_too_many_within_ten_seconds() {
        let (mut breaker, start) = (Breaker::default(), Instant::now());
        for turn in 0..9 {
            assert!(breaker.failed(at(start, turn * 100)).is_none(), "{turn}");
            breaker.good(at(start, turn * 100));
        }
        breaker.good(at(start, 950));
        assert_eq!(breaker.failed(at(start, 1000)).as_deref(), Some("10 of the last 20 requests failed"));

        let mut breaker = Breaker::default();
        for turn in 0..1000 {
            assert!(breaker.failed(at(start, turn * 2000)).is_none(), "seldom enough");
            breaker.good(at(start, turn * 2000 + 1));
            assert!(breaker.seconds.len() <= 11);
        }
        assert!(!breaker.is_calm(at(start, 999 * 2000 + 9000)) && breaker.is_calm(at(start, 1009 * 2000)));
    }

    #[test]
    fn one_in_three_is_not() {
        let (mut breaker, start) = (Breaker::default(), Instant::now());
        for turn in 0..1000 {
            let now = at(start, turn * 10);
            assert!(breaker.failed(now).is_none());
            breaker.good(now);
            breaker.good(now);
        }
    }
}
