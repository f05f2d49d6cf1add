//! Rate limits: the engine's limits combined with a clock, and the parts of a message that these limits depend on.
//! This module must not know the form of a refusal.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use config::RateLimit;
use engine::dialect::Rate;
use engine::rate::{Connection, Limiter, RatedRequest, SharedLimiter, UnknownCaller, Verdict};
use engine::search::inner_name;
use http::HeaderMap;
use proto::mcp::Method;
use proto::rpc::Frame;
use tracing::field::display;

use crate::admission::count_store::CountStore;
use crate::admission::identity::Identity;
use crate::admission::rate_counter::RateCounter;
use crate::admission::refusals::Refusals;
use crate::telemetry::RateDecisions;

/// The maximum number of counts that are kept; idle ones are dropped first.
const COUNTS: usize = 100_000;

/// All rate limits that apply to one profile, or to management.
pub struct Rates {
    counter: RateCounter,
    start: Instant,
    refusals: Refusals,
    decisions: RateDecisions,
}

/// A message, reduced to what rate limits need.
pub struct LimitedMessage<'a> {
    is_call: bool,
    tool: Option<Cow<'a, str>>,
    /// The identity of the tool (the same under all of the tool's names), if the client can see the tool.
    identity: Option<Arc<str>>,
}

impl LimitedMessage<'_> {
    /// Returns the name of the called tool, if a limit depends on which tool it is.
    pub(crate) fn tool(&self) -> Option<&str> {
        self.tool.as_deref()
    }

    /// Stores the identity of the tool, if the client can see the tool.
    pub(crate) fn set_identity(&mut self, identity: Option<Arc<str>>) {
        self.identity = identity;
    }
}

/// The rate limits of management. Authenticated callers are counted separately, by name, so guessing behind a shared
/// proxy cannot lock them out.
pub struct ManageRates {
    /// The limits of authenticated callers.
    pub known: Rates,
    /// The limits of addresses with failed attempts.
    pub refused: Rates,
}

impl ManageRates {
    /// Forgets idle counts.
    pub(crate) fn sweep(&self) {
        self.known.sweep();
        self.refused.sweep();
    }
}

impl Rates {
    /// Creates the configured limits. `name` returns the name of each limit for log lines; `seed` is random. If there is a store, all
    /// gateways of the cluster share the counts.
    pub(crate) fn new(
        limits: &[RateLimit],
        name: impl Fn(usize) -> String,
        seed: u64,
        store: Option<Arc<CountStore>>,
    ) -> Self {
        let start = Instant::now();
        let counter = match store {
            Some(store) => RateCounter::shared(SharedLimiter::new(limits, COUNTS, seed), store, start),
            None => RateCounter::Own(Limiter::new(limits, COUNTS, seed)),
        };
        let refusals = Refusals::new((0..limits.len()).map(&name));
        let decisions = RateDecisions::new((0..limits.len()).map(name));
        Self { counter, start, refusals, decisions }
    }

    /// Counts a request: a message, or a request that opens or ends a stream or a session. Returns `None` if no limit
    /// applies.
    pub async fn check(
        &self,
        identity: &Identity,
        headers: &HeaderMap,
        profile: &str,
        message: Option<&LimitedMessage<'_>>,
    ) -> Option<Verdict> {
        if self.counter.is_empty() {
            return None;
        }
        let (request, now) = (Self::request(identity, headers, profile, message), self.start.elapsed());
        let verdict = self.counter.check(&request, now).await;
        self.count(verdict.as_ref());
        self.log_refusal(verdict.as_ref(), &request, now);
        verdict
    }

