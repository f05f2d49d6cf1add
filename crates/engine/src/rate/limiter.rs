//! Applies the rate limits: determines which limits concern a request, which counter it belongs to, and the verdict
//! for the client.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::IpAddr;
use std::time::Duration;

use config::{Glob, RateLimit, RateMethods, RatePer, address_block};
use http::HeaderMap;

use super::cells::{Cells, Take};
use super::quota::{Quota, QuotaOutcome, nanos};
use crate::client_address::ClientAddress;

/// The number of significant bits of an IPv6 address: one subscriber usually has a whole network of this size.
const IPV6_BITS: u8 = 64;

/// The connection of a request, and the request's headers.
#[derive(Debug, Clone, Copy)]
pub struct Connection<'a> {
    /// The address of the peer.
    pub peer: IpAddr,
    /// The headers of the request.
    pub headers: &'a HeaderMap,
}

/// A request, as rate limits see it.
#[derive(Debug, Clone, Copy)]
pub struct RatedRequest<'a> {
    /// The id of the principal.
    pub principal: &'a str,
    /// The client's address; `None` for standard input.
    pub address: Option<IpAddr>,
    /// The connection, for limits with their own trusted proxies.
    pub connection: Option<Connection<'a>>,
    /// The name of the profile that the request is for.
    pub profile: &'a str,
    /// True if the request is a `tools/call`.
    pub is_call: bool,
    /// The name by which the client calls the tool; not needed if [`Limiter::asks_for_tools`] is false.
    pub tool: Option<&'a str>,
    /// The tool's identity, `server__tool`, if the caller can see the tool: a tool can have several names. Names that belong to
    /// no tool share one counter, because anybody can invent any number of such names. The identity is not needed if
    /// [`Limiter::asks_for_tools`] is false.
    pub identity: Option<&'a str>,
}

/// A caller that has not authenticated yet.
#[derive(Debug, Clone, Copy)]
pub struct Entering<'a> {
    /// The principal id of an unknown caller.
    pub nobody: &'a str,
    /// The client's address, as in [`RatedRequest`].
    pub address: Option<IpAddr>,
    /// The connection, as in [`RatedRequest`].
    pub connection: Option<Connection<'a>>,
    /// The profile that the caller names.
    pub profile: &'a str,
}

/// The verdict of a limit, for a status and headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// True if the request is allowed.
    pub allowed: bool,
    /// The number of requests that may arrive at once after an idle period.
    pub limit: u32,
    /// The number of requests that are still allowed now.
    pub remaining: u32,
    /// The time without requests after which the full number is allowed.
    pub reset: Duration,
    /// The time until a retry makes sense. The time is zero if the request was allowed, and also if a retry never helps
    /// because more requests arrived together than the limit ever allows at once.
    pub retry_after: Duration,
    /// The index of the limit in the configuration, from 0.
    pub place: usize,
}

/// An enabled limit, with the arithmetic of its counters.
#[derive(Debug)]
struct ActiveLimit {
    quota: Quota,
    limit: RateLimit,
    /// The index in the configuration.
    place: usize,
}

impl ActiveLimit {
    fn speaks_of(&self, request: &RatedRequest<'_>) -> bool {
        let fits = |globs: &[Glob], name: &str| globs.iter().any(|glob| glob.matches(name));
        let RateLimit { methods, profiles, tools, .. } = &self.limit;
        (*methods == RateMethods::All || request.is_call)
            && profiles.as_ref().is_none_or(|globs| fits(globs, request.profile))
            && tools.as_ref().is_none_or(|globs| {
                [request.tool, request.identity].into_iter().flatten().any(|name| fits(globs, name))
            })
    }

    fn asks_for_tools(&self) -> bool {
        self.limit.tools.is_some() || self.limit.per.contains(&RatePer::Tool)
    }

