//! One limit of the configuration: which requests it concerns, which counter a request belongs to, and the verdict for the client. This
//! module must not know where counters are kept.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::IpAddr;
use std::time::Duration;

use config::{Glob, RateLimit, RateMethods, RatePer, address_block};

use super::quota::{Quota, QuotaOutcome};
use super::rated_request::{RatedRequest, UnknownCaller, Verdict};
use crate::client_address::ClientAddress;

/// The number of significant bits of an IPv6 address: one subscriber usually has a whole network of this size.
const IPV6_BITS: u8 = 64;

/// An enabled limit, with the arithmetic of its counters.
#[derive(Debug)]
pub(super) struct ActiveLimit {
    pub(super) quota: Quota,
    pub(super) limit: RateLimit,
    /// The index in the configuration.
    pub(super) place: usize,
}

impl ActiveLimit {
    /// Returns the enabled limits of a configuration.
    pub(super) fn enabled(limits: &[RateLimit]) -> impl Iterator<Item = Self> {
        let enabled = limits.iter().enumerate().filter(|(_, limit)| limit.enabled);
        enabled.map(|(place, limit)| {
            let quota = Quota::new(limit.rate.count, limit.rate.period, limit.burst);
            Self { quota, limit: limit.clone(), place }
        })
    }

    pub(super) fn speaks_of(&self, request: &RatedRequest<'_>) -> bool {
        let fits = |globs: &[Glob], name: &str| globs.iter().any(|glob| glob.matches(name));
        let RateLimit { methods, profiles, tools, .. } = &self.limit;
        (*methods == RateMethods::All || request.is_call)
            && profiles.as_ref().is_none_or(|globs| fits(globs, request.profile))
            && tools.as_ref().is_none_or(|globs| {
                [request.tool, request.identity].into_iter().flatten().any(|name| fits(globs, name))
            })
    }

    pub(super) fn asks_for_tools(&self) -> bool {
        self.limit.tools.is_some() || self.limit.per.contains(&RatePer::Tool)
    }

    /// Returns true if the limit also counts callers before they authenticate. This is so if it counts by address,
    /// and covers all methods and tools.
    pub(super) fn is_at_door(&self) -> bool {
        let RateLimit { methods, per, tools, .. } = &self.limit;
        *methods == RateMethods::All && per.contains(&RatePer::Ip) && tools.is_none()
    }

    pub(super) fn verdict(&self, outcome: QuotaOutcome, now: u64) -> Verdict {
        let (limit, place) = (self.quota.burst(), self.place);
        match outcome {
            QuotaOutcome::Taken(paid) => Verdict {
                allowed: true,
                limit,
                remaining: self.quota.remaining(paid, now),
                reset: Duration::from_nanos(paid.saturating_sub(now)),
                retry_after: Duration::ZERO,
                place,
                is_unknown: false,
            },
            QuotaOutcome::Refused { wait, paid } => Verdict {
                allowed: false,
                limit,
                remaining: 0,
                reset: Duration::from_nanos(paid.saturating_sub(now)),
                retry_after: Duration::from_nanos(wait),
                place,
                is_unknown: false,
            },
        }
    }

    /// Returns true if the limit counts this caller before authentication.
    pub(super) fn speaks_of_entering(&self, entering: &UnknownCaller<'_>) -> bool {
        self.is_at_door() && self.speaks_of(&entering.at(entering.profile))
    }

    /// The counter that a request belongs to, as one number.
    pub(super) fn key(&self, number: usize, seed: u64, request: &RatedRequest<'_>) -> u64 {
        let mut hasher = DefaultHasher::new();
        (seed, number).hash(&mut hasher);
        for per in &self.limit.per {
            match per {
                RatePer::Principal => request.principal.hash(&mut hasher),
                RatePer::Ip => self.block(request).hash(&mut hasher),
                RatePer::Profile => request.profile.hash(&mut hasher),
                RatePer::Tool => request.identity.hash(&mut hasher),
            }
        }
        hasher.finish()
    }

    /// The block of addresses of a request's client, as this limit determines the client.
    pub(super) fn block(&self, request: &RatedRequest<'_>) -> Option<IpAddr> {
        let own = self.limit.trust_forwarded_for.as_ref().zip(request.connection);
        let own = own.map(|(trusted, connection)| {
            ClientAddress::of(connection.peer, connection.headers, trusted).address
        });
        own.or(request.address).map(|address| address_block(address, IPV6_BITS))
    }
}

/// Keeps the verdict that allows fewer requests or, among refusals, the longer wait.
pub(super) fn tighten(tightest: &mut Option<Verdict>, verdict: Verdict) {
    let room =
        |verdict: &Verdict| (verdict.allowed, verdict.remaining, std::cmp::Reverse(verdict.retry_after));
    if tightest.as_ref().is_none_or(|other| room(&verdict) < room(other)) {
        *tightest = Some(verdict);
    }
}
