//! Limits that several processes share through a store. Most requests are counted against the leases of this process; the caller of this
//! module asks the store for leases, and for the counts of limits that are too small for leases. This module must not know the store.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use config::RateLimit;

use super::active_limit::tighten;
use super::lease_cell::{CountAnswer, LeaseCell, LeaseOutcome, NextLease};
use super::lease_table::LeaseTable;
use super::quota::{QuotaOutcome, nanos};
use super::rated_request::{RatedRequest, UnknownCaller, Verdict};
use super::shared_limit::{AGAIN, SharedLimit};
use super::shared_take::{CountRequest, CountingPlace, SharedStep, SharedTake};

/// The time that is subtracted from what this process knows about a count: the store's answer may have been on its way for this long.
const UNDER_WAY: u64 = 50_000_000;

/// All shared limits, and their leases. Shared between threads; a request whose lease suffices allocates nothing.
#[derive(Debug)]
pub struct SharedLimiter {
    rules: Box<[SharedLimit]>,
    table: LeaseTable,
    seed: u64,
    asks_for_tools: bool,
    /// The last known number of processes that share the limits.
    processes: AtomicU32,
}

impl SharedLimiter {
    /// Creates the limiter from the enabled limits of a configuration, with at most `cap` counters. `seed` is random, as for
    /// [`Limiter::new`](super::Limiter::new).
    pub fn new(limits: &[RateLimit], cap: usize, seed: u64) -> Self {
        let rules = SharedLimit::enabled(limits);
        let asks_for_tools = rules.iter().any(|rule| rule.active.asks_for_tools());
        Self { rules, table: LeaseTable::new(cap), seed, asks_for_tools, processes: AtomicU32::new(1) }
    }

    /// Changes the number of processes that share the limits. The leases of small limits depend on it.
    pub fn shared_by(&self, processes: u32) {
        self.processes.store(processes.max(1), Ordering::Relaxed);
    }

    fn processes(&self) -> u32 {
        self.processes.load(Ordering::Relaxed)
    }

    /// Returns true if there are no limits.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Returns true if some limit concerns tools, as [`Limiter::asks_for_tools`](super::Limiter::asks_for_tools) does.
    pub fn asks_for_tools(&self) -> bool {
        self.asks_for_tools
    }

    /// Counts a request, if all leases suffice for it. `asks` gets the requests to the store for the next leases. Returns `Err` if the
    /// leases do not suffice; nothing is counted then.
    ///
    /// # Errors
    /// Returns the counts that [`take_all`](Self::take_all) needs.
    pub fn check(
        &self,
        request: &RatedRequest<'_>,
        now: Duration,
        asks: impl FnMut(CountRequest),
    ) -> Result<Option<Verdict>, Vec<SharedTake>> {
        let speaking = self.rules.iter().enumerate().filter(|(_, rule)| rule.active.speaks_of(request));
        self.take_leased(speaking, request, nanos(now), asks)
    }

    /// Counts a caller that is about to authenticate, as [`Limiter::enter`](super::Limiter::enter) does, if all leases suffice.
    ///
    /// # Errors
    /// Returns the counts that [`take_all`](Self::take_all) needs.
    pub fn enter(
        &self,
        entering: &UnknownCaller<'_>,
        now: Duration,
        asks: impl FnMut(CountRequest),
    ) -> Result<Option<Verdict>, Vec<SharedTake>> {
        let rules = self.rules.iter().enumerate();
        let at_door = rules.filter(|(_, rule)| rule.active.speaks_of_entering(entering));
        self.take_leased(at_door, &entering.counted(), nanos(now), asks)
    }

    /// Takes back the count of [`enter`](Self::enter). Returns what the store has to take back: the counter's name and the time in which
    /// its request would have been paid back, in nanoseconds.
    pub fn let_in(&self, entering: &UnknownCaller<'_>, now: Duration) -> Vec<(Vec<u8>, u64)> {
        let (counted, now, mut back) = (entering.counted(), nanos(now), Vec::new());
        for (number, rule) in self.rules.iter().enumerate() {
            if !rule.active.speaks_of_entering(entering) {
                continue;
            }
            let key = rule.active.key(number, self.seed, &counted);
            if rule.terms.has_leases() {
                self.table.with(key, |cell| cell.give_back(1, now));
                continue;
            }
            let interval = rule.active.quota.interval();
            self.table.with(key, |cell| cell.uncount(interval, 1));
            back.push((rule.subject(&counted), interval));
        }
        back
    }

