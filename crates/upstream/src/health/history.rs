//! The last changes in a server's state. This module must not know states.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::machine::HealthChange;
use super::state::HealthWord;

/// The maximum number of changes that are kept.
const MOST: usize = 50;

/// A past change in a server's state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastChange {
    /// The time of the change.
    pub at: Instant,
    /// The old state.
    pub from: HealthWord,
    /// The new state.
    pub to: HealthWord,
    /// The whole reason for the new state; empty for `ready`.
    pub reason: String,
    /// The time spent in the old state.
    pub lasted: Duration,
}

/// The last changes, oldest first, and the number of all changes.
#[derive(Debug, Default)]
pub(super) struct History {
    last: VecDeque<PastChange>,
    pub(super) all: u64,
}

impl History {
    pub(super) fn note(&mut self, at: Instant, change: &HealthChange) {
        if self.last.len() == MOST {
            self.last.pop_front();
        }
        let HealthChange { from, to, cause, lasted } = change;
        let reason = cause.detail.clone();
        self.last.push_back(PastChange { at, from: *from, to: *to, reason, lasted: *lasted });
        self.all += 1;
    }

    pub(super) fn last(&self) -> Vec<PastChange> {
        self.last.iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::state::HealthCause;
    use super::*;

    #[test]
    fn the_last_fifty_are_kept_in_their_order() {
        let (mut history, start) = (History::default(), Instant::now());
        for number in 0..70 {
            let (from, to) = (HealthWord::Ready, HealthWord::Unreachable);
            let (cause, lasted) = (HealthCause::plain(number.to_string()), Duration::from_secs(number));
            history.note(start + lasted, &HealthChange { from, to, cause, lasted });
        }
        let last = history.last();
        assert_eq!((last.len(), history.all), (50, 70));
        assert_eq!((last[0].reason.as_str(), last[49].reason.as_str()), ("20", "69"));
    }
}
