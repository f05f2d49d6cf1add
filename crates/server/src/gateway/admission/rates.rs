//! How often requests may come: the engine's limits, with a clock; and which names that requests call are tools. It must not
//! know how a refusal is said.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use engine::config::RateLimit;
use engine::dialect::Rate;
use engine::rate::{Connection, Entering, Limiter, Request, Verdict};
use http::HeaderMap;
use proto::mcp::Method;
use proto::rpc::Frame;
use tracing::field::display;

use crate::gateway::admission::identity::Identity;
use crate::gateway::admission::refusals::Refusals;

/// The number of counts that are kept at most; rested ones make room.
const COUNTS: usize = 100_000;

/// All limits.
pub(crate) struct Rates {
    limiter: Limiter,
    start: Instant,
    refusals: Refusals,
}

/// A message as limits see it.
pub(crate) struct Counted<'a> {
    is_call: bool,
    tool: Option<Cow<'a, str>>,
    is_shown: bool,
}

impl Counted<'_> {
    /// Notes whether its client sees the tool.
    pub(crate) fn set_shown(&mut self, is_shown: bool) {
        self.is_shown = is_shown;
    }
}

/// The rate at which somebody may manage. Who is let in is counted by name and nobody else: those who guess behind the
/// same proxy lock out nobody.
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
    /// The configured limits, and what the log calls each by its place; `seed` is random.
    pub(crate) fn new(limits: &[RateLimit], name: impl Fn(usize) -> String, seed: u64) -> Self {
        let refusals = Refusals::new((0..limits.len()).map(name));
        Self { limiter: Limiter::new(limits, COUNTS, seed), start: Instant::now(), refusals }
    }

    /// Counts a request: a message, or one that opens or ends something. `None` when no limit speaks of it.
    pub(crate) fn check(
        &self,
        identity: &Identity,
        headers: &HeaderMap,
        profile: &str,
        message: Option<&Counted<'_>>,
    ) -> Option<Verdict> {
        if self.limiter.is_empty() {
            return None;
        }
        let (request, now) = (Self::request(identity, headers, profile, message), self.start.elapsed());
        let verdict = self.limiter.check(&request, now);
        self.tell(verdict.as_ref(), &request, now);
        verdict
    }

    /// Counts messages that come together, all of them or none. `None` when no limit speaks of any.
    pub(crate) fn check_all(
        &self,
        identity: &Identity,
        headers: &HeaderMap,
        profile: &str,
        messages: &[Counted<'_>],
    ) -> Option<Verdict> {
        if self.limiter.is_empty() {
            return None;
        }
        let requests: Vec<Request<'_>> =
            messages.iter().map(|message| Self::request(identity, headers, profile, Some(message))).collect();
        let now = self.start.elapsed();
        let verdict = self.limiter.check_all(&requests, now);
        if let Some(first) = requests.first() {
            self.tell(verdict.as_ref(), first, now);
        }
        verdict
    }

    /// Counts somebody who is about to show who they are at a profile, as they name it; whether they were counted. Who
    /// `is_familiar` comes by a limit that is used up.
    ///
    /// # Errors
    /// The verdict of a limit that is used up.
    pub(crate) fn enter(
        &self,
        anyone: &Identity,
        headers: &HeaderMap,
        profile: &str,
        is_familiar: impl FnOnce() -> bool,
    ) -> Result<bool, Verdict> {
        if self.limiter.is_empty() {
            return Ok(false);
        }
        let now = self.start.elapsed();
        match self.limiter.enter(&Self::entering(anyone, headers, profile), now) {
            Ok(()) => Ok(true),
            Err(_) if is_familiar() => Ok(false),
            Err(verdict) => {
                self.tell(Some(&verdict), &Self::request(anyone, headers, profile, None), now);
                Err(verdict)
            }
        }
    }

    /// Says in the log who came too soon, by which limit, if another line about that is due.
    fn tell(&self, verdict: Option<&Verdict>, request: &Request<'_>, now: Duration) {
        let refused = verdict.filter(|verdict| !verdict.allowed);
        let Some((limit, count)) = refused.and_then(|verdict| self.refusals.count(verdict.place, now)) else {
            return;
        };
        let &Request { principal, profile, .. } = request;
        let peer = request.connection.map(|connection| connection.peer);
        let client = request.address.filter(|address| Some(*address) != peer).map(display);
        let peer = peer.map(display);
        tracing::info!(limit, principal, peer, client, profile, count, "a request came too soon");
    }

    /// Takes back what was counted of somebody who was let in.
    pub(crate) fn let_in(&self, anyone: &Identity, headers: &HeaderMap, profile: &str) {
        self.limiter.let_in(&Self::entering(anyone, headers, profile));
    }

    fn entering<'a>(anyone: &'a Identity, headers: &'a HeaderMap, profile: &'a str) -> Entering<'a> {
        Entering {
            nobody: anyone.id(),
            address: anyone.address(),
            connection: connection(anyone, headers),
            profile,
        }
    }

    /// A message as limits see it where nobody sees any tool.
    pub(crate) fn nowhere<'a>(&self, frame: &'a Frame) -> Counted<'a> {
        Counted { is_call: is_call(frame), tool: self.tool(frame), is_shown: false }
    }

    /// The tool of which it matters whether anybody sees it, as tools are told apart.
    pub(crate) fn asks_about<'c>(&self, counted: &'c Counted<'_>) -> Option<&'c str> {
        counted.tool.as_deref().filter(|_| self.limiter.tells_tools_apart())
    }

    /// The tool that a message calls, where a limit speaks of tools.
    fn tool<'a>(&self, frame: &'a Frame) -> Option<Cow<'a, str>> {
        if !self.limiter.asks_for_tools() || !is_call(frame) {
            return None;
        }
        frame.string(frame.param("name").ok().flatten()?)
    }

    fn request<'a>(
        identity: &'a Identity,
        headers: &'a HeaderMap,
        profile: &'a str,
        message: Option<&'a Counted<'_>>,
    ) -> Request<'a> {
        Request {
            principal: identity.id(),
            address: identity.address(),
            connection: connection(identity, headers),
            profile,
            is_call: message.is_some_and(|message| message.is_call),
            tool: message.and_then(|message| message.tool.as_deref()),
            is_shown: message.is_some_and(|message| message.is_shown),
        }
    }

    /// Lets go of counts that nobody adds to, and says in the log what has not been said of refusals.
    pub(crate) fn sweep(&self) {
        let now = self.start.elapsed();
        self.limiter.sweep(now);
        for (limit, count) in self.refusals.rest(now) {
            tracing::info!(limit, count, "more requests came too soon");
        }
    }
}

/// The connection of a request, for limits that trust proxies of their own.
fn connection<'a>(identity: &Identity, headers: &'a HeaderMap) -> Option<Connection<'a>> {
    identity.client.map(|client| Connection { peer: client.peer, headers })
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
