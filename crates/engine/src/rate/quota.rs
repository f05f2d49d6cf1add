//! The arithmetic of a limit: the generic cell rate algorithm (ITU-T I.371, annex A), one number per counter.
//!
//! A counted request is *paid back* once it no longer counts against the limit. The number is the time at which all counted
//! requests are paid back. A request advances the number by one interval, and is rejected if the result would be too far in the
//! future. This module must not know who is counted, or where the number is kept.

use std::time::Duration;

/// A rate: the number of requests per period, and the number of requests at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    /// The time in which one request is paid back, in nanoseconds.
    interval: u64,
    /// The number of requests that may arrive at once after an idle period.
    burst: u32,
}

/// The outcome of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QuotaOutcome {
    /// The request is counted; this is the new number.
    Taken(u64),
    /// The request is rejected for `wait` nanoseconds; the number is unchanged.
    Refused { wait: u64, paid: u64 },
}

impl Quota {
    /// Allows `count` requests per period `per`, and at most `burst` requests at once; both numbers are at least
    /// one. The interval is rounded up, so that the limit is never exceeded.
    pub fn new(count: u32, per: Duration, burst: u32) -> Self {
        Self { interval: nanos(per).div_ceil(u64::from(count.max(1))).max(1), burst: burst.max(1) }
    }

    /// The number of requests that may arrive at once.
    pub fn burst(&self) -> u32 {
        self.burst
    }

    /// The time in which one request is paid back, in nanoseconds.
    pub(super) fn interval(&self) -> u64 {
        self.interval
    }

    /// The share of one of several processes that count separately: together, they allow about what this quota allows.
    pub(super) fn share(&self, processes: u32) -> Self {
        let processes = processes.max(1);
        Self {
            interval: self.interval.saturating_mul(processes.into()),
            burst: (self.burst / processes).max(1),
        }
    }

    /// Counts one request at `now`; `paid` is the current number. Both are in nanoseconds.
    pub(super) fn take(&self, paid: u64, now: u64) -> QuotaOutcome {
        self.take_many(paid, now, 1)
    }

    /// Counts several requests at once, either all or none. More than a burst are always rejected, without a wait,
    /// because waiting would not help.
    pub(super) fn take_many(&self, paid: u64, now: u64, count: u32) -> QuotaOutcome {
        let Some(room) = self.burst.checked_sub(count) else {
            return QuotaOutcome::Refused { wait: 0, paid };
        };
        let latest = now.saturating_add(self.interval.saturating_mul(room.into()));
        if paid > latest {
            return QuotaOutcome::Refused { wait: paid - latest, paid };
        }
        QuotaOutcome::Taken(paid.max(now).saturating_add(self.interval.saturating_mul(count.into())))
    }

    /// The number after one counted request is taken back.
    pub(super) fn give_back(&self, paid: u64) -> u64 {
        paid.saturating_sub(self.interval)
    }

    /// The number of requests that would be allowed at `now`.
    pub(super) fn remaining(&self, paid: u64, now: u64) -> u32 {
        let owed = paid.saturating_sub(now).div_ceil(self.interval);
        self.burst.saturating_sub(u32::try_from(owed).unwrap_or(u32::MAX))
    }
}

/// A time as a number; times above five centuries are all equal.
pub(super) fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
