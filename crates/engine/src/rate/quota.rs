//! The arithmetic of a limit: the generic cell rate algorithm (ITU-T I.371, annex A), one number per count.
//!
//! The number is the time at which everything that was taken is paid back. A request moves it on by one interval, and is
//! refused when that would lead too far beyond now. It must not know who is counted, or where the number is kept.

use std::time::Duration;

/// How many in how much time, and how many at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    /// Nanoseconds in which one request is paid back.
    interval: u64,
    /// The number of requests that may come at once after a rest.
    burst: u32,
}

/// What comes of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It is taken; this is the number from now on.
    Taken(u64),
    /// It is refused for so many nanoseconds; the number stays as it was.
    Refused { wait: u64, paid: u64 },
}

impl Quota {
    /// `count` in `per`, of which `burst` may come at once; each is at least one. An interval is rounded up, so that never
    /// more is let through than this says.
    pub fn new(count: u32, per: Duration, burst: u32) -> Self {
        Self { interval: nanos(per).div_ceil(u64::from(count.max(1))).max(1), burst: burst.max(1) }
    }

    /// The number of requests that may come at once.
    pub fn burst(&self) -> u32 {
        self.burst
    }

    /// One request at `now`, where `paid` is the number so far; both in nanoseconds.
    pub(super) fn take(&self, paid: u64, now: u64) -> Outcome {
        self.take_many(paid, now, 1)
    }

    /// So many requests at once, all or none. More than a burst are always refused, without a wait, as it would not help.
    pub(super) fn take_many(&self, paid: u64, now: u64, count: u32) -> Outcome {
        let Some(room) = self.burst.checked_sub(count) else { return Outcome::Refused { wait: 0, paid } };
        let latest = now.saturating_add(self.interval.saturating_mul(room.into()));
        if paid > latest {
            return Outcome::Refused { wait: paid - latest, paid };
        }
        Outcome::Taken(paid.max(now).saturating_add(self.interval.saturating_mul(count.into())))
    }

    /// The number without one request that was taken.
    pub(super) fn give_back(&self, paid: u64) -> u64 {
        paid.saturating_sub(self.interval)
    }

    /// The number that would be taken at `now`.
    pub(super) fn remaining(&self, paid: u64, now: u64) -> u32 {
        let owed = paid.saturating_sub(now).div_ceil(self.interval);
        self.burst.saturating_sub(u32::try_from(owed).unwrap_or(u32::MAX))
    }
}

/// A time as a number; more than five centuries are all the same.
pub(super) fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