    /// Returns the counts of requests that arrive together.
    pub fn takes(&self, requests: &[RatedRequest<'_>]) -> Vec<SharedTake> {
        let mut takes: Vec<SharedTake> = Vec::new();
        for request in requests {
            let speaking = self.rules.iter().enumerate().filter(|(_, rule)| rule.active.speaks_of(request));
            for (number, rule) in speaking {
                let key = rule.active.key(number, self.seed, request);
                match takes.iter_mut().find(|take| take.key == key) {
                    Some(take) => take.count = take.count.saturating_add(1),
                    None => takes.push(self.single((number, rule), request)),
                }
            }
        }
        takes
    }

    /// Counts requests: either all or none. `asks` gets the requests to the store for the next leases.
    pub fn take_all(
        &self,
        takes: &mut [SharedTake],
        now: Duration,
        mut asks: impl FnMut(CountRequest),
    ) -> Option<SharedStep> {
        let now = nanos(now);
        let processes = self.processes();
        let (mut tightest, mut refused, mut waits, mut direct) = (None, None, None, Vec::new());
        for take in takes.iter_mut() {
            let rule = &self.rules[take.rule];
            // A lease serves single requests; the store counts more at once, and requests of limits that are too small for leases.
            let is_direct = !rule.terms.has_leases() || take.count > 1;
            let next = if is_direct { NextLease::Never } else { NextLease::Needed };
            let visit = |cell: &LeaseCell| cell.take((&rule.terms, processes), take.count, now, next);
            match self.table.with_new(take.key, now, visit) {
                None => tighten(&mut refused, rule.refusal(AGAIN, now, now)),
                Some(LeaseOutcome::Taken { left, paid, asks: next }) => {
                    let verdict = rule.taken(left, paid, now);
                    take.held = CountingPlace::Leased(verdict);
                    tighten(&mut tightest, verdict);
                    if next {
                        asks(self.request(
                            (take.rule, take.key),
                            take.subject.clone(),
                            (1, rule.terms.size(processes)),
                            now,
                        ));
                    }
                }
                Some(LeaseOutcome::Refused { wait, paid }) => {
                    tighten(&mut refused, rule.refusal(wait, paid, now));
                }
                Some(LeaseOutcome::Empty { .. }) if is_direct => {
                    let range = (take.count, take.count);
                    direct.push(self.request((take.rule, take.key), take.subject.clone(), range, now));
                }
                Some(LeaseOutcome::Empty { asks: next }) => {
                    waits = Some(take.key);
                    if next {
                        asks(self.request(
                            (take.rule, take.key),
                            take.subject.clone(),
                            (1, rule.terms.size(processes)),
                            now,
                        ));
                    }
                }
            }
        }
        if refused.is_some() || waits.is_some() {
            self.give_all_back(takes, now);
        }
        match (refused, waits) {
            (Some(verdict), _) => Some(SharedStep::Decided(verdict)),
            (None, Some(key)) => Some(SharedStep::Waits(key)),
            (None, None) if !direct.is_empty() => Some(SharedStep::Store(direct)),
            (None, None) => tightest.map(SharedStep::Decided),
        }
    }

    /// Decides requests after the store has answered [`SharedStep::Store`].
    pub fn settle(
        &self,
        takes: &mut [SharedTake],
        answers: &[CountAnswer],
        now: Duration,
    ) -> Option<Verdict> {
        let now = nanos(now);
        let (mut tightest, mut refused, mut uncounted) = (None, None, None);
        let mut answers = answers.iter();
        for take in takes.iter() {
            let rule = &self.rules[take.rule];
            if let CountingPlace::Leased(verdict) = take.held {
                tighten(&mut tightest, verdict);
                continue;
            }
            let answer = answers.next().copied().unwrap_or(CountAnswer { granted: 0, owed: 0 });
            let paid = now.saturating_add(answer.owed);
            let counted = |cell: &LeaseCell| cell.counted(&rule.terms, take.count, answer, now);
            match self.table.with_new(take.key, now, counted) {
                Some(None) => tighten(&mut tightest, rule.active.verdict(QuotaOutcome::Taken(paid), now)),
                // The store counts all or none, so a limit that would have allowed its requests is not the reason.
                Some(Some(wait)) if rule.refuses(answer.owed, take.count) => {
                    tighten(&mut refused, rule.refusal(wait, paid, now));
                }
                Some(Some(wait)) => tighten(&mut uncounted, rule.refusal(wait, paid, now)),
                None => tighten(&mut refused, rule.refusal(AGAIN, now, now)),
            }
        }
        let refused = refused.or(uncounted);
        if refused.is_some() {
            self.give_all_back(takes, now);
        }
        refused.or(tightest)
    }

    /// Decides requests without the store, as one of `processes`: each applies its share of the limits, or refuses the request. Leases
    /// are used up first.
    pub fn decide_alone(&self, takes: &mut [SharedTake], processes: u32, now: Duration) -> Option<Verdict> {
        let now = nanos(now);
        self.give_all_back(takes, now);
        let (mut tightest, mut refused) = (None, None);
        for take in takes.iter_mut() {
            let rule = &self.rules[take.rule];
            match self.table.with_new(take.key, now, |cell| rule.take_alone(cell, take.count, processes, now))
            {
                Some(Ok((verdict, interval))) => {
                    take.held = interval.map_or(CountingPlace::Leased(verdict), CountingPlace::Alone);
                    tighten(&mut tightest, verdict);
                }
                Some(Err(verdict)) => {
                    tighten(&mut refused, verdict);
                    break;
                }
                None => {
                    tighten(&mut refused, rule.refusal(AGAIN, now, now));
                    break;
                }
            }
        }
        if refused.is_some() {
            self.give_all_back(takes, now);
        }
        refused.or(tightest)
    }

    /// Takes over the store's answer to a request for a lease; `None` if the store has not answered.
    pub fn leased(&self, request: &CountRequest, answer: Option<CountAnswer>, now: Duration) {
        let Some(rule) = self.rules.get(request.rule) else { return };
        let now = nanos(now);
        self.table.with(request.key, |cell| match answer {
            Some(answer) => cell.leased(&rule.terms, request.most, answer, now),
            None => cell.failed(),
        });
    }

    /// Drops counters that nothing depends on any more.
    pub fn sweep(&self, now: Duration) {
        self.table.sweep(nanos(now));
    }

    /// The number of counters.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Counts a request against the leases of these limits, or against none of them.
    fn take_leased<'a>(
        &'a self,
        rules: impl Iterator<Item = (usize, &'a SharedLimit)> + Clone,
        request: &RatedRequest<'_>,
        now: u64,
        mut asks: impl FnMut(CountRequest),
    ) -> Result<Option<Verdict>, Vec<SharedTake>> {
        let processes = self.processes();
        let (mut tightest, mut refused, mut taken, mut is_empty) = (None, None, 0, false);
        for (number, rule) in rules.clone() {
            let key = rule.active.key(number, self.seed, request);
            let take = |cell: &LeaseCell| cell.take((&rule.terms, processes), 1, now, NextLease::Ahead);
            match self.table.with(key, take).unwrap_or(LeaseOutcome::Empty { asks: false }) {
                LeaseOutcome::Taken { left, paid, asks: next } => {
                    taken += 1;
                    tighten(&mut tightest, rule.taken(left, paid, now));
                    if next {
                        asks(self.request(
                            (number, key),
                            rule.subject(request),
                            (1, rule.terms.size(processes)),
                            now,
                        ));
                    }
                }
                outcome => {
                    if let LeaseOutcome::Refused { wait, paid } = outcome {
                        tighten(&mut refused, rule.refusal(wait, paid, now));
                    }
                    is_empty = true;
                    break;
                }
            }
        }
        if !is_empty {
            return Ok(tightest);
        }
        for (number, rule) in rules.clone().take(taken) {
            self.table.with(rule.active.key(number, self.seed, request), |cell| cell.give_back(1, now));
        }
        if refused.is_none() {
            let all = rules.map(|(number, rule)| self.single((number, rule), request));
            return Err(all.collect());
        }
        for (number, rule) in rules.skip(taken + 1) {
            let wait = |cell: &LeaseCell| cell.exhausted(now);
            if let Some((wait, paid)) =
                self.table.with(rule.active.key(number, self.seed, request), wait).flatten()
            {
                tighten(&mut refused, rule.refusal(wait, paid, now));
            }
        }
        Ok(refused)
    }

    fn single(&self, (number, rule): (usize, &SharedLimit), request: &RatedRequest<'_>) -> SharedTake {
        let key = rule.active.key(number, self.seed, request);
        SharedTake { rule: number, key, count: 1, subject: rule.subject(request), held: CountingPlace::Not }
    }

    /// The request to the store to count from `least` to `most` requests.
    fn request(
        &self,
        (rule, key): (usize, u64),
        subject: Vec<u8>,
        (least, most): (u32, u32),
        now: u64,
    ) -> CountRequest {
        let SharedLimit { active, terms, .. } = &self.rules[rule];
        let quota = active.quota;
        let owed = self.table.with(key, LeaseCell::paid).unwrap_or(0).saturating_sub(now);
        // Other processes may have taken back requests that this process knows about.
        let owed = if terms.is_returnable { 0 } else { owed.saturating_sub(UNDER_WAY) };
        CountRequest {
            rule,
            key,
            subject,
            interval: quota.interval(),
            burst: quota.burst(),
            least,
            most,
            owed,
        }
    }

    /// Takes back everything that was counted for these requests in this process.
    fn give_all_back(&self, takes: &mut [SharedTake], now: u64) {
        for take in takes {
            match take.held {
                CountingPlace::Not => None,
                CountingPlace::Leased(_) => self.table.with(take.key, |cell| cell.give_back(take.count, now)),
                CountingPlace::Alone(interval) => {
                    self.table.with(take.key, |cell| cell.uncount(interval, take.count))
                }
            };
            take.held = CountingPlace::Not;
        }
    }
}
