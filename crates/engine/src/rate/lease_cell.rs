//! The part of a shared count that this process may use on its own: a lease. The store has counted the requests of a lease in advance,
//! so most requests need no answer of the store. Several threads use a lease at once, without a lock. This module must not know whose
//! requests are counted, or how the store is asked.

use std::sync::atomic::{AtomicU64, Ordering};

use super::quota::{Quota, QuotaOutcome};

/// The part of a burst that one lease takes.
const PART: u32 = 20;

/// The number of requests in a lease at least, if the leases of all processes then fit into the burst. The next lease is taken when a
/// fifth is left, so each request to the store serves at least 20 requests.
const FULL: u32 = 25;

/// The smallest lease.
const SMALLEST: u32 = 2;

/// The smallest burst with leases. For limits with a smaller burst, the store counts each request.
const SMALLEST_BURST: u32 = 40;

/// The part of a lease that is left when the next one is taken.
pub(super) const RENEWED: u32 = 5;

/// The shortest and the longest time in which a lease can be used, in nanoseconds.
const LIFE: (u64, u64) = (1_000_000_000, 600_000_000_000);

/// The maximum time for which the store is not asked again after it had less than a lease, in nanoseconds.
const LONGEST_PAUSE: u64 = 1_000_000_000;

/// The number of bits of a tick, the unit in which the end of a lease is kept: about 0.13 s.
const TICK: u32 = 27;

/// The rules for the leases of one limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LeaseTerms {
    pub(super) quota: Quota,
    /// The number of requests in a lease of one of few processes; 0 if the store counts each request.
    full: u32,
    /// The maximum number of processes with full leases.
    few: u32,
    /// The time in which a lease can be used.
    life: u64,
    /// True if counted requests may be taken back, so that an exhausted limit can allow requests again at any time.
    pub(super) is_returnable: bool,
}

/// The conditions under which the caller takes the next lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NextLease {
    /// Never.
    Never,
    /// Ahead: when little is left after its requests.
    Ahead,
    /// Ahead, and when nothing is left for its requests.
    Needed,
}

/// The outcome of taking requests from a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LeaseOutcome {
    /// The requests are counted. `asks` is true if the caller has to take the next lease.
    Taken { left: u32, paid: u64, asks: bool },
    /// The store has said that the limit is exhausted; the wait is until the store may be asked again.
    Refused { wait: u64, paid: u64 },
    /// The lease does not suffice. `asks` is true if the caller has to take the next lease; otherwise another request does so.
    Empty { asks: bool },
}

/// The store's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountAnswer {
    /// The number of requests that the store has counted for this process.
    pub granted: u32,
    /// The time until all requests that the store has counted are paid back, in nanoseconds.
    pub owed: u64,
}

/// The lease of one counter.
#[derive(Debug, Default)]
pub(super) struct LeaseCell {
    /// The time at which all requests known to this process are paid back.
    paid: AtomicU64,
    /// The time before which the store is not asked, because the limit is exhausted.
    retry_at: AtomicU64,
    /// A [`Lease`].
    lease: AtomicU64,
}

/// The state of a lease, packed into one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Lease {
    /// The number of remaining requests.
    left: u32,
    /// True while the store is being asked for the next lease.
    is_asked: bool,
    /// The last tick in which the lease can be used.
    until: u32,
}

impl Lease {
    fn of(packed: u64) -> Self {
        let low = u32::try_from(packed & u64::from(u32::MAX)).unwrap_or(u32::MAX);
        Self { left: low >> 1, is_asked: low & 1 == 1, until: tick_of(packed >> 32) }
    }

    fn packed(self) -> u64 {
        u64::from(self.until) << 32 | u64::from(self.left.min(u32::MAX >> 1)) << 1 | u64::from(self.is_asked)
    }

    /// The lease at `now`: after its end, nothing is left of it.
    fn at(self, now: u64) -> Self {
        if self.until < tick_of(now >> TICK) { Self { left: 0, ..self } } else { self }
    }
}

fn tick_of(tick: u64) -> u32 {
    u32::try_from(tick).unwrap_or(u32::MAX)
}

impl LeaseTerms {
    pub(super) fn new(quota: Quota, is_returnable: bool) -> Self {
        let burst = quota.burst();
        let full = if burst < SMALLEST_BURST { 0 } else { (burst / PART).max(FULL) };
        let life = quota.interval().saturating_mul(quota.burst().into()).clamp(LIFE.0, LIFE.1);
        // What is taken back from a lease stays in the lease.
        Self { quota, full, few: burst / FULL, life, is_returnable: is_returnable && full == 0 }
    }

    /// Returns true if requests are counted against leases, and false if the store counts each of them.
    pub(super) fn has_leases(&self) -> bool {
        self.full > 0
    }

    /// The number of requests in a lease of one of several processes. If full leases of all processes do not fit into the burst, a
    /// process could refuse requests although hardly any were used, so the leases together take at most half of the burst.
    pub(super) fn size(&self, processes: u32) -> u32 {
        if processes <= self.few.min(PART) || self.full == 0 {
            return self.full;
        }
        if processes <= self.few {
            return (self.quota.burst() / processes).max(FULL);
        }
        (self.quota.burst() / processes.saturating_mul(2)).clamp(SMALLEST, self.full)
    }

    /// The time after which a request can be allowed that the store has not counted.
    fn wait(&self, owed: u64, count: u32) -> u64 {
        let room = self.quota.burst().saturating_sub(count);
        owed.saturating_sub(self.quota.interval().saturating_mul(room.into()))
    }
}

