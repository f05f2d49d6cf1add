//! Which limits speak of a request, whose count it belongs to, and what clients are told.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::IpAddr;
use std::time::Duration;

use http::HeaderMap;

use super::cells::{Cells, Take};
use super::quota::{Outcome, Quota, nanos};
use crate::client_address::ClientAddress;
use crate::config::{Glob, RateLimit, RateMethods, RatePer, address_block};

/// How many bits of an IPv6 address count: who has one has usually a whole network of these.
const IPV6_BITS: u8 = 64;

/// The connection that a request came over, and what it says of the client.
#[derive(Debug, Clone, Copy)]
pub struct Connection<'a> {
    /// The address at its other end.
    pub peer: IpAddr,
    /// The headers of the request.
    pub headers: &'a HeaderMap,
}

/// A request, as limits see it.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// Who asks: the principal's id.
    pub principal: &'a str,
    /// The client's address; `None` for standard input.
    pub address: Option<IpAddr>,
    /// The connection, for limits that trust proxies of their own.
    pub connection: Option<Connection<'a>>,
    /// The profile.
    pub profile: &'a str,
    /// Is it `tools/call`?
    pub is_call: bool,
    /// The tool that is called, by its public name; nobody looks where [`Limiter::asks_for_tools`] is false.
    pub tool: Option<&'a str>,
    /// Does whoever asks see this tool? Names that are none share one count, as anybody can think up any number of them;
    /// nobody looks where [`Limiter::tells_tools_apart`] is false.
    pub is_shown: bool,
}

/// Somebody at the door, who has not shown yet who they are.
#[derive(Debug, Clone, Copy)]
pub struct Entering<'a> {
    /// The principal's id of somebody who is not known.
    pub nobody: &'a str,
    /// As of a [`Request`].
    pub address: Option<IpAddr>,
    /// As of a [`Request`].
    pub connection: Option<Connection<'a>>,
    /// Where they want to go in, as they name it.
    pub profile: &'a str,
}

/// What a limit says, for a status and headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// Is the request let through?
    pub allowed: bool,
    /// The number of requests that may come at once after a rest.
    pub limit: u32,
    /// The number that would be let through now.
    pub remaining: u32,
    /// After what time without a request all of them are.
    pub reset: Duration,
    /// The time when it is worth to try again; zero where it was let through, and where it never is: more came
    /// together than are taken at once.
    pub retry_after: Duration,
    /// Which limit says so: its place among those of the configuration, from 0.
    pub place: usize,
}

/// A limit in use.
#[derive(Debug)]
struct Rule {
    quota: Quota,
    limit: RateLimit,
    /// Among those of the configuration.
    place: usize,
}

impl Rule {
    fn speaks_of(&self, request: &Request<'_>) -> bool {
        let fits = |globs: &[Glob], name: &str| globs.iter().any(|glob| glob.matches(name));
        let RateLimit { methods, profiles, tools, .. } = &self.limit;
        (*methods == RateMethods::All || request.is_call)
            && profiles.as_ref().is_none_or(|globs| fits(globs, request.profile))
            && tools.as_ref().is_none_or(|globs| request.tool.is_some_and(|tool| fits(globs, tool)))
    }

    fn asks_for_tools(&self) -> bool {
        self.limit.tools.is_some() || self.limit.per.contains(&RatePer::Tool)
    }

    /// Returns true if those who are refused at the door count, too: by address, if all requests do.
    fn is_at_door(&self) -> bool {
        let RateLimit { methods, per, tools, .. } = &self.limit;
        *methods == RateMethods::All && per.contains(&RatePer::Ip) && tools.is_none()
    }

    fn verdict(&self, outcome: Outcome, now: u64) -> Verdict {
        let (limit, place) = (self.quota.burst(), self.place);
        match outcome {
            Outcome::Taken(paid) => Verdict {
                allowed: true,
                limit,
                remaining: self.quota.remaining(paid, now),
                reset: Duration::from_nanos(paid.saturating_sub(now)),
                retry_after: Duration::ZERO,
                place,
            },
            Outcome::Refused { wait, paid } => Verdict {
                allowed: false,
                limit,
                remaining: 0,
                reset: Duration::from_nanos(paid.saturating_sub(now)),
                retry_after: Duration::from_nanos(wait),
                place,
            },
        }
    }

    /// Whose count a request belongs to, as one number.
    fn key(&self, number: usize, seed: u64, request: &Request<'_>) -> u64 {
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
                RatePer::Tool => request.tool.filter(|_| request.is_shown).hash(&mut hasher),
            }
        }
        hasher.finish()
    }
}

/// All limits with their counts. Shared between threads; nothing is allocated for a request whose count is known.
#[derive(Debug)]
pub struct Limiter {
    rules: Box<[Rule]>,
    cells: Cells,
    seed: u64,
    asks_for_tools: bool,
    tells_tools_apart: bool,
}

impl Limiter {
    /// The limits of a configuration that are switched on. At most `cap` counts are kept (some 40 bytes each); who would
    /// need one more is refused until one is paid back. `seed` is random, so that nobody can choose to share another's count.
    pub fn new(limits: &[RateLimit], cap: usize, seed: u64) -> Self {
        let rule = |(place, limit): (usize, &RateLimit)| {
            let quota = Quota::new(limit.count, limit.period, limit.burst);
            Rule { quota, limit: limit.clone(), place }
        };
        let enabled = limits.iter().enumerate().filter(|(_, limit)| limit.enabled);
        let rules: Box<[Rule]> = enabled.map(rule).collect();
        let asks_for_tools = rules.iter().any(Rule::asks_for_tools);
        let tells_tools_apart = rules.iter().any(|rule| rule.limit.per.contains(&RatePer::Tool));
        Self { rules, cells: Cells::new(cap), seed, asks_for_tools, tells_tools_apart }
    }

