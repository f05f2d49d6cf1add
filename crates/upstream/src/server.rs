//! One configured server: its configuration, the known facts about it, and the record of its log lines. This module
//! must not know links, or what the server offers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use config::{Link as LinkConfig, QuestionPolicy};
use engine::Snapshot;
use engine::exchange::{Execution, Mirror, Outbound};
use engine::meters::ServerMeters;
use engine::passed_headers::PassedHeaders;
use engine::snapshot::UpstreamSpec;
use proto::era::{Era, newest_handshake, newest_stateless};
use proto::mcp::Method;
use transport::net::client::ClientError;
use transport::up::{CredentialRefusal, LinkError, MuxFault};

use crate::bulletin::Bulletin;
use crate::concurrency::Concurrency;
use crate::definitions::DefinitionRecord;
use crate::destination::Destination;
use crate::drain::Drain;
use crate::health::{Failure, HealthCause, HealthEvent, HealthWord, ReasonClass, ServerHealth};
use crate::last_words::LastWords;
use crate::liveness::Liveness;
use crate::mask::Mask;
use crate::negotiation::negotiator::{Negotiator, TransportChoice};
use crate::oauth::{CallerId, Consents, Grant};
use crate::roots_habit::RootsHabit;
use crate::separation::CallerSeparation;
use crate::server_shutdown::ServerShutdown;

/// One configured server.
pub struct Server {
    /// The server's configuration.
    pub spec: UpstreamSpec,
    pub(crate) mask: Mask,
    /// The server's address or command.
    pub destination: Destination,
    /// The host and the port of a server that is reached over HTTP.
    pub address: Option<(Arc<str>, u16)>,
    /// The versions and transports that the server is known to accept.
    pub negotiator: Negotiator,
    pub(crate) bulletin: Bulletin,
    /// The server's state and its reason.
    pub health: ServerHealth,
    /// The grant whose token the server's links send: the grant of one caller, or of all callers. `None` for the
    /// common upstream if callers are separated.
    pub grant: Option<Arc<Grant>>,
    separation: Option<CallerSeparation>,
    next_id: AtomicU64,
    liveness: Liveness,
    /// The server's shutdown, once it is no longer configured.
    pub shutdown: ServerShutdown,
    /// The calls that run concurrently at the server; shared with its per-caller upstreams.
    pub concurrency: Arc<Concurrency>,
    /// The record of whether the server asks for roots right after a link opens; shared with its per-caller upstreams.
    pub roots: Arc<RootsHabit>,
    /// The record of the server's tool definitions; shared with its per-caller upstreams.
    pub definitions: Arc<DefinitionRecord>,
    /// The figures of the server's requests; shared with its per-caller upstreams.
    pub meters: Arc<ServerMeters>,
    /// The stderr of the process that ended last.
    pub(crate) last_words: LastWords,
}

/// The parts of a server that its per-caller upstreams share.
struct SharedParts {
    drain: Arc<Drain>,
    concurrency: Arc<Concurrency>,
    roots: Arc<RootsHabit>,
    definitions: Arc<DefinitionRecord>,
    meters: Arc<ServerMeters>,
}

impl Server {
    /// Creates the server that `spec` configures.
    ///
    /// # Errors
    /// Returns a message that names the invalid setting.
    pub fn new(spec: UpstreamSpec, snapshot: &Snapshot, consents: &Consents) -> Result<Self, String> {
        let at = Destination::of(&spec, snapshot, consents)?;
        let asks_consent = matches!(&spec.link, LinkConfig::Http(http) if http.oauth.is_some());
        let passes = !spec.passed_headers().is_empty();
        let offers_consent = spec.own_consent && asks_consent;
        let wants = spec.own_links || passes || offers_consent;
        let separation = spec.per_caller().then(|| CallerSeparation::new(wants, offers_consent));
        let concurrency = Concurrency::new(spec.calls.concurrent, spec.calls.waiting);
        let definitions = DefinitionRecord::new(spec.definitions);
        let (drain, roots, meters) = (Arc::default(), Arc::default(), Arc::default());
        let shared = SharedParts { drain, concurrency, roots, definitions, meters };
        let server = Self::at(spec, at, separation, shared);
        server.note_expected_refusals();
        Ok(server)
    }

