//! One configured server: what is known of it, and what was done about it. It must not know links, or what it offers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bytes::Bytes;
use engine::Snapshot;
use engine::config::{Link as LinkConfig, QuestionPolicy};
use engine::exchange::{Execution, Mirror, Outbound};
use engine::snapshot::UpstreamSpec;
use proto::era::{Era, newest_handshake, newest_stateless};
use proto::mcp::Method;
use transport::child::ChildError;
use transport::net::client::ClientError;
use transport::up::{CredentialRefusal, LinkError, MuxFault};

use crate::bulletin::Bulletin;
use crate::concurrency::Concurrency;
use crate::destination::Destination;
use crate::drain::Drain;
use crate::health::{Failure, HealthCause, HealthEvent, ServerHealth};
use crate::liveness::Liveness;
use crate::mask::Mask;
use crate::negotiation::negotiator::{Negotiator, TransportChoice};
use crate::oauth::{CallerId, Consents, Grant};
use crate::server_shutdown::ServerShutdown;

/// The number of characters of a server's last words that are shown.
const LAST_WORDS: usize = 300;

/// Says whether callers have a server for themselves, because each gives a consent of its own.
#[derive(Default)]
pub struct CallerSeparation {
    /// True if the server has wanted consent.
    wants: AtomicBool,
    /// True if that is not known yet to those who have begun before.
    is_news: AtomicBool,
}

/// One configured server.
pub struct Server {
    /// Its configuration.
    pub spec: UpstreamSpec,
    pub(crate) mask: Mask,
    /// Its address or command.
    pub destination: Destination,
    /// Versions and transports that it is known to accept.
    pub negotiator: Negotiator,
    pub(crate) bulletin: Bulletin,
    /// The state that it is in, and why.
    pub health: ServerHealth,
    /// The consent that its links show: one caller's, or all callers'. None where callers are apart and this is nobody's.
    pub grant: Option<Arc<Grant>>,
    separation: Option<CallerSeparation>,
    next_id: AtomicU64,
    liveness: Liveness,
    /// Its end, once it is no longer configured.
    pub shutdown: ServerShutdown,
    /// The calls that run there at once; the same for all who have it for themselves.
    pub concurrency: Arc<Concurrency>,
}

impl Server {
    /// The server of a configuration.
    ///
    /// # Errors
    /// What of it cannot be, for a person.
    pub fn new(spec: UpstreamSpec, snapshot: &Snapshot, consents: &Consents) -> Result<Self, String> {
        let at = Destination::of(&spec, snapshot, consents)?;
        let asks_consent = matches!(&spec.link, LinkConfig::Http(http) if http.oauth.is_some());
        let wants = spec.own_links || (spec.own_consent && asks_consent);
        let separation = spec
            .per_caller()
            .then(|| CallerSeparation { wants: AtomicBool::new(wants), ..CallerSeparation::default() });
        let concurrency = Concurrency::new(spec.calls.concurrent, spec.calls.waiting);
        Ok(Self::at(spec, at, separation, (Arc::default(), concurrency)))
    }

    /// The same for one caller alone, with a consent of its own where each gives one.
    pub(crate) fn owned(&self, caller: &CallerId, consents: &Consents) -> Self {
        let (destination, grant) = self.destination.owned(&self.spec, caller, consents);
        let grant = grant.or_else(|| self.grant.clone());
        let common = (self.shutdown.drain.clone(), self.concurrency.clone());
        Self::at(self.spec.clone(), (destination, grant), None, common)
    }

