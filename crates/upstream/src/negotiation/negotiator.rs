//! The protocol version and the transport for an upstream: candidates are tried in turn, and the result is remembered.
//! This module must not know how a connection is made.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use config::HttpTransport;
use parking_lot::Mutex;
use proto::era::{Era, HelloFault, Lifecycle, Web, newest_handshake, newest_stateless};
use proto::rpc::code;
use transport::up::LinkError;

/// The time limit for the answer to a request that a server may not know. Servers that know the request answer
/// immediately.
pub const PROBE: Duration = Duration::from_secs(5);

/// A combination of version and transport that an upstream may accept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// The version that is requested; a server with a handshake may answer with another one.
    pub era: &'static Era,
    /// The transport, if it is HTTP.
    pub web: Web,
}

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let web = match self.web {
            Web::Streamable => "",
            Web::EventStream => " over HTTP+SSE",
        };
        write!(f, "protocol version {}{web}", self.era)
    }
}

/// The transports that may be tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransportChoice {
    /// One endpoint; the value is true if HTTP+SSE may be tried as well.
    Streamable(bool),
    /// HTTP+SSE only.
    EventStream,
    /// A child, whose pipe carries everything.
    Pipe,
}

impl TransportChoice {
    /// Returns the transports over HTTP that the configuration allows.
    pub fn of(transport: HttpTransport) -> Self {
        match transport {
            HttpTransport::Auto => Self::Streamable(true),
            HttpTransport::Streamable => Self::Streamable(false),
            HttpTransport::Sse => Self::EventStream,
        }
    }
}

/// The candidates that an upstream is known to accept. Initially there are none; if all known candidates fail, they
/// are forgotten.
#[derive(Debug)]
pub struct Negotiator {
    transports: TransportChoice,
    known: Mutex<ProbeResults>,
    /// The lifecycles that the upstream is known to support; every request reads this value.
    lifecycles: AtomicU8,
}

/// Values of [`Negotiator::lifecycles`].
const HANDSHAKE_ALONE: u8 = 1;
const STATELESS_ALONE: u8 = 2;
const STATELESS_TOO: u8 = 3;

#[derive(Debug, Default, Clone, Copy)]
struct ProbeResults {
    handshake: Option<bool>,
    stateless: Option<bool>,
    /// True if every version was refused over a single endpoint, and the two endpoints of HTTP+SSE work.
    two_endpoints: bool,
}

impl ProbeResults {
    /// Returns the lifecycles that the server supports, in the form that [`Negotiator`] stores.
    fn lifecycles(self) -> u8 {
        match (self.handshake, self.stateless) {
            (Some(false), Some(true)) => STATELESS_ALONE,
            (Some(true), Some(false)) => HANDSHAKE_ALONE,
            (_, Some(false)) if self.two_endpoints => HANDSHAKE_ALONE,
            (_, Some(true)) => STATELESS_TOO,
            _ => 0,
        }
    }

    fn is_refused(self, candidate: Candidate) -> bool {
        match (candidate.web, candidate.era.lifecycle) {
            (Web::EventStream, _) => false,
            (Web::Streamable, Lifecycle::Handshake) => self.two_endpoints || self.handshake == Some(false),
            (Web::Streamable, Lifecycle::Stateless) => self.two_endpoints || self.stateless == Some(false),
        }
    }

    fn note(&mut self, candidate: Candidate, works: bool) {
        match (candidate.web, candidate.era.lifecycle) {
            (Web::EventStream, _) => self.two_endpoints = works,
            (Web::Streamable, Lifecycle::Handshake) => self.handshake = Some(works),
            (Web::Streamable, Lifecycle::Stateless) => self.stateless = Some(works),
        }
    }
}

impl Negotiator {
    /// Creates a negotiator that knows nothing about the upstream yet.
    pub fn new(transports: TransportChoice) -> Self {
        Self { transports, known: Mutex::default(), lifecycles: AtomicU8::new(0) }
    }

    /// Returns the candidates for clients of `era`, the best first: a candidate of the client's own lifecycle needs no
    /// translation. Candidates that are known to fail come last; they are still tried, because the server may have
    /// been replaced.
    pub fn candidates(&self, era: &'static Era) -> Vec<Candidate> {
        self.candidates_over(self.transports, era)
    }

    fn candidates_over(&self, transports: TransportChoice, era: &'static Era) -> Vec<Candidate> {
        let known = *self.known.lock();
        let other = match era.lifecycle {
            Lifecycle::Handshake => newest_stateless(),
            Lifecycle::Stateless => newest_handshake(),
        };
        let mut candidates: Vec<Candidate> = Vec::with_capacity(3);
        if transports != TransportChoice::EventStream {
            candidates.extend([era, other].map(|era| Candidate { era, web: Web::Streamable }));
        }
        if matches!(transports, TransportChoice::EventStream | TransportChoice::Streamable(true)) {
            let era = if era.has_sessions() { era } else { other };
            candidates.push(Candidate { era, web: Web::EventStream });
        }
        candidates.sort_by_key(|candidate| known.is_refused(*candidate));
        candidates
    }