    /// Creates the server for one caller alone, with these headers of the caller's requests, and with the caller's own grant if
    /// every caller gives consent separately.
    pub(crate) fn owned(&self, caller: &CallerId, passed: &PassedHeaders, consents: &Consents) -> Self {
        let (destination, grant) = self.destination.owned(&self.spec, caller, passed, consents);
        let grant = grant.or_else(|| self.grant.clone());
        let shared = SharedParts {
            drain: self.shutdown.drain.clone(),
            concurrency: self.concurrency.clone(),
            roots: self.roots.clone(),
            definitions: self.definitions.clone(),
            meters: self.meters.clone(),
        };
        let mut owned = Self::at(self.spec.clone(), (destination, grant), None, shared);
        owned.mask = owned.mask.with(passed);
        if owned.spec.own_consent {
            // The caller is asked for its consent; this is no fault of the server.
            owned.health.expect_refusal();
        }
        owned
    }

    fn at(
        spec: UpstreamSpec,
        (destination, grant): (Destination, Option<Arc<Grant>>),
        separation: Option<CallerSeparation>,
        SharedParts { drain, concurrency, roots, definitions, meters }: SharedParts,
    ) -> Self {
        let transports = match &spec.link {
            LinkConfig::Http(http) => TransportChoice::of(http.transport),
            LinkConfig::Stdio(_) | LinkConfig::Native(_) => TransportChoice::Pipe,
        };
        let health = ServerHealth::new(spec.name.clone(), matches!(spec.link, LinkConfig::Stdio(_)));
        Self {
            mask: Mask::of(&spec.link),
            health,
            spec,
            address: destination.address(),
            destination,
            negotiator: Negotiator::new(transports),
            bulletin: Bulletin::default(),
            grant,
            separation,
            next_id: AtomicU64::new(1),
            liveness: Liveness::default(),
            shutdown: ServerShutdown::new(drain),
            concurrency,
            roots,
            definitions,
            meters,
            last_words: LastWords::default(),
        }
    }

    /// Returns the server's configured name.
    pub fn name(&self) -> &Arc<str> {
        &self.spec.name
    }

    /// Returns the message for an error of this server, with the server's secrets masked.
    pub fn describe(&self, what: &LinkError) -> String {
        let (said, what) = (self.mask.show(what), what.cause());
        match (&self.grant, what) {
            (Some(grant), LinkError::Unauthorized(refusal)) => grant.describe(refusal, &said),
            (Some(grant), _) => grant.concealed(said),
            (None, LinkError::Unauthorized(_)) if self.separation.is_some() && self.spec.own_consent => {
                format!(
                    "{said} (it requires the consent of each caller, but this caller is not authenticated, or \
                 too many callers use it at once)"
                )
            }
            (None, _) => said,
        }
    }

    /// Returns a text of the server, with its secrets masked.
    pub fn concealed(&self, text: &str) -> String {
        let said = self.mask.show(&text);
        match &self.grant {
            Some(grant) => grant.concealed(said),
            None => said,
        }
    }

    /// Handles a refusal without a user if this is possible; returns `true` if the request may be sent again.
    pub async fn is_let_in(&self, refusal: &CredentialRefusal) -> bool {
        if let Some(grant) = &self.grant {
            return grant.answer(refusal).await;
        }
        if let Some(separation) = &self.separation {
            separation.note(&refusal.challenge);
            self.note_expected_refusals();
        }
        false
    }

