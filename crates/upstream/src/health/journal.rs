//! Log lines about changes of state: one line for each change, but only one per minute for a flapping server. This
//! module must not know states.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The time within which changes are counted; also the time between two lines about a flapping server.
const MINUTE: Duration = Duration::from_mins(1);

/// The maximum number of changes in a minute that are logged one by one.
const MOST: usize = 6;

/// The kind of line to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line {
    /// The change itself.
    Change,
    /// The server has begun to flap.
    Flapping,
    /// The server has changed its state this number of times since the last line.
    Summary(usize),
}

/// The changes that were logged, and those that were not.
#[derive(Debug, Default)]
pub(super) struct Journal {
    /// The latest changes within a minute; at most one more than the number that is logged one by one.
    latest: VecDeque<Instant>,
    /// The time of the last line while the server is flapping; `None` if it is not.
    flaps_since: Option<Instant>,
    /// The number of changes since that line.
    untold: usize,
}

impl Journal {
    /// Returns the line for a change.
    pub(super) fn changed(&mut self, now: Instant) -> Option<Line> {
        self.forget(now);
        self.latest.push_back(now);
        let flaps = self.latest.len() > MOST;
        if flaps {
            self.latest.pop_front();
        }
        match self.flaps_since {
            Some(_) => {
                self.untold += 1;
                self.passed(now)
            }
            None if flaps => {
                self.flaps_since = Some(now);
                Some(Line::Flapping)
            }
            None => Some(Line::Change),
        }
    }

    /// Returns the line that is due because time has passed: it reports the changes that were not logged yet, and the
    /// resulting state.
    pub(super) fn passed(&mut self, now: Instant) -> Option<Line> {
        let last = self.flaps_since?;
        if now.saturating_duration_since(last) < MINUTE {
            return None;
        }
        self.forget(now);
        let untold = std::mem::take(&mut self.untold);
        // If there are fewer changes than `MOST` in a minute, each of them is logged again.
        self.flaps_since = (self.latest.len() >= MOST).then_some(now);
        (untold > 0).then_some(Line::Summary(untold))
    }

    fn forget(&mut self, now: Instant) {
        while self.latest.front().is_some_and(|at| now.saturating_duration_since(*at) >= MINUTE) {
            self.latest.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_changes_are_told_one_by_one_and_many_once_a_minute() {
        let (mut journal, start) = (Journal::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        for second in 0..6 {
            assert_eq!(journal.changed(at(second)), Some(Line::Change));
        }
        assert_eq!(journal.changed(at(6)), Some(Line::Flapping));
        for second in 7..66 {
            assert_eq!(journal.changed(at(second)), None, "{second}");
            assert_eq!(journal.passed(at(second)), None, "{second}");
        }
        assert_eq!(journal.passed(at(66)), Some(Line::Summary(59)));
        assert_eq!(journal.passed(at(67)), None, "it was said");
        assert_eq!(journal.changed(at(100)), None, "it still flaps");
        assert_eq!(journal.passed(at(126)), Some(Line::Summary(1)));
        assert_eq!(journal.changed(at(127)), Some(Line::Change), "it calmed down");
    }

    #[test]
    fn slow_changes_never_flap() {
        let (mut journal, start) = (Journal::default(), Instant::now());
        for change in 0..100 {
            assert_eq!(journal.changed(start + Duration::from_secs(change * 10)), Some(Line::Change));
        }
    }
}
