//! One limit that several processes share: its name for the store, and its verdicts. This module must not know other limits.

use config::{RateLimit, RatePer, WithoutStore};

use super::active_limit::ActiveLimit;
use super::lease_cell::{LeaseCell, LeaseOutcome, LeaseTerms, NextLease};
use super::quota::QuotaOutcome;
use super::rated_request::{RatedRequest, Verdict};

/// The wait after a refusal that has nothing to do with the number of requests, in nanoseconds.
pub(super) const AGAIN: u64 = 1_000_000_000;

/// An enabled limit that is shared.
#[derive(Debug)]
pub(super) struct SharedLimit {
    pub(super) active: ActiveLimit,
    pub(super) terms: LeaseTerms,
    /// A text that is the same for this limit in all processes.
    name: String,
}

impl SharedLimit {
    /// Returns the enabled limits of a configuration.
    pub(super) fn enabled(limits: &[RateLimit]) -> Box<[Self]> {
        let mut rules: Vec<Self> = Vec::new();
        for active in ActiveLimit::enabled(limits) {
            let text = fingerprint(&active.limit);
            // Equal limits count separately, as they do in one process.
            let equal = rules.iter().filter(|rule| rule.name.starts_with(&text)).count();
            let terms = LeaseTerms::new(active.quota, active.is_at_door());
            rules.push(Self { active, terms, name: format!("{text}{equal}") });
        }
        rules.into()
    }

    /// The counter that a request belongs to, in a form that is the same in all processes.
    pub(super) fn subject(&self, request: &RatedRequest<'_>) -> Vec<u8> {
        let mut subject = self.name.clone().into_bytes();
        for per in &self.active.limit.per {
            let address;
            let value = match per {
                RatePer::Principal => Some(request.principal),
                RatePer::Ip => {
                    address = self.active.block(request).map(|address| address.to_string());
                    address.as_deref()
                }
                RatePer::Profile => Some(request.profile),
                RatePer::Tool => request.identity,
            };
            // A length before each value, so that no two lists of values have the same text.
            let length = value.map_or(u64::MAX, |value| value.len() as u64);
            subject.extend_from_slice(&length.to_be_bytes());
            subject.extend_from_slice(value.unwrap_or_default().as_bytes());
        }
        subject
    }

    /// The verdict for a request that was taken from a lease. Other processes use the limit, too, so the remaining number is the last
    /// known one.
    pub(super) fn taken(&self, left: u32, paid: u64, now: u64) -> Verdict {
        let mut verdict = self.active.verdict(QuotaOutcome::Taken(paid), now);
        verdict.remaining = verdict.remaining.saturating_add(left).min(verdict.limit);
        verdict
    }

    /// The verdict for a refused request.
    pub(super) fn refusal(&self, wait: u64, paid: u64, now: u64) -> Verdict {
        self.active.verdict(QuotaOutcome::Refused { wait, paid }, now)
    }

    /// Counts requests without the store, as one of `processes`. Returns the verdict, and the time for which each request counts unless
    /// it comes from a lease.
    ///
    /// # Errors
    /// Returns the verdict if the requests are refused.
    pub(super) fn take_alone(
        &self,
        cell: &LeaseCell,
        count: u32,
        processes: u32,
        now: u64,
    ) -> Result<(Verdict, Option<u64>), Verdict> {
        if let LeaseOutcome::Taken { left, paid, .. } =
            cell.take((&self.terms, processes), count, now, NextLease::Never)
        {
            return Ok((self.taken(left, paid, now), None));
        }
        if self.active.limit.without_store == WithoutStore::Refuse {
            return Err(Verdict { is_unknown: true, ..self.refusal(AGAIN, now, now) });
        }
        let share = self.active.quota.share(processes);
        let outcome = cell.count_alone(&share, count, now);
        let verdict = self.active.verdict(outcome, now);
        match outcome {
            QuotaOutcome::Taken(paid) => {
                Ok((Verdict { remaining: share.remaining(paid, now), ..verdict }, Some(share.interval())))
            }
            QuotaOutcome::Refused { .. } => Err(verdict),
        }
    }

    /// Returns true if the limit does not allow these requests, given the time until all counted requests are paid back.
    pub(super) fn refuses(&self, owed: u64, count: u32) -> bool {
        matches!(self.active.quota.take_many(owed, 0, count), QuotaOutcome::Refused { .. })
    }
}

/// A text that is the same for equal limits in all processes, and different for others.
fn fingerprint(limit: &RateLimit) -> String {
    let RateLimit { per, methods, profiles, tools, rate, burst, .. } = limit;
    format!("{per:?} {methods:?} {profiles:?} {tools:?} {} {:?} {burst} ", rate.count, rate.period)
}
