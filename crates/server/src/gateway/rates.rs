//! How often requests may come: the engine's limits, with a clock. It must not know how a refusal is said.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use engine::config::RateLimit;
use engine::dialect::Rate;
use engine::rate::{Limiter, Request, Verdict, forwarded};
use http::HeaderMap;
use proto::mcp::Method;
use proto::rpc::Frame;

use super::identity::Identity;

/// How many counts are kept at most; rested ones make room.
const COUNTS: usize = 100_000;

/// All limits.
pub(crate) struct Rates {
    limiter: Limiter,
    start: Instant,
}

/// How often somebody may manage. Who is let in is counted by name and nobody else: those who guess behind the same proxy
/// lock out nobody.
pub(crate) struct ManageRates {
    /// Of those who are let in.
    pub(crate) known: Rates,
    /// Of addresses from which somebody is not.
    pub(crate) refused: Rates,
}

impl ManageRates {
    /// Forgets counts that have rested.
    pub(crate) fn sweep(&self) {
        self.known.sweep();
        self.refused.sweep();
    }
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
        let tool = message.and_then(|frame| self.tool(frame));
        let request = self.request(identity, headers, profile, message, tool.as_deref());
        self.limiter.check(&request, self.start.elapsed())
    }

    /// Counts messages that come together, all of them or none. `None` when no limit speaks of any.
    pub(crate) fn check_all(
        &self,
        identity: &Identity,
        headers: &HeaderMap,
        profile: &str,
        messages: &[&Frame],
    ) -> Option<Verdict> {
        if self.limiter.is_empty() {
            return None;
        }
        let tools: Vec<_> = messages.iter().map(|frame| self.tool(frame)).collect();
        let requests: Vec<Request<'_>> = messages
            .iter()
            .zip(&tools)
            .map(|(frame, tool)| self.request(identity, headers, profile, Some(frame), tool.as_deref()))
            .collect();
        self.limiter.check_all(&requests, self.start.elapsed())
    }

    /// The tool that a message calls, where a limit speaks of tools.
    fn tool<'a>(&self, frame: &'a Frame) -> Option<Cow<'a, str>> {
        if !self.limiter.asks_for_tools() || !is_call(frame) {
            return None;
        }
        frame.string(frame.param("name").ok().flatten()?)
    }

    fn request<'a>(
        &self,
        identity: &'a Identity,
        headers: &HeaderMap,
        profile: &'a str,
        message: Option<&Frame>,
        tool: Option<&'a str>,
    ) -> Request<'a> {
        Request {
            principal: identity.id(),
            address: identity.address,
            forwarded: if self.limiter.trusts_proxies() { forwarded(headers) } else { None },
            profile,
            is_call: message.is_some_and(is_call),
            tool,
        }
    }

    /// Lets go of counts that nobody adds to.
    pub(crate) fn sweep(&self) {
        self.limiter.sweep(self.start.elapsed());
    }
}

fn is_call(frame: &Frame) -> bool {
    frame.method() == Method::ToolsCall.name()
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
