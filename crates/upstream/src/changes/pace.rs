//! The pace at which announced changes are handled: a burst counts as one change, and lists that differ each time
//! are fetched less and less often. Callers pass the current time as an argument. This module must not know what
//! was announced.

use std::time::{Duration, Instant};

/// The time for which further announcements of a burst are awaited.
const BURST: Duration = Duration::from_millis(50);

/// The minimum time between two fetches: the initial value, and the largest value that it can grow to.
const GAP: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(5));

/// The number of consecutive changes that are handled at the shortest interval even if the lists differ each time.
/// A developer who works on a server changes it a few times, and should see every change within a second.
const UNSLOWED: u32 = 8;

/// The pace of handling changes on one link.
#[derive(Debug)]
pub(super) struct ChangePace {
    /// The time at which changes were handled last.
    last: Option<Instant>,
    gap: Duration,
    /// The number of consecutive changes that really changed the lists.
    differing: u32,
}

impl Default for ChangePace {
    fn default() -> Self {
        Self { last: None, gap: GAP.0, differing: 0 }
    }
}

impl ChangePace {
    /// Returns the time at which a change that is received now has to be handled.
    pub(super) fn due(&self, heard: Instant) -> Instant {
        let soonest = heard + BURST;
        self.last.map_or(soonest, |last| soonest.max(last + self.gap))
    }

    /// Records that the caller begins to handle changes at the time `now`.
    pub(super) fn begin(&mut self, now: Instant) {
        let is_calm = self.last.is_none_or(|last| now.saturating_duration_since(last) > self.gap * 2);
        if is_calm {
            (self.gap, self.differing) = (GAP.0, 0);
        }
        self.last = Some(now);
    }

    /// Records whether the lists differed from the earlier ones.
    pub(super) fn found(&mut self, differs: bool) {
        self.differing = if differs { self.differing.saturating_add(1) } else { 0 };
        if self.differing <= UNSLOWED {
            self.gap = GAP.0;
        } else {
            self.gap = (self.gap * 2).min(GAP.1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_first_change_waits_for_the_end_of_its_burst_and_further_ones_for_a_gap() {
        let (mut pace, start) = (ChangePace::default(), Instant::now());
        assert_eq!(pace.due(start), start + ms(50));
        pace.begin(start + ms(50));
        pace.found(false);
        assert_eq!(pace.due(start + ms(60)), start + ms(300));
        assert_eq!(pace.due(start + ms(400)), start + ms(450));
    }

    #[test]
    fn lists_that_differ_each_time_are_fetched_less_often_until_they_do_not() {
        let (mut pace, mut now) = (ChangePace::default(), Instant::now());
        let mut gaps = Vec::new();
        for _ in 0..15 {
            pace.begin(now);
            pace.found(true);
            gaps.push((pace.due(now) - now).as_millis());
            now = pace.due(now);
        }
        assert_eq!(gaps[..8], [250; 8]);
        assert_eq!(gaps[8..], [500, 1000, 2000, 4000, 5000, 5000, 5000]);
        pace.begin(now);
        pace.found(false);
        assert_eq!(pace.due(now), now + ms(250));
    }

    #[test]
    fn changes_far_apart_are_not_slowed_down() {
        let (mut pace, mut now) = (ChangePace::default(), Instant::now());
        for _ in 0..10 {
            pace.begin(now);
            pace.found(true);
            now += Duration::from_secs(30);
            assert_eq!(pace.due(now), now + ms(50));
        }
        assert_eq!(pace.gap, ms(250));
    }
}