    fn at(
        spec: UpstreamSpec,
        (destination, grant): (Destination, Option<Arc<Grant>>),
        separation: Option<CallerSeparation>,
        (drain, concurrency): (Arc<Drain>, Arc<Concurrency>),
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
            destination,
            negotiator: Negotiator::new(transports),
            bulletin: Bulletin::default(),
            grant,
            separation,
            next_id: AtomicU64::new(1),
            liveness: Liveness::default(),
            shutdown: ServerShutdown::new(drain),
            concurrency,
        }
    }

    /// Its configured name.
    pub fn name(&self) -> &Arc<str> {
        &self.spec.name
    }

    /// The message for an error of this server, without the secrets that it was given.
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

    /// A text of the server's without the secrets that it was given.
    pub fn concealed(&self, text: &str) -> String {
        let said = self.mask.show(&text);
        match &self.grant {
            Some(grant) => grant.concealed(said),
            None => said,
        }
    }

    /// Does about a refusal what can be done without a user; `true` when the request may be sent again.
    pub async fn is_let_in(&self, refusal: &CredentialRefusal) -> bool {
        if let Some(grant) = &self.grant {
            return grant.answer(refusal).await;
        }
        if let Some(separation) = &self.separation
            && !separation.wants.swap(true, Ordering::SeqCst)
        {
            separation.is_news.store(true, Ordering::SeqCst);
        }
        false
    }

    /// Returns true if each caller has it for itself.
    pub fn is_per_caller(&self) -> bool {
        self.separation.as_ref().is_some_and(|separation| separation.wants.load(Ordering::Relaxed))
    }

    /// Returns true once, when callers are apart from now on.
    pub fn take_news(&self) -> bool {
        self.separation.as_ref().is_some_and(|separation| separation.is_news.swap(false, Ordering::SeqCst))
    }

    /// Returns true if requests to it are HTTP requests with headers.
    pub fn over_http(&self) -> bool {
        matches!(self.destination, Destination::Http(_))
    }

    /// Returns true if it lives in this process.
    pub fn is_native(&self) -> bool {
        matches!(self.destination, Destination::Native(_))
    }

    /// Returns true if each of its links is a process.
    pub fn is_child(&self) -> bool {
        matches!(self.destination, Destination::Child(_))
    }

    /// Returns true if it may ask its clients something by requests, so that each of those needs a link of its own.
    pub fn may_ask(&self) -> bool {
        self.spec.asks == QuestionPolicy::Auto && !self.is_native() && !self.negotiator.is_stateless_only()
    }

    /// The version in which links for clients of a version are opened. Over HTTP it is the client's own where the server may
    /// take it, so that nothing has to be translated. A pipe is a process, so that all who open sessions share one, and all who do
    /// not share another where the server serves those, too.
    pub fn link_era(&self, client: &'static Era) -> &'static Era {
        match &self.destination {
            Destination::Native(_) => client,
            _ if self.negotiator.is_stateless_only() => newest_stateless(),
            _ if self.spec.is_single() => newest_handshake(),
            Destination::Child(_) if !client.has_sessions() && self.negotiator.is_stateless_too() => client,
            Destination::Child(_) => newest_handshake(),
            Destination::Http(_) if self.negotiator.is_handshake_only() && !client.has_sessions() => {
                newest_handshake()
            }
            Destination::Http(_) => client,
        }
    }

    /// Notes that a client waited in vain for its lists, or that they came.
    pub fn note_hang(&self, hangs: bool) {
        self.liveness.note_hang(hangs);
    }

    /// Returns true if a client waited for it in vain a moment ago.
    pub fn hung_lately(&self) -> bool {
        self.liveness.hung_lately()
    }

    /// Notes that it has answered.
    pub fn note_up(&self) {
        self.liveness.note_up(|| self.health.note_good());
    }

    /// Notes that it could not be reached, or went away before it answered.
    pub fn note_down(&self) {
        self.liveness.note_down();
    }

    /// Notes that a client's request failed in a way that may pass: it may have gone.
    pub fn note_failed(&self, why: &LinkError) {
        self.note_down();
        self.health.note(HealthEvent::ExchangeFailed(self.failure(why)));
    }

    /// The same for a stream of the gateway's own.
    pub fn note_lost_stream(&self, why: &LinkError) {
        self.note_down();
        self.health.note(HealthEvent::StreamFailed(self.failure(why)));
    }

    /// The meaning of a failure for its health.
    pub fn failure(&self, why: &LinkError) -> Failure {
        let cause = HealthCause::of(why, self.describe(why));
        match why.cause() {
            LinkError::Http(ClientError::Busy { .. })
            | LinkError::Resting { .. }
            | LinkError::TooMany(_)
            | LinkError::Busy(_)
            | LinkError::HeldBack(_) => Failure::Nothing,
            // The end of a process that ran is noted by whoever reads its output.
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

    /// Returns true if it answered a moment ago, so that it may be starting again.
    pub fn may_be_restarting(&self) -> bool {
        !self.has_ended() && self.liveness.answered_lately()
    }

    /// The same for a failure to open a link.
    pub fn failure_to_open(&self, why: &LinkError) -> Failure {
        match why.cause() {
            LinkError::Child(e) => Failure::Unwell(self.ending(e)),
            LinkError::Closed if self.has_ended() => Failure::Nothing,
            _ => self.failure(why),
        }
    }

    /// The end of a process: how, and its last words.
    fn ending(&self, why: &ChildError) -> HealthCause {
        let brief = why.in_brief();
        let detail = match why.last_line() {
            // Half a secret would not be recognized.
            Some(line) => format!("{brief}: {}", clipped(&self.mask.show(&line))),
            None => brief.clone(),
        };
        HealthCause { brief, detail }
    }

    /// The reason for the end of a wire that ended on its own; `None` for one that was closed.
    pub fn own_end(&self, why: &MuxFault) -> Option<HealthCause> {
        match why {
            MuxFault::Child(e) => e.is_own_end().then(|| self.ending(e)),
            MuxFault::Ended | MuxFault::Broken(_) => {
                let brief = "it closed its event stream".to_owned();
                Some(HealthCause { brief, detail: self.mask.show(why) })
            }
            MuxFault::TooLong(_) | MuxFault::OutOfMemory(_) | MuxFault::Stopped => None,
        }
    }

    /// It is no longer configured: what runs may end, and nothing listens to it any more.
    pub fn leave(&self) {
        self.shutdown.begin();
        self.health.note(HealthEvent::Leaving);
    }

    /// A number for an id that a question needs.
    pub fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// No link to it is opened, and nobody is told.
    pub fn shut(&self) {
        self.shutdown.complete();
    }

    /// From now on no link to it is opened.
    pub fn end(&self) {
        self.leave();
        self.shut();
    }

    /// Returns true if no link to it is opened any more.
    pub fn has_ended(&self) -> bool {
        self.shutdown.is_complete()
    }

    /// A request of the gateway's own to it.
    pub fn own_request(&self, era: &'static Era, key: u64, body: Bytes, method: Method) -> Outbound {
        Outbound { upstream: self.spec.id, era, key, body, mirror: mirror(era, method) }
    }
}

/// A line that is short enough for a reason.
fn clipped(line: &str) -> std::borrow::Cow<'_, str> {
    match line.char_indices().nth(LAST_WORDS) {
        Some((end, _)) => format!("{}…", &line[..end]).into(),
        None => line.into(),
    }
}

/// The header mirror of a request of the gateway's own, in eras that have one.
pub fn mirror(era: &Era, method: Method) -> Option<Mirror> {
    era.mirrored_headers.then(|| Mirror::of_method(method))
}