    /// Are there no limits?
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Does some limit speak of tools, so that a request must say which one it calls?
    pub fn asks_for_tools(&self) -> bool {
        self.asks_for_tools
    }

    /// Does some limit count each tool apart, so that a request must say whether there is one of this name?
    pub fn tells_tools_apart(&self) -> bool {
        self.tells_tools_apart
    }

    /// Counts a request at `now`, the time since any fixed point. Where several limits speak of it, it is counted only when
    /// all have room, and the tightest one is told. `None` when none does.
    pub fn check(&self, request: &Request<'_>, now: Duration) -> Option<Verdict> {
        let now = nanos(now);
        let speaking = || self.rules.iter().enumerate().filter(|(_, rule)| rule.speaks_of(request));
        let mut tightest: Option<Verdict> = None;
        // A request that another limit refuses costs nothing, so all are asked before one counts.
        if speaking().nth(1).is_some() {
            for (number, rule) in speaking() {
                let outcome = self.cells.peek(rule.key(number, self.seed, request), &rule.quota, now);
                if let Outcome::Refused { .. } = outcome {
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
            if let Outcome::Refused { .. } = outcome {
                break;
            }
        }
        tightest
    }

    /// Counts somebody at `address` who is about to show who they are at `profile`, whether or not there is one: against all
    /// limits by address that count all methods. Of a limit that tells apart more than addresses one count is for all who are
    /// at the door.
    ///
    /// # Errors
    /// The verdict of a limit that is used up; then nothing was counted.
    pub fn enter(&self, entering: &Entering<'_>, now: Duration) -> Result<(), Verdict> {
        let now = nanos(now);
        for (taken, (key, rule)) in self.at_door(entering).enumerate() {
            let outcome = self.cells.take(key, &rule.quota, now);
            if let Outcome::Refused { .. } = outcome {
                for (key, rule) in self.at_door(entering).take(taken) {
                    self.cells.give_back(key, &rule.quota);
                }
                return Err(rule.verdict(outcome, now));
            }
        }
        Ok(())
    }

    /// Asks whether [`enter`](Self::enter) would count somebody, and counts nothing.
    ///
    /// # Errors
    /// The verdict of a limit that is used up.
    pub fn has_room(&self, entering: &Entering<'_>, now: Duration) -> Result<(), Verdict> {
        let now = nanos(now);
        for (key, rule) in self.at_door(entering) {
            let outcome = self.cells.peek(key, &rule.quota, now);
            if let Outcome::Refused { .. } = outcome {
                return Err(rule.verdict(outcome, now));
            }
        }
        Ok(())
    }

    /// Takes back what [`enter`](Self::enter) has counted: of who was let in, requests count instead.
    pub fn let_in(&self, entering: &Entering<'_>) {
        for (key, rule) in self.at_door(entering) {
            self.cells.give_back(key, &rule.quota);
        }
    }

    fn at_door<'a>(&'a self, entering: &'a Entering<'a>) -> impl Iterator<Item = (u64, &'a Rule)> {
        let &Entering { nobody, address, connection, profile } = entering;
        let at = move |profile| Request {
            principal: nobody,
            address,
            connection,
            profile,
            is_call: false,
            tool: None,
            is_shown: false,
        };
        let rules = self.rules.iter().enumerate();
        let speaking = rules.filter(move |(_, rule)| rule.is_at_door() && rule.speaks_of(&at(profile)));
        // By no profile: one count for each that is there would tell which are.
        speaking.map(move |(number, rule)| (rule.key(number, self.seed, &at("")), rule))
    }

    /// Counts requests that come together, all of them or none: who is refused has lost nothing, and may send them again. The
    /// tightest limit is told. More of them than a limit takes at once are never taken.
    pub fn check_all(&self, requests: &[Request<'_>], now: Duration) -> Option<Verdict> {
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
        let is_refused = |outcome: &Outcome| matches!(outcome, Outcome::Refused { .. });
        let refused = outcomes.iter().any(is_refused);
        let mut tightest = None;
        for (number, outcome) in numbers.into_iter().zip(outcomes) {
            // What would have been taken was not, when something else was refused.
            if !refused || is_refused(&outcome) {
                tighten(&mut tightest, self.rules[number].verdict(outcome, now));
            }
        }
        tightest
    }

    /// Gives up the counts that are paid back. This happens by itself when room is needed; calling it now and then gives
    /// memory back sooner.
    pub fn sweep(&self, now: Duration) {
        self.cells.sweep(nanos(now));
    }

    /// The number of counts that are kept.
    pub fn len(&self) -> usize {
        self.cells.len()
    }
}

/// Keeps the verdict that lets the least through, or for the longest time nothing.
fn tighten(tightest: &mut Option<Verdict>, verdict: Verdict) {
    let room =
        |verdict: &Verdict| (verdict.allowed, verdict.remaining, std::cmp::Reverse(verdict.retry_after));
    if tightest.as_ref().is_none_or(|other| room(&verdict) < room(other)) {
        *tightest = Some(verdict);
    }
}
