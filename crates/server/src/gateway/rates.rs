//! How often requests may come: the engine's limits, with a clock. It must not know how a refusal is said.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use engine::config::RateLimit;
use engine::dialect::Rate;
use engine::rate::{Limiter, Request, Verdict};
use http::HeaderMap;
use proto::mcp::Method;
use proto::rpc::Frame;

use super::identity::Identity;

/// How many counts are kept at most; rested ones make room.
const COUNTS: usize = 100_000;

/// The header in which proxies name who asked them.
const FORWARDED: &str = "x-forwarded-for";

/// All limits.
pub(crate) struct Rates {
    limiter: Limiter,
    start: Instant,
}

impl Rates {
    /// The configured limits; `seed` is random.
    pub(crate) fn new(limits: &[RateLimit], seed: u64) -> Self {
        Self { limiter: Limiter::new(limits, COUNTS, seed), start: Instant::now() }
    }

    /// Counts a request: a message, or one that opens or ends something. `None` when no limit speaks of it.
    pub(crate) fn check(
        &self,
        identity: &Identity,
        headers: &HeaderMap,
        profile: &str,
        message: Option<&Frame>,
    ) -> Option<Verdict> {
        if self.limiter.is_empty() {
            return None;
        }
        let is_call = message.is_some_and(|frame| frame.method() == Method::ToolsCall.name());
        let tool = message.filter(|_| is_call && self.limiter.asks_for_tools()).and_then(|frame| {
            let span = frame.param("name").ok().flatten()?;
            frame.string(span)
        });
        let request = Request {
            principal: identity.id(),
            address: identity.address,
            forwarded: forwarded(headers),
            profile,
            is_call,
            tool: tool.as_deref(),
        };
        self.limiter.check(&request, self.start.elapsed())
    }

    /// Lets go of counts that nobody adds to.
    pub(crate) fn sweep(&self) {
        self.limiter.sweep(self.start.elapsed());
    }
}

/// A verdict as dialects tell it.
pub(crate) fn rate(verdict: &Verdict) -> Rate {
    Rate {
        limit: verdict.limit.into(),
        remaining: verdict.remaining.into(),
        reset: seconds(verdict.reset),
        retry_after: seconds(verdict.retry_after),
    }
}

/// Whole seconds, rounded up: who comes after them is not too soon.
pub(crate) fn seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

/// The first address that a proxy names.
fn forwarded(headers: &HeaderMap) -> Option<IpAddr> {
    let text = headers.get(FORWARDED)?.to_str().ok()?;
    text.split(',').next()?.trim().parse().ok()
}
