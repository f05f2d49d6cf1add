//! Applies the rate limits of one process: counts the requests in this process's own memory.

use std::time::Duration;

use config::RateLimit;

use super::active_limit::{ActiveLimit, tighten};
use super::cells::{Cells, Take};
use super::quota::{QuotaOutcome, nanos};
use super::rated_request::{RatedRequest, UnknownCaller, Verdict};

/// All limits and their counters. Shared between threads; a request with an existing counter allocates nothing.
#[derive(Debug)]
pub struct Limiter {
    rules: Box<[ActiveLimit]>,
    cells: Cells,
    seed: u64,
    asks_for_tools: bool,
}

impl Limiter {
    /// Creates the limiter from the enabled limits of a configuration. The limiter keeps at most `cap` counters (about 40
    /// bytes each). If all are in use, a request that needs a new counter is rejected until a counter can be dropped, because
    /// none of its requests counts against the limit any more. `seed` is random, so nobody can provoke a collision with
    /// another caller's counter.
    pub fn new(limits: &[RateLimit], cap: usize, seed: u64) -> Self {
        let rules: Box<[ActiveLimit]> = ActiveLimit::enabled(limits).collect();
        let asks_for_tools = rules.iter().any(ActiveLimit::asks_for_tools);
        Self { rules, cells: Cells::new(cap), seed, asks_for_tools }
    }

    /// Returns true if there are no limits.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Returns true if some limit concerns tools, so a request must name the tool that it calls.
    pub fn asks_for_tools(&self) -> bool {
        self.asks_for_tools
    }

    /// Counts a request at `now`, the time since any fixed point. If several limits concern the request, it is counted only if
    /// all of these limits allow it, and the tightest verdict is returned. `None` if no limit concerns the request.
    pub fn check(&self, request: &RatedRequest<'_>, now: Duration) -> Option<Verdict> {
        let now = nanos(now);
        let speaking = || self.rules.iter().enumerate().filter(|(_, rule)| rule.speaks_of(request));
        let mut tightest: Option<Verdict> = None;
        // A request that another limit rejects must not be counted, so all limits are checked before any of them
        // counts.
        if speaking().nth(1).is_some() {
            for (number, rule) in speaking() {
                let outcome = self.cells.peek(rule.key(number, self.seed, request), &rule.quota, now);
                if let QuotaOutcome::Refused { .. } = outcome {
                    tighten(&mut tightest, rule.verdict(outcome, now));
                }
            }
            if tightest.is_some() {
                return tightest;
            }
        }
        for (number, rule) in speaking() {
            let outcome = self.cells.take(rule.key(number, self.seed, request), &rule.quota, now);
            tighten(&mut tightest, rule.verdict(outcome, now));
            if let QuotaOutcome::Refused { .. } = outcome {
                break;
            }
        }
        tightest
    }

    /// Counts a caller at `address` that is about to authenticate at `profile`, against all limits by address that
    /// cover all methods. The profile need not exist. If a limit counts by more than the address, all unauthenticated
    /// callers of an address share one counter.
    ///
    /// # Errors
    /// Returns the verdict of an exhausted limit; in this case nothing was counted.
    pub fn enter(&self, entering: &UnknownCaller<'_>, now: Duration) -> Result<(), Verdict> {
        let now = nanos(now);
        for (taken, (key, rule)) in self.at_door(entering).enumerate() {
            let outcome = self.cells.take(key, &rule.quota, now);
            if let QuotaOutcome::Refused { .. } = outcome {
                for (key, rule) in self.at_door(entering).take(taken) {
                    self.cells.give_back(key, &rule.quota);
                }
                return Err(rule.verdict(outcome, now));
            }
        }
        Ok(())
    }

    /// Checks whether [`enter`](Self::enter) would count a caller, without counting.
    ///
    /// # Errors
    /// Returns the verdict of an exhausted limit.
    pub fn has_room(&self, entering: &UnknownCaller<'_>, now: Duration) -> Result<(), Verdict> {
        let now = nanos(now);
        for (key, rule) in self.at_door(entering) {
            let outcome = self.cells.peek(key, &rule.quota, now);
            if let QuotaOutcome::Refused { .. } = outcome {
                return Err(rule.verdict(outcome, now));
            }
        }
        Ok(())
    }

    /// Takes back the count of [`enter`](Self::enter): after authentication, the caller's requests are counted
    /// instead.
    pub fn let_in(&self, entering: &UnknownCaller<'_>) {
        for (key, rule) in self.at_door(entering) {
            self.cells.give_back(key, &rule.quota);
        }
    }

    fn at_door<'a>(
        &'a self,
        entering: &'a UnknownCaller<'a>,
    ) -> impl Iterator<Item = (u64, &'a ActiveLimit)> {
        let rules = self.rules.iter().enumerate().filter(|(_, rule)| rule.speaks_of_entering(entering));
        rules.map(move |(number, rule)| (rule.key(number, self.seed, &entering.counted()), rule))
    }

    /// Counts requests that arrive together: either all or none, so that the caller can send all of them again after a
    /// rejection. The tightest verdict is returned. If there are more requests than a limit allows at once, they are never
    /// accepted.
    pub fn check_all(&self, requests: &[RatedRequest<'_>], now: Duration) -> Option<Verdict> {
        let now = nanos(now);
        let mut takes: Vec<(usize, Take<'_>)> = Vec::new();
        for request in requests {
            for (number, rule) in self.rules.iter().enumerate().filter(|(_, rule)| rule.speaks_of(request)) {
                let key = rule.key(number, self.seed, request);
                match takes.iter_mut().find(|(_, take)| take.key == key) {
                    Some((_, take)) => take.count = take.count.saturating_add(1),
                    None => takes.push((number, Take { key, quota: &rule.quota, count: 1 })),
                }
            }
        }
        let (numbers, takes): (Vec<usize>, Vec<Take<'_>>) = takes.into_iter().unzip();
        let outcomes = self.cells.take_all(&takes, now);
        let is_refused = |outcome: &QuotaOutcome| matches!(outcome, QuotaOutcome::Refused { .. });
        let refused = outcomes.iter().any(is_refused);
        let mut tightest = None;
        for (number, outcome) in numbers.into_iter().zip(outcomes) {
            // If another limit rejected the request, nothing was counted for this limit.
            if !refused || is_refused(&outcome) {
                tighten(&mut tightest, self.rules[number].verdict(outcome, now));
            }
        }
        tightest
    }

    /// Drops counters that are paid back. This happens automatically when space is needed; an occasional call frees
    /// memory sooner.
    pub fn sweep(&self, now: Duration) {
        self.cells.sweep(nanos(now));
    }

    /// The number of counters.
    pub fn len(&self) -> usize {
        self.cells.len()
    }
}