    /// Returns true if the limit also counts callers before they authenticate. This is so if it counts by address,
    /// and covers all methods and tools.
    fn is_at_door(&self) -> bool {
        let RateLimit { methods, per, tools, .. } = &self.limit;
        *methods == RateMethods::All && per.contains(&RatePer::Ip) && tools.is_none()
    }

    fn verdict(&self, outcome: QuotaOutcome, now: u64) -> Verdict {
        let (limit, place) = (self.quota.burst(), self.place);
        match outcome {
            QuotaOutcome::Taken(paid) => Verdict {
                allowed: true,
                limit,
                remaining: self.quota.remaining(paid, now),
                reset: Duration::from_nanos(paid.saturating_sub(now)),
                retry_after: Duration::ZERO,
                place,
            },
            QuotaOutcome::Refused { wait, paid } => Verdict {
                allowed: false,
                limit,
                remaining: 0,
                reset: Duration::from_nanos(paid.saturating_sub(now)),
                retry_after: Duration::from_nanos(wait),
                place,
            },
        }
    }

    /// The counter that a request belongs to, as one number.
    fn key(&self, number: usize, seed: u64, request: &RatedRequest<'_>) -> u64 {
        let mut hasher = DefaultHasher::new();
        (seed, number).hash(&mut hasher);
        for per in &self.limit.per {
            match per {
                RatePer::Principal => request.principal.hash(&mut hasher),
                RatePer::Ip => {
                    let own = self.limit.trust_forwarded_for.as_ref().zip(request.connection);
                    let own = own.map(|(trusted, connection)| {
                        ClientAddress::of(connection.peer, connection.headers, trusted).address
                    });
                    let address = own.or(request.address);
                    address.map(|address| address_block(address, IPV6_BITS)).hash(&mut hasher);
                }
                RatePer::Profile => request.profile.hash(&mut hasher),
                RatePer::Tool => request.identity.hash(&mut hasher),
            }
        }
        hasher.finish()
    }
}

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
        let rule = |(place, limit): (usize, &RateLimit)| {
            let quota = Quota::new(limit.rate.count, limit.rate.period, limit.burst);
            ActiveLimit { quota, limit: limit.clone(), place }
        };
        let enabled = limits.iter().enumerate().filter(|(_, limit)| limit.enabled);
        let rules: Box<[ActiveLimit]> = enabled.map(rule).collect();
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
    pub fn enter(&self, entering: &Entering<'_>, now: Duration) -> Result<(), Verdict> {
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
    pub fn has_room(&self, entering: &Entering<'_>, now: Duration) -> Result<(), Verdict> {
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
    pub fn let_in(&self, entering: &Entering<'_>) {
        for (key, rule) in self.at_door(entering) {
            self.cells.give_back(key, &rule.quota);
        }
    }

    fn at_door<'a>(&'a self, entering: &'a Entering<'a>) -> impl Iterator<Item = (u64, &'a ActiveLimit)> {
        let &Entering { nobody, address, connection, profile } = entering;
        let at = move |profile| RatedRequest {
            principal: nobody,
            address,
            connection,
            profile,
            is_call: false,
            tool: None,
            identity: None,
        };
        let rules = self.rules.iter().enumerate();
        let speaking = rules.filter(move |(_, rule)| rule.is_at_door() && rule.speaks_of(&at(profile)));
        // Profiles are ignored here: a separate count for each existing profile would reveal which ones
        // exist.
        speaking.map(move |(number, rule)| (rule.key(number, self.seed, &at("")), rule))
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

/// Keeps the verdict that allows fewer requests or, among refusals, the longer wait.
fn tighten(tightest: &mut Option<Verdict>, verdict: Verdict) {
    let room =
        |verdict: &Verdict| (verdict.allowed, verdict.remaining, std::cmp::Reverse(verdict.retry_after));
    if tightest.as_ref().is_none_or(|other| room(&verdict) < room(other)) {
        *tightest = Some(verdict);
    }
}