    /// Tells the server's health if the server's refusals are expected, because users can give it consent.
    fn note_expected_refusals(&self) {
        let offers = self.separation.as_ref().is_some_and(CallerSeparation::offers_consent);
        if offers && self.spec.own_consent && self.grant.is_none() {
            self.health.expect_refusal();
        }
    }

    /// Returns true if each caller has its own upstream for the server.
    pub fn is_per_caller(&self) -> bool {
        self.separation.as_ref().is_some_and(CallerSeparation::is_wanted)
    }

    /// Returns true if each caller gives its own consent, so a refusal of the gateway's own requests is not a
    /// fault. `is_known` is true if a caller has already been asked for consent.
    pub fn awaits_callers(&self, is_known: bool) -> bool {
        let offers = || self.separation.as_ref().is_some_and(CallerSeparation::offers_consent);
        let is_refused = || self.health.report().word == HealthWord::AuthRequired;
        self.spec.own_consent && self.grant.is_none() && (is_known || offers()) && is_refused()
    }

    /// Returns true if the server's answers to the gateway's own requests also show the server's state for callers.
    pub fn has_common_state(&self) -> bool {
        !self.spec.own_consent && self.spec.passed_headers().is_empty()
    }

    /// Returns true if callers have become separated since the last call of this function.
    pub fn take_news(&self) -> bool {
        self.separation.as_ref().is_some_and(CallerSeparation::take_news)
    }

    /// Returns true if requests to the server are HTTP requests with headers.
    pub fn over_http(&self) -> bool {
        matches!(self.destination, Destination::Http(..))
    }

    /// Returns true if the server lives in this process.
    pub fn is_native(&self) -> bool {
        matches!(self.destination, Destination::Native(_))
    }

    /// Returns true if each of the server's links is a child process.
    pub fn is_child(&self) -> bool {
        matches!(self.destination, Destination::Child(_))
    }

    /// Returns true if the server may send its clients questions, so each client that can be asked needs a
    /// dedicated link.
    pub fn may_ask(&self) -> bool {
        self.spec.asks == QuestionPolicy::Auto && !self.is_native() && !self.negotiator.is_stateless_only()
    }