    /// Returns true if the upstream is known to support only requests without sessions.
    pub fn is_stateless_only(&self) -> bool {
        self.lifecycles.load(Ordering::Relaxed) == STATELESS_ALONE
    }

    /// Returns true if the upstream is known to support only requests with sessions.
    pub fn is_handshake_only(&self) -> bool {
        self.lifecycles.load(Ordering::Relaxed) == HANDSHAKE_ALONE
    }

    /// Returns true if the upstream has accepted a handshake, and has not been tried without one yet.
    pub fn may_be_stateless_too(&self) -> bool {
        let known = self.known.lock();
        known.handshake == Some(true) && known.stateless.is_none()
    }

    /// Remembers whether the upstream serves clients without a handshake.
    pub fn note_stateless(&self, works: bool) {
        let mut known = self.known.lock();
        known.stateless = Some(works);
        self.lifecycles.store(known.lifecycles(), Ordering::Relaxed);
    }

    /// Returns true if the upstream is known to serve clients without a handshake.
    pub fn is_stateless_too(&self) -> bool {
        matches!(self.lifecycles.load(Ordering::Relaxed), STATELESS_ALONE | STATELESS_TOO)
    }

    /// Returns true if the upstream is known to accept this candidate.
    pub fn takes(&self, candidate: Candidate) -> bool {
        let known = self.known.lock();
        match (candidate.web, candidate.era.lifecycle) {
            (Web::EventStream, _) => known.two_endpoints,
            (Web::Streamable, Lifecycle::Handshake) => known.handshake == Some(true),
            (Web::Streamable, Lifecycle::Stateless) => known.stateless == Some(true),
        }
    }

    /// Remembers the candidate that works, and those that were refused before it. Refusals are remembered only when
    /// a candidate works, because a server that refuses everything may be down.
    pub fn settle(&self, works: Candidate, refused: &[Candidate]) {
        let mut known = self.known.lock();
        if works.web == Web::Streamable {
            known.two_endpoints = false;
        }
        for candidate in refused {
            known.note(*candidate, false);
        }
        known.note(works, true);
        self.lifecycles.store(known.lifecycles(), Ordering::Relaxed);
    }

    /// Records that a child did not answer within the whole time limit. A request of the other lifecycle may have
    /// confused the child, so the next child is sent a handshake first.
    pub fn was_silent(&self, refused: &[Candidate]) {
        let confuses = |candidate: &Candidate| candidate.era.lifecycle == Lifecycle::Stateless;
        let stateless = refused.iter().any(confuses).then_some(false);
        self.set(ProbeResults { stateless, ..ProbeResults::default() });
    }

    /// Forgets everything about the upstream, because the server may have been replaced.
    pub fn forget(&self) {
        self.set(ProbeResults::default());
    }

    fn set(&self, new: ProbeResults) {
        let mut known = self.known.lock();
        *known = new;
        self.lifecycles.store(new.lifecycles(), Ordering::Relaxed);
    }
}

/// A failed candidate.
#[derive(Debug)]
struct FailedCandidate {
    why: LinkError,
    /// True if the server refused a request without a handshake, which most servers do not know.
    is_refused_probe: bool,
}

/// The candidates that are left to try, and the reasons why earlier ones failed.
#[derive(Debug)]
pub struct Candidates {
    left: VecDeque<Candidate>,
    refused: Vec<Candidate>,
    failure: Option<FailedCandidate>,
    is_over: bool,
}

impl Candidates {
    /// Creates the candidates, which are tried in this order.
    pub fn new(candidates: Vec<Candidate>) -> Self {
        Self { left: candidates.into(), refused: Vec::new(), failure: None, is_over: false }
    }

    /// Returns the next candidate, and true if it was tried before.
    pub fn next_candidate(&mut self) -> Option<(Candidate, bool)> {
        let candidate = self.left.pop_front()?;
        Some((candidate, self.refused.contains(&candidate)))
    }

    /// Records that a candidate failed.
    pub fn failed(&mut self, candidate: Candidate, why: LinkError) {
        let verdict = verdict(&why, candidate);
        if verdict == Verdict::Refused && !self.refused.contains(&candidate) {
            self.refused.push(candidate);
            // The child may only have been slow to start; the candidate is tried again with the full time.
            // A server that does not keep a new session was probably restarted.
            if matches!(why, LinkError::Late(_)) {
                self.left.push_back(candidate);
            }
            if matches!(why, LinkError::SessionNotKept { .. }) {
                self.left.push_front(candidate);
            }
        }
        if verdict == Verdict::Final {
            self.left.clear();
            self.is_over = true;
        }
        let is_stateless = candidate.era.lifecycle == Lifecycle::Stateless;
        let is_refused_probe = is_stateless && matches!(why.cause(), LinkError::Refused { .. });
        let failure = FailedCandidate { why, is_refused_probe };
        self.failure = Some(match self.failure.take() {
            Some(old) => more_telling(old, failure),
            None => failure,
        });
    }