impl LeaseCell {
    /// Takes requests from the lease.
    pub(super) fn take(
        &self,
        (terms, processes): (&LeaseTerms, u32),
        count: u32,
        now: u64,
        next: NextLease,
    ) -> LeaseOutcome {
        let renew_at = terms.size(processes) / RENEWED;
        let mut packed = self.lease.load(Ordering::Acquire);
        loop {
            let lease = Lease::of(packed).at(now);
            let (paid, retry_at) = (self.paid.load(Ordering::Acquire), self.retry_at.load(Ordering::Acquire));
            let (after, outcome) = match lease.left.checked_sub(count) {
                Some(left) => {
                    let is_due = left <= renew_at && !lease.is_asked && retry_at <= now;
                    let asks = is_due && next != NextLease::Never;
                    let after = Lease { left, is_asked: lease.is_asked || asks, ..lease };
                    (after, LeaseOutcome::Taken { left, paid, asks })
                }
                None if now < retry_at => {
                    let wait = terms.wait(paid.saturating_sub(now), count).max(retry_at - now);
                    return LeaseOutcome::Refused { wait, paid };
                }
                None if lease.is_asked || next != NextLease::Needed => {
                    return LeaseOutcome::Empty { asks: false };
                }
                None => (Lease { is_asked: true, ..lease }, LeaseOutcome::Empty { asks: true }),
            };
            let (order, failed) = (Ordering::AcqRel, Ordering::Acquire);
            match self.lease.compare_exchange_weak(packed, after.packed(), order, failed) {
                Ok(_) => return outcome,
                Err(newer) => packed = newer,
            }
        }
    }

    /// Puts requests back into the lease. This never makes the lease larger than it was.
    pub(super) fn give_back(&self, count: u32, now: u64) {
        self.change(|lease| match lease.at(now) {
            // Requests of a lease that has ended are lost.
            Lease { until, .. } if until < tick_of(now >> TICK) => lease,
            lease => Lease { left: lease.left.saturating_add(count), ..lease },
        });
    }

    /// Takes over the store's answer to a request for a lease of `most` requests.
    pub(super) fn leased(&self, terms: &LeaseTerms, most: u32, answer: CountAnswer, now: u64) {
        self.paid.store(now.saturating_add(answer.owed), Ordering::Release);
        // If the lease was the last one, there is no need to ask for another.
        let is_scarce = answer.granted < most || terms.wait(answer.owed, 1) > 0;
        let pause = terms.quota.interval().saturating_mul(most.into()).min(LONGEST_PAUSE);
        let wait = terms.wait(answer.owed, 1).max(pause);
        self.retry_at.store(if is_scarce { now.saturating_add(wait) } else { 0 }, Ordering::Release);
        let until = tick_of(now.saturating_add(terms.life) >> TICK);
        self.change(|lease| match answer.granted {
            0 => Lease { is_asked: false, ..lease },
            granted => Lease { left: lease.at(now).left.saturating_add(granted), is_asked: false, until },
        });
    }

    /// Records that the store has not answered.
    pub(super) fn failed(&self) {
        self.change(|lease| Lease { is_asked: false, ..lease });
    }

    /// Takes over the store's answer to requests that the store counts itself. Returns the wait if it has counted none.
    pub(super) fn counted(
        &self,
        terms: &LeaseTerms,
        count: u32,
        answer: CountAnswer,
        now: u64,
    ) -> Option<u64> {
        self.paid.store(now.saturating_add(answer.owed), Ordering::Release);
        if answer.granted >= count {
            self.retry_at.store(0, Ordering::Release);
            return None;
        }
        // The answer may be about several requests; a single one can be allowed sooner.
        let longest = if terms.is_returnable { LONGEST_PAUSE } else { u64::MAX };
        self.retry_at.store(now.saturating_add(terms.wait(answer.owed, 1).min(longest)), Ordering::Release);
        Some(if count > terms.quota.burst() { 0 } else { terms.wait(answer.owed, count).max(1) })
    }

    /// If the limit is exhausted: the time until the store may be asked again, and [`LeaseCell::paid`].
    pub(super) fn exhausted(&self, now: u64) -> Option<(u64, u64)> {
        let wait = self.retry_at.load(Ordering::Acquire).saturating_sub(now);
        (wait > 0).then(|| (wait, self.paid()))
    }

    /// The time at which all requests known to this process are paid back.
    pub(super) fn paid(&self) -> u64 {
        self.paid.load(Ordering::Acquire)
    }

    /// Takes back requests that were counted without a lease; each is paid back in the time `interval`.
    pub(super) fn uncount(&self, interval: u64, count: u32) {
        let less = |paid: u64| Some(paid.saturating_sub(interval.saturating_mul(count.into())));
        let _ = self.paid.fetch_update(Ordering::AcqRel, Ordering::Acquire, less);
        self.retry_at.store(0, Ordering::Release);
    }

    /// Counts requests without the store, against this quota.
    pub(super) fn count_alone(&self, quota: &Quota, count: u32, now: u64) -> QuotaOutcome {
        let mut paid = self.paid();
        loop {
            let outcome = quota.take_many(paid, now, count);
            let QuotaOutcome::Taken(next) = outcome else { return outcome };
            match self.paid.compare_exchange_weak(paid, next, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return outcome,
                Err(newer) => paid = newer,
            }
        }
    }

    /// True if the cell holds nothing that matters at `now`.
    pub(super) fn is_idle(&self, now: u64) -> bool {
        let lease = Lease::of(self.lease.load(Ordering::Acquire));
        !lease.is_asked && lease.at(now).left == 0 && self.paid() <= now && self.exhausted(now).is_none()
    }

    fn change(&self, change: impl Fn(Lease) -> Lease) {
        let next = |packed| Some(change(Lease::of(packed)).packed());
        let _ = self.lease.fetch_update(Ordering::AcqRel, Ordering::Acquire, next);
    }
}