    /// Counts messages that arrive together: either all of them, or none. Returns `None` if no limit applies.
    pub(crate) async fn check_all(
        &self,
        identity: &Identity,
        headers: &HeaderMap,
        profile: &str,
        messages: &[LimitedMessage<'_>],
    ) -> Option<Verdict> {
        if self.counter.is_empty() {
            return None;
        }
        let requests: Vec<RatedRequest<'_>> =
            messages.iter().map(|message| Self::request(identity, headers, profile, Some(message))).collect();
        let now = self.start.elapsed();
        let verdict = self.counter.check_all(&requests, now).await;
        self.count(verdict.as_ref());
        if let Some(first) = requests.first() {
            self.log_refusal(verdict.as_ref(), first, now);
        }
        verdict
    }

    /// Counts an authentication attempt under `profile`, the profile name in the request; returns true if the
    /// attempt was counted. A caller for which `is_familiar` returns true may exceed the limit.
    ///
    /// # Errors
    /// Returns the verdict of an exceeded limit.
    pub(crate) async fn enter(
        &self,
        anyone: &Identity,
        headers: &HeaderMap,
        profile: &str,
        is_familiar: impl FnOnce() -> bool,
    ) -> Result<bool, Verdict> {
        if self.counter.is_empty() {
            return Ok(false);
        }
        let now = self.start.elapsed();
        match self.counter.enter(&Self::entering(anyone, headers, profile), now).await {
            Ok(()) => Ok(true),
            Err(_) if is_familiar() => Ok(false),
            Err(verdict) => {
                self.count(Some(&verdict));
                self.log_refusal(Some(&verdict), &Self::request(anyone, headers, profile, None), now);
                Err(verdict)
            }
        }
    }

    /// Adds a verdict to the counters of the limit that decided it.
    fn count(&self, verdict: Option<&Verdict>) {
        if let Some(verdict) = verdict {
            self.decisions.count(verdict.place, verdict.allowed);
        }
    }

    /// Returns the decisions of all limits.
    pub fn decisions(&self) -> &RateDecisions {
        &self.decisions
    }

    /// Logs a refusal and its limit, unless one was logged recently.
    fn log_refusal(&self, verdict: Option<&Verdict>, request: &RatedRequest<'_>, now: Duration) {
        let refused = verdict.filter(|verdict| !verdict.allowed);
        let Some((limit, count)) = refused.and_then(|verdict| self.refusals.count(verdict.place, now)) else {
            return;
        };
        let &RatedRequest { principal, profile, .. } = request;
        let peer = request.connection.map(|connection| connection.peer);
        let client = request.address.filter(|address| Some(*address) != peer).map(display);
        let peer = peer.map(display);
        let why = if verdict.is_some_and(|verdict| verdict.is_unknown) {
            "request refused, because the count of a rate limit is unknown without the cluster's store"
        } else {
            "rate limit exceeded"
        };
        tracing::info!(limit, principal, peer, client, profile, count, "{why}");
    }

    /// Removes an admitted caller's attempt from the counts.
    pub(crate) fn let_in(&self, anyone: &Identity, headers: &HeaderMap, profile: &str) {
        self.counter.let_in(&Self::entering(anyone, headers, profile));
    }

    fn entering<'a>(anyone: &'a Identity, headers: &'a HeaderMap, profile: &'a str) -> UnknownCaller<'a> {
        UnknownCaller {
            nobody: anyone.id(),
            address: anyone.address(),
            connection: connection(anyone, headers),
            profile,
        }
    }

    /// Returns the parts of a message that rate limits need, for a caller that sees no tools. `searches` returns
    /// true if clients of the profile find tools by searching; a call of `call_tool` then counts as a call of the
    /// tool that it names.
    pub(crate) fn nowhere<'a>(
        &self,
        frame: &'a Frame,
        searches: impl FnOnce() -> bool,
    ) -> LimitedMessage<'a> {
        LimitedMessage { is_call: is_call(frame), tool: self.tool(frame, searches), identity: None }
    }

    /// Returns the tool that a message calls, if a limit depends on tools.
    fn tool<'a>(&self, frame: &'a Frame, searches: impl FnOnce() -> bool) -> Option<Cow<'a, str>> {
        if !self.counter.asks_for_tools() || !is_call(frame) {
            return None;
        }
        if let Some(inner) = inner_name(frame).filter(|_| searches()) {
            return Some(inner);
        }
        frame.string(frame.param("name").ok().flatten()?)
    }

    fn request<'a>(
        identity: &'a Identity,
        headers: &'a HeaderMap,
        profile: &'a str,
        message: Option<&'a LimitedMessage<'_>>,
    ) -> RatedRequest<'a> {
        RatedRequest {
            principal: identity.id(),
            address: identity.address(),
            connection: connection(identity, headers),
            profile,
            is_call: message.is_some_and(|message| message.is_call),
            tool: message.and_then(|message| message.tool.as_deref()),
            identity: message.and_then(|message| message.identity.as_deref()),
        }
    }

    /// Returns the name of each limit with the number of requests that it has refused.
    pub fn refused(&self) -> Vec<(String, u64)> {
        self.refusals.totals()
    }

    /// Forgets idle counts, and logs refusals that were not logged yet.
    pub(crate) fn sweep(&self) {
        let now = self.start.elapsed();
        self.counter.sweep(now);
        for (limit, count) in self.refusals.rest(now) {
            tracing::info!(limit, count, "further requests exceeded the rate limit");
        }
    }
}

/// Returns the connection of a request, for limits with their own trusted proxies.
fn connection<'a>(identity: &Identity, headers: &'a HeaderMap) -> Option<Connection<'a>> {
    identity.client_address.map(|client| Connection { peer: client.peer, headers })
}

fn is_call(frame: &Frame) -> bool {
    frame.method() == Method::ToolsCall.name()
}

/// Returns a verdict in the form that dialects use.
pub(crate) fn rate(verdict: &Verdict) -> Rate {
    Rate {
        limit: verdict.limit.into(),
        remaining: verdict.remaining.into(),
        reset: seconds(verdict.reset),
        retry_after: seconds(verdict.retry_after),
    }
}

/// Returns a duration in whole seconds. Rounds up, so a client that waits this long is not too early.
pub fn seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}
