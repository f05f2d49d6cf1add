//! One configured server: what is known of it, and what was done about it. It must not know links, or what it offers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use engine::Snapshot;
use engine::config::{Affinity, Link as LinkConfig};
use engine::exchange::{Mirror, Outbound};
use engine::snapshot::UpstreamSpec;
use parking_lot::Mutex;
use proto::era::{Era, newest_stateless};
use proto::mcp::Method;
use transport::net::Stop;
use transport::up::{LinkError, Refusal};

use crate::bulletin::Bulletin;
use crate::destination::Destination;
use crate::mask::Mask;
use crate::negotiation::ladder::{Ladder, Reach};
use crate::oauth::{Consents, Grant, Whose};
use crate::quiet::Quiet;

/// For how long nobody waits for a server after a client has done so in vain.
const UNRESPONSIVE: Duration = Duration::from_secs(30);

/// What kind of client a link or an offer is for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Kind {
    /// The era.
    pub era: &'static Era,
    /// The client's capabilities as it wrote them, where they are fixed for a session; else `{}`.
    pub capabilities: Bytes,
}

impl Kind {
    /// Clients of this era of whom nothing can be asked.
    pub fn plain(era: &'static Era) -> Self {
        Self { era, capabilities: Bytes::from_static(b"{}") }
    }

    /// Returns true if its clients can be asked nothing.
    pub fn is_plain(&self) -> bool {
        self.capabilities.as_ref() == b"{}"
    }

    /// The gateway's own params of `initialize` on a link that several clients share.
    pub fn own_hello(&self) -> Bytes {
        let capabilities = String::from_utf8_lossy(&self.capabilities);
        let version = proto::json::quote(self.era.version);
        let client = crate::CLIENT_INFO;
        Bytes::from(format!(
            "{{\"protocolVersion\":{version},\"capabilities\":{capabilities},\"clientInfo\":{client}}}"
        ))
    }
}

/// Says whether callers have a server for themselves, because each gives a consent of its own.
#[derive(Default)]
pub struct Parting {
    /// True if the server has wanted consent.
    wants: AtomicBool,
    /// True if that is not known yet to those who have begun before.
    is_news: AtomicBool,
}

/// One configured server.
pub struct Server {
    /// What is configured.
    pub spec: UpstreamSpec,
    pub(crate) mask: Mask,
    /// Where it is.
    pub destination: Destination,
    /// Which transports may be tried.
    pub reach: Reach,
    /// What it is known to speak.
    pub ladder: Ladder,
    pub(crate) bulletin: Bulletin,
    /// The consent that its links show: one caller's, or all callers'. None where callers are apart and this is nobody's.
    pub grant: Option<Arc<Grant>>,
    parting: Option<Parting>,
    mints: AtomicU64,
    /// The time when a client last waited for it in vain, unless it has answered since.
    unresponsive_since: Mutex<Option<Instant>>,
    /// Raised when it is no longer configured: what runs may end, and nothing listens to it any more.
    pub leaving: Stop,
    /// Is told when a link to it is needed no more; the same for all who have it for themselves.
    pub quiet: Arc<Quiet>,
    /// True if all that ran has ended.
    ended: AtomicBool,
}

impl Server {
    /// The server of a configuration.
    ///
    /// # Errors
    /// What of it cannot be, for a person.
    pub fn new(spec: UpstreamSpec, snapshot: &Snapshot, consents: &Consents) -> Result<Self, String> {
        let at = Destination::of(&spec, snapshot, consents)?;
        let wants = matches!(&spec.link, LinkConfig::Http(http) if http.oauth.is_some());
        let parting = spec.apart.then(|| Parting { wants: AtomicBool::new(wants), ..Parting::default() });
        Ok(Self::at(spec, at, parting, Arc::default()))
    }

    /// The same for one caller alone, with a consent of its own.
    pub(crate) fn owned(&self, whose: &Whose, consents: &Consents) -> Self {
        let at = self.destination.owned(&self.spec, whose, consents);
        Self::at(self.spec.clone(), at, None, self.quiet.clone())
    }

