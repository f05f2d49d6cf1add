//! The circuit breaker for commands to the store. After several failures in a short time, commands fail immediately
//! until the store answers again, so no request waits for an unreachable store. Pure; this module must not know
//! commands.

use std::time::{Duration, Instant};

/// The number of failures within [`WINDOW`] after which no more commands are sent.
const FAILURES: usize = 5;

/// The period in which failures are counted.
const WINDOW: Duration = Duration::from_secs(10);

/// The time after which one command is sent as a trial, to find out if the store answers again.
const PAUSE: Duration = Duration::from_secs(1);

/// The maximum duration of a trial. After this time, another command is sent as a trial.
const TRIAL: Duration = Duration::from_secs(2);

/// The record of recent failures.
#[derive(Debug, Default)]
pub(crate) struct Breaker {
    /// The times of the last failures, oldest first.
    failures: Vec<Instant>,
    /// The time from which a trial is allowed; `None` while all commands are sent.
    retry_at: Option<Instant>,
}

impl Breaker {
    /// Returns true if a command may be sent at `now`.
    pub(crate) fn admits(&mut self, now: Instant) -> bool {
        match self.retry_at {
            None => true,
            Some(at) if now >= at => {
                self.retry_at = Some(now + TRIAL);
                true
            }
            Some(_) => false,
        }
    }

    /// Returns true if [`Breaker::admits`] would.
    pub(crate) fn would_admit(&self, now: Instant) -> bool {
        self.retry_at.is_none_or(|at| now >= at)
    }

    /// Records that the store has answered.
    pub(crate) fn succeeded(&mut self) {
        self.failures.clear();
        self.retry_at = None;
    }

    /// Records that a command failed or was not answered in time.
    pub(crate) fn failed(&mut self, now: Instant) {
        self.failures.retain(|at| now.saturating_duration_since(*at) < WINDOW);
        if self.failures.len() == FAILURES {
            self.failures.remove(0);
        }
        self.failures.push(now);
        if self.retry_at.is_some() || self.failures.len() == FAILURES {
            self.retry_at = Some(now + PAUSE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_failures_stop_commands_and_one_answer_allows_them_again() {
        let (mut breaker, start) = (Breaker::default(), Instant::now());
        for second in 0..5 {
            assert!(breaker.admits(start + Duration::from_secs(second)));
            breaker.failed(start + Duration::from_secs(second));
        }
        let last = start + Duration::from_secs(4);
        assert!(!breaker.would_admit(last) && breaker.would_admit(last + PAUSE));
        assert!(!breaker.admits(last));
        assert!(breaker.admits(last + PAUSE), "one command tries");
        assert!(!breaker.admits(last + PAUSE), "only one");
        breaker.failed(last + PAUSE);
        assert!(!breaker.admits(last + PAUSE + Duration::from_millis(999)));
        assert!(breaker.admits(last + PAUSE * 2));
        breaker.succeeded();
        assert!(breaker.admits(last + PAUSE * 2));
    }

    #[test]
    fn rare_failures_stop_nothing() {
        let (mut breaker, start) = (Breaker::default(), Instant::now());
        for count in 0..100 {
            breaker.failed(start + WINDOW / 4 * count);
            assert!(breaker.admits(start + WINDOW / 4 * count));
        }
    }

    #[test]
    fn a_trial_without_a_result_does_not_block_the_next_one() {
        let (mut breaker, start) = (Breaker::default(), Instant::now());
        (0..5).for_each(|_| breaker.failed(start));
        assert!(breaker.admits(start + PAUSE));
        assert!(breaker.admits(start + PAUSE + TRIAL));
    }
}
