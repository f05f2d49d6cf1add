//! The times of the next attempts at a failing server: at first, attempts are frequent, because a restarting server is
//! back within seconds; later, they become rare. This module must not know what failed, or read a clock.

use std::time::{Duration, Instant};

/// Returns the pause before the next attempt, given the time since the first failure.
pub(super) fn pause(since_first: Duration) -> Duration {
    match since_first.as_secs() {
        0..60 => Duration::from_secs(1),
        60..600 => Duration::from_secs(5),
        _ => Duration::from_secs(15),
    }
}

/// The attempts at one server.
#[derive(Debug)]
pub(super) struct Schedule {
    first_failure: Option<Instant>,
    next: Option<Instant>,
    /// The state of the random number generator that makes pauses differ.
    seed: u64,
}

impl Schedule {
    /// Creates a schedule without a planned attempt. Servers with different seeds are not tried at the same times.
    pub(super) fn new(seed: u64) -> Self {
        Self { first_failure: None, next: None, seed }
    }

    /// Schedules another attempt after a pause, because one has failed.
    pub(super) fn failed(&mut self, now: Instant) {
        let first = *self.first_failure.get_or_insert(now);
        let pause = pause(now.saturating_duration_since(first));
        self.next = Some(now + pause.mul_f64(self.spread()));
    }

    /// Sets another time for the next attempt.
    pub(super) fn at(&mut self, when: Instant) {
        self.next = Some(when);
    }

    /// Cancels the next attempt, because nothing fails any more or attempts are useless.
    pub(super) fn over(&mut self) {
        (self.first_failure, self.next) = (None, None);
    }

    /// Returns the time of the next attempt; `None` if none is planned.
    pub(super) fn next(&self) -> Option<Instant> {
        self.next
    }

    /// Returns true if an attempt is due; the caller then makes this attempt. If the attempt has no result, another
    /// one is due after a pause.
    pub(super) fn take(&mut self, now: Instant) -> bool {
        let is_due = self.next.is_some_and(|next| next <= now);
        if is_due {
            self.failed(now);
        }
        is_due
    }

    /// Returns a random factor from 0.8 to 1.2, by `SplitMix64`.
    fn spread(&mut self) -> f64 {
        self.seed = self.seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.seed ^ (self.seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let part = u32::try_from((mixed ^ (mixed >> 31)) >> 32).unwrap_or_default();
        0.8 + 0.4 * f64::from(part) / f64::from(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_with_the_time_away() {
        let seconds = |since| pause(Duration::from_secs(since)).as_secs();
        assert_eq!([0, 59, 60, 599, 600, 86_400].map(seconds), [1, 1, 5, 5, 15, 15]);
    }

    #[test]
    fn tries_are_spread_and_go_on_until_all_is_well() {
        let (mut schedule, start) = (Schedule::new(7), Instant::now());
        schedule.failed(start);
        let mut now = start;
        let mut pauses = Vec::new();
        while now < start + Duration::from_mins(1) {
            let next = schedule.next().expect("another try");
            assert!(!schedule.take(now) && schedule.take(next), "only when it is due");
            pauses.push((next - now).as_millis());
            now = next;
        }
        assert!(pauses.iter().all(|pause| (800..=1200).contains(pause)), "{pauses:?}");
        pauses.sort_unstable();
        pauses.dedup();
        assert!(pauses.len() > 20, "they differ");
        schedule.over();
        assert!(!schedule.take(now + Duration::from_hours(1)));
    }
}