    /// Returns the protocol version with which links are opened for clients that use the version `client`. Over
    /// HTTP, this is the clients' own version if the server may accept it, because then nothing has to be
    /// translated. On a pipe, each link is a process, so all clients with sessions share one link. Clients without
    /// sessions share another link if the server supports such clients.
    pub fn link_era(&self, client: &'static Era) -> &'static Era {
        match &self.destination {
            Destination::Native(_) => client,
            _ if self.negotiator.is_stateless_only() => newest_stateless(),
            _ if self.spec.is_single() => newest_handshake(),
            Destination::Child(_) if !client.has_sessions() && self.negotiator.is_stateless_too() => client,
            Destination::Child(_) => newest_handshake(),
            Destination::Http(..) if self.negotiator.is_handshake_only() && !client.has_sessions() => {
                newest_handshake()
            }
            Destination::Http(..) => client,
        }
    }

    /// Records that a client waited without success for the server's lists, or that the lists have arrived.
    pub fn note_hang(&self, hangs: bool) {
        self.liveness.note_hang(hangs);
    }

    /// Returns true if a client waited for the server without success a short time ago.
    pub fn hung_lately(&self) -> bool {
        self.liveness.hung_lately()
    }

    /// Records that the server has answered.
    pub fn note_up(&self) {
        self.liveness.note_up(|| self.health.note_good());
    }

    /// Records that the server could not be reached, or disconnected before it answered.
    pub fn note_down(&self) {
        self.liveness.note_down();
    }

    /// Records that a client's request failed with an error that may be temporary: the server may be gone.
    pub fn note_failed(&self, why: &LinkError) {
        self.note_down();
        self.health.note(HealthEvent::ExchangeFailed(self.failure(why)));
    }

    /// Records that a stream that the gateway itself opened failed with an error that may be temporary.
    pub fn note_lost_stream(&self, why: &LinkError) {
        self.note_down();
        self.health.note(HealthEvent::StreamFailed(self.failure(why)));
    }

    /// Returns the meaning of a failure for the server's health.
    pub fn failure(&self, why: &LinkError) -> Failure {
        let cause = HealthCause::of(why, self.describe(why));
        match why.cause() {
            LinkError::Http(ClientError::Busy { .. })
            | LinkError::Resting { .. }
            | LinkError::TooMany(_)
            | LinkError::Ambiguous(_)
            | LinkError::Busy(_)
            | LinkError::HeldBack(_) => Failure::Nothing,
            // The end of a running process is reported by the task that reads its output.
            LinkError::Child(e) if e.is_final() => Failure::Nothing,
            LinkError::Unauthorized(_) | LinkError::Status { status: 401, .. } => {
                Failure::Unauthorized(cause)
            }
            LinkError::Late(_)
            | LinkError::Http(ClientError::Timeout { .. } | ClientError::ConnectTimeout { .. }) => {
                Failure::Doubtful(cause)
            }
            _ => match why.passing() {
                Some(Execution::NotExecuted) => Failure::Unreachable(cause),
                Some(Execution::Unknown) => Failure::Doubtful(cause),
                None => Failure::Unwell(cause),
            },
        }
    }

    /// Returns true if the server answered a short time ago, so the failure may be a restart.
    pub fn may_be_restarting(&self) -> bool {
        !self.has_ended() && self.liveness.answered_lately()
    }

    /// Returns the meaning of a failure to open a link for the server's health.
    pub fn failure_to_open(&self, why: &LinkError) -> Failure {
        match why.cause() {
            LinkError::Child(e) => Failure::Unwell(self.last_words.note(e, &self.mask)),
            LinkError::Closed if self.has_ended() => Failure::Nothing,
            _ => self.failure(why),
        }
    }

    /// Returns the reason for the end of a shared transport that ended by itself; `None` for a transport that the
    /// gateway closed.
    pub fn own_end(&self, why: &MuxFault) -> Option<HealthCause> {
        match why {
            MuxFault::Child(e) => e.is_own_end().then(|| self.last_words.note(e, &self.mask)),
            MuxFault::Ended | MuxFault::Broken(_) => {
                let brief = "the server closed its event stream".to_owned();
                Some(HealthCause { brief, detail: self.mask.show(why), class: ReasonClass::Connection })
            }
            MuxFault::TooLong(_) | MuxFault::OutOfMemory(_) | MuxFault::Stopped => None,
        }
    }

    /// Begins the shutdown, because the server is no longer configured: running calls may finish, and the gateway
    /// no longer listens for the server's messages.
    pub fn leave(&self) {
        self.shutdown.begin();
        self.health.note(HealthEvent::Leaving);
    }

    /// Returns a number for the id of a question.
    pub fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// Prevents any further opening of links, without signalling the shutdown.
    pub fn shut(&self) {
        self.shutdown.complete();
    }

    /// Begins the shutdown, and prevents any further opening of links.
    pub fn end(&self) {
        self.leave();
        self.shut();
    }

    /// Returns true if no more links to the server are opened.
    pub fn has_ended(&self) -> bool {
        self.shutdown.is_complete()
    }

    /// Builds a request that the gateway itself sends to the server.
    pub fn own_request(&self, era: &'static Era, key: u64, body: Bytes, method: Method) -> Outbound {
        Outbound { upstream: self.spec.id, era, key, body, mirror: mirror(era, method), traceparent: None }
    }
}

/// Shortens a line to the length that a reason may have.
/// Returns the header mirror for a request that the gateway itself sends; `None` in versions without mirrors.
pub fn mirror(era: &Era, method: Method) -> Option<Mirror> {
    era.mirrored_headers.then(|| Mirror::of_method(method))
}
