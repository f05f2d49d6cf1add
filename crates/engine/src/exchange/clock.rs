//! The points in time that determine when an exchange expires. This module must not read a clock.

use std::time::{Duration, Instant};

use super::Timeouts;

/// The points in time that matter to one exchange.
#[derive(Debug)]
pub(super) struct ExchangeClock {
    timeouts: Timeouts,
    pub(super) started: Instant,
    heard: Instant,
    /// True while the upstream waits for the client's answer and is therefore silent.
    pub(super) is_asking: bool,
    /// The time that the request waited for its turn, before it was sent.
    pub(super) queued: Duration,
    /// The time of the next delayed step: sending the collected questions, or a retry.
    pub(super) wake: Option<Instant>,
}

impl ExchangeClock {
    pub(super) fn new(timeouts: Timeouts, now: Instant) -> Self {
        Self { timeouts, started: now, heard: now, is_asking: false, queued: Duration::ZERO, wake: None }
    }

    /// The time of the next delayed step, or of the expiry. While the upstream waits for the client, only the total time
    /// counts.
    pub(super) fn deadline(&self) -> Instant {
        let overall = self.started + self.timeouts.overall;
        let due = if self.is_asking { overall } else { overall.min(self.heard + self.timeouts.idle) };
        self.wake.map_or(due, |wake| due.min(wake))
    }

    /// Returns true if the request has taken longer than the client's profile allows.
    pub(super) fn exceeds_profile(&self, now: Instant) -> bool {
        self.timeouts.is_profiles && now >= self.started + self.timeouts.overall
    }

    /// Returns true if a delayed step is due.
    pub(super) fn is_awake(&self, now: Instant) -> bool {
        self.wake.is_some_and(|wake| now >= wake)
    }

    /// Restarts the idle time, because the upstream sent a message or received its answer. If the upstream is now
    /// `asking` the client, the idle time does not count.
    pub(super) fn hear(&mut self, now: Instant, asking: bool) {
        (self.heard, self.is_asking) = (now, asking);
    }
}