    /// Returns true when no other candidate is left.
    pub fn is_last(&self) -> bool {
        self.left.is_empty()
    }

    /// Records that a candidate was answered after its time limit.
    pub fn answered(&mut self, candidate: Candidate) {
        self.refused.retain(|other| *other != candidate);
        self.left.retain(|other| *other != candidate);
    }

    /// Returns the candidates that were refused.
    pub fn refused(&self) -> &[Candidate] {
        &self.refused
    }

    /// Returns the reason why no candidate works, and true if all of them were tried.
    pub fn failure(self) -> (LinkError, bool) {
        (self.failure.map_or(LinkError::Closed, |failure| failure.why), !self.is_over)
    }
}

/// The conclusion from a failed candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The upstream does not support the version or the transport.
    Refused,
    /// The upstream may or may not support the candidate; another candidate may work.
    Unclear,
    /// No other candidate would work either.
    Final,
}

/// Judges a failed handshake. Servers refuse unknown requests in many ways, including silence and exiting. Errors that stop
/// every client (credentials, redirects, an unreachable address) are not refusals.
pub fn verdict(error: &LinkError, asked: Candidate) -> Verdict {
    let is_stateless = asked.era.lifecycle == Lifecycle::Stateless;
    match error.cause() {
        // Only a server that knows stateless requests sends these codes. If that server does not support this version,
        // it may nevertheless accept a handshake.
        LinkError::Refused { code: code::HEADER_MISMATCH | code::MISSING_CAPABILITY, .. } if is_stateless => {
            Verdict::Final
        }
        LinkError::Status { status: 401 | 403 | 407 | 408 | 429, .. }
        | LinkError::Unauthorized(_)
        | LinkError::TooMany(_) => Verdict::Final,
        LinkError::Refused { .. }
        | LinkError::SessionNotKept { .. }
        | LinkError::Hello(_)
        | LinkError::EventStream(_)
        | LinkError::Child(_)
        | LinkError::Status { status: 200..=299 | 400..=499 | 501, .. } => Verdict::Refused,
        // A fault of the server, perhaps caused by a request that it does not know.
        LinkError::Status { status: 500..=599, .. } if is_stateless => Verdict::Unclear,
        // A server that accepts no POST here may use the two endpoints of HTTP+SSE. A web page is not a message.
        LinkError::NotAMessage(_) | LinkError::BrokeOff(_) if asked.web == Web::Streamable => {
            Verdict::Refused
        }
        LinkError::Late(_) | LinkError::Closed if is_stateless => Verdict::Refused,
        LinkError::Http(e) if is_stateless && !e.is_unsent() => Verdict::Unclear,
        _ => Verdict::Final,
    }
}

/// Of two failures, returns the one that tells the user more. A server's own message tells more than a bare status
/// or an "unknown method", which is the usual answer to a request of a version that the server does not support.
fn more_telling(old: FailedCandidate, new: FailedCandidate) -> FailedCandidate {
    if matches!(old.why, LinkError::SessionNotKept { .. }) && new.why.passing().is_some() {
        return new;
    }
    // The server became unavailable during the attempts. Callers can wait for it, so this failure must not be hidden by the
    // refusal of a request that the server does not know.
    match (old.is_refused_probe, new.is_refused_probe) {
        (true, false) if new.why.passing().is_some() => return new,
        (false, true) if old.why.passing().is_some() => return old,
        _ => {}
    }
    // A probe has a shorter time limit than the last attempt.
    if let (LinkError::Late(short), LinkError::Late(long)) = (&old.why, &new.why) {
        return if long > short { new } else { old };
    }
    if rank(&new.why) > rank(&old.why) { new } else { old }
}

/// Returns the rank of a failure; of two failures, the user sees the one with the higher rank.
fn rank(error: &LinkError) -> u8 {
    match error {
        LinkError::Refused { code: code::METHOD_NOT_FOUND, .. } => 2,
        LinkError::Refused { .. } | LinkError::Hello(HelloFault::Version(_) | HelloFault::Member(..)) => 5,
        LinkError::Hello(_) | LinkError::NotStarted { .. } | LinkError::SessionNotKept { .. } => 4,
        LinkError::Child(_) | LinkError::NotAMessage(_) | LinkError::BrokeOff(_) => 3,
        LinkError::Status { .. } | LinkError::Late(_) => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests;