    fn at(
        spec: UpstreamSpec,
        (destination, grant): (Destination, Option<Arc<Grant>>),
        parting: Option<Parting>,
        quiet: Arc<Quiet>,
    ) -> Self {
        let reach = match &spec.link {
            LinkConfig::Http(http) => Reach::of(http.transport),
            LinkConfig::Stdio(_) | LinkConfig::Native(_) => Reach::Pipe,
        };
        Self {
            mask: Mask::of(&spec.link),
            spec,
            destination,
            reach,
            ladder: Ladder::default(),
            bulletin: Bulletin::default(),
            grant,
            parting,
            mints: AtomicU64::new(1),
            unresponsive_since: Mutex::default(),
            leaving: Stop::new(),
            quiet,
            ended: AtomicBool::new(false),
        }
    }

    /// Its configured name.
    pub fn name(&self) -> &Arc<str> {
        &self.spec.name
    }

    /// What went wrong with it, without the secrets that it was given.
    pub fn told(&self, what: &LinkError) -> String {
        let said = self.mask.show(what);
        match (&self.grant, what) {
            (Some(grant), LinkError::Unauthorized(refusal)) => grant.told(refusal, &said),
            (Some(grant), _) => grant.concealed(said),
            (None, LinkError::Unauthorized(_)) if self.parting.is_some() => format!(
                "{said} (it wants the consent of its user, which each caller gives for itself: who asks here has not said who \
                 it is, or too many do at once)"
            ),
            (None, _) => said,
        }
    }

    /// Does about a refusal what can be done without a user; `true` when the request may be sent again.
    pub async fn is_let_in(&self, refusal: &Refusal) -> bool {
        if let Some(grant) = &self.grant {
            return grant.answer(refusal).await;
        }
        if let Some(parting) = &self.parting
            && !parting.wants.swap(true, Ordering::SeqCst)
        {
            parting.is_news.store(true, Ordering::SeqCst);
        }
        false
    }

    /// Returns true if each caller has it for itself.
    pub fn is_parted(&self) -> bool {
        self.parting.as_ref().is_some_and(|parting| parting.wants.load(Ordering::Relaxed))
    }

    /// Returns true once, when callers are apart from now on.
    pub fn take_news(&self) -> bool {
        self.parting.as_ref().is_some_and(|parting| parting.is_news.swap(false, Ordering::SeqCst))
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
    pub fn may_ask_by_requests(&self) -> bool {
        !self.is_native() && !self.ladder.is_stateless_only()
    }

    /// Returns true if sessions of clients of this kind may share one there.
    pub fn is_shared_by(&self, kind: &Kind) -> bool {
        match self.spec.affinity {
            Affinity::Shared => true,
            Affinity::Session => false,
            Affinity::Auto => kind.is_plain(),
        }
    }

    /// The kind of the link that clients of a kind share.
    pub fn link_kind(&self, kind: &Kind) -> Kind {
        match self.is_native() {
            // What lives in this process does not care what a client can do.
            true => Kind::plain(kind.era),
            // Where each request says who asks, all can share.
            false if self.ladder.is_stateless_only() => Kind::plain(newest_stateless()),
            false => kind.clone(),
        }
    }

    /// Notes that a client waited in vain for its lists, or that they came.
    pub fn note_hang(&self, hangs: bool) {
        *self.unresponsive_since.lock() = hangs.then(Instant::now);
    }

    /// Returns true if a client waited for it in vain a moment ago.
    pub fn hung_lately(&self) -> bool {
        self.unresponsive_since.lock().is_some_and(|at| at.elapsed() < UNRESPONSIVE)
    }

    /// A number for an id that a question needs.
    pub fn next_mint(&self) -> u64 {
        self.mints.fetch_add(1, Ordering::Relaxed)
    }

    /// From now on no link to it is opened.
    pub fn end(&self) {
        self.leaving.stop();
        self.ended.store(true, Ordering::SeqCst);
    }

    /// Returns true if no link to it is opened any more.
    pub fn has_ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }

    /// A request of the gateway's own to it.
    pub fn own_request(&self, era: &'static Era, key: u64, body: Bytes, method: Method) -> Outbound {
        Outbound { upstream: self.spec.id, era, key, body, mirror: mirror(era, method) }
    }
}

/// The header mirror of a request of the gateway's own, in eras that have one.
pub fn mirror(era: &Era, method: Method) -> Option<Mirror> {
    era.mirrored_headers.then(|| Mirror::of_method(method))
}
