//! One configured upstream: how links to it are opened, and what it offers to which kind of client.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use bytes::Bytes;
use engine::config::{HttpTransport, Link as LinkConfig};
use engine::exchange::{Mirror, Outbound};
use engine::snapshot::UpstreamSpec;
use http::{HeaderMap, HeaderValue};
use parking_lot::Mutex;
use proto::era::{Era, HelloFault, Lifecycle, ServerHello, discover_request, initialize_request};
use proto::mcp::Method;
use proto::rpc::Id;
use tracing::Instrument as _;
use transport::child::backoff::Backoff;
use transport::child::{Limits as ChildLimits, Spec};
use transport::up::{HttpLimits, HttpLink, HttpTarget, LinkError, PipeLink};

use super::Shard;
use super::link::{OpenLink, Wire};
use super::offers::OfferCell;
use super::pump;
use super::session::Session;

/// How many kinds of clients one upstream's offers are kept for.
const MAX_OFFERS: usize = 64;

/// How many messages of a child that answer nothing may wait.
const UNASKED: usize = 256;

/// What kind of client a link or an offer is for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Kind {
    /// The era.
    pub(crate) era: &'static Era,
    /// The client's capabilities as it wrote them, where they are fixed for a session; else `{}`.
    pub(crate) capabilities: Bytes,
}

enum Place {
    Http(Arc<HttpTarget>),
    Child(Spec),
    Native(engine::config::Native),
    /// HTTP+SSE, which none of the eras served here speaks.
    EventStreams,
}

/// One configured upstream.
pub(crate) struct Upstream {
    pub(crate) spec: UpstreamSpec,
    place: Place,
    shared: Mutex<HashMap<Kind, Arc<LinkCell>>>,
    offers: Mutex<HashMap<Kind, Arc<OfferCell>>>,
}

impl Upstream {
    pub(crate) fn new(spec: UpstreamSpec, limits: &engine::config::Limits) -> Result<Self, String> {
        let place = match &spec.link {
            LinkConfig::Native(native) => Place::Native(native.native),
            LinkConfig::Http(http) if http.transport == HttpTransport::Sse => Place::EventStreams,
            LinkConfig::Http(http) => {
                let uri = http.url.expose().parse().map_err(|e| format!("{}: {e}", spec.name))?;
                let mut headers = HeaderMap::new();
                for (name, value) in &http.headers {
                    let mut value = HeaderValue::from_str(value.expose()).map_err(|_| {
                        format!("{}: header {name} has a value that HTTP cannot carry", spec.name)
                    })?;
                    value.set_sensitive(true);
                    headers.insert(name.clone(), value);
                }
                let limits = HttpLimits {
                    result: limits.result,
                    event: limits.result,
                    patience: limits.connect_timeout * 3,
                    frame: super::frame_limits(limits),
                };
                Place::Http(Arc::new(HttpTarget { uri, headers, limits }))
            }
            LinkConfig::Stdio(child) => Place::Child(Spec {
                program: child.command.expose().to_owned(),
                args: child.args.iter().map(|arg| arg.expose().to_owned()).collect(),
                env: child
                    .env
                    .iter()
                    .map(|(name, value)| (name.clone(), value.expose().to_owned()))
                    .collect(),
                cwd: child.cwd.as_ref().map(|cwd| cwd.expose().into()),
                inherit: Vec::new(),
            }),
        };
        Ok(Self { spec, place, shared: Mutex::default(), offers: Mutex::default() })
    }

    pub(crate) fn name(&self) -> &Arc<str> {
        &self.spec.name
    }

    /// Whether requests to it are HTTP requests with headers.
    pub(crate) fn over_http(&self) -> bool {
        matches!(self.place, Place::Http(_))
    }

    /// Lets go of shared children that nobody has used for so long; they start again when somebody does.
    pub(crate) async fn rest_idle(&self, shard: &Shard, after: Duration) {
        let cells: Vec<Arc<LinkCell>> = self.shared.lock().values().cloned().collect();
        for cell in cells {
            let Some(link) = cell.current() else { continue };
            if matches!(link.wire, Wire::Pipe(_)) && link.idle() > after && link.users().is_empty() {
                tracing::info!(server = %self.name(), "a child rests: nobody used it for {after:?}");
                cell.close(shard).await;
            }
        }
    }

    /// The offers that may have grown old without anybody saying so, with the link to ask over.
    pub(crate) fn old_offers(&self) -> Vec<(Arc<OfferCell>, Arc<OpenLink>)> {
        let shared = self.shared.lock();
        let offers = self.offers.lock();
        let asked =
            |(kind, cell): (&Kind, &Arc<OfferCell>)| Some((cell.clone(), shared.get(kind)?.current()?));
        offers.iter().filter(|(_, cell)| cell.is_old()).filter_map(asked).collect()
    }

    /// Whether it lives in this process.
    pub(crate) fn is_native(&self) -> bool {
        matches!(self.place, Place::Native(_))
    }

    /// The link that clients of this kind share.
    pub(crate) fn shared_link(self: &Arc<Self>, kind: &Kind) -> Arc<LinkCell> {
        let mut shared = self.shared.lock();
        shared
            .entry(kind.clone())
            .or_insert_with(|| {
                let params = super::own_hello(kind);
                Arc::new(LinkCell::new(self.clone(), kind.clone(), params, None))
            })
            .clone()
    }

    /// A link for one session alone; `params` are the client's own of `initialize`.
    pub(crate) fn own_link(
        self: &Arc<Self>,
        kind: &Kind,
        params: Bytes,
        session: &Arc<Session>,
    ) -> Arc<LinkCell> {
        Arc::new(LinkCell::new(self.clone(), kind.clone(), params, Some(Arc::downgrade(session))))
    }

    /// What it offers to clients of this kind.
    pub(crate) fn offer(self: &Arc<Self>, kind: &Kind) -> Arc<OfferCell> {
        let mut offers = self.offers.lock();
        if offers.len() >= MAX_OFFERS && !offers.contains_key(kind) {
            offers.retain(|_, cell| Arc::strong_count(cell) > 1);
        }
        offers
            .entry(kind.clone())
            .or_insert_with(|| Arc::new(OfferCell::new(self.clone(), kind.clone())))
            .clone()
    }
}

/// A link that is opened when it is first needed, and again when it is gone; one opening at a time.
pub(crate) struct LinkCell {
    upstream: Arc<Upstream>,
    kind: Kind,
    params: Bytes,
    session: Option<Weak<Session>>,
    open: ArcSwapOption<OpenLink>,
    opening: tokio::sync::Mutex<Backoff>,
    openings: AtomicU64,
}

impl LinkCell {
    fn new(upstream: Arc<Upstream>, kind: Kind, params: Bytes, session: Option<Weak<Session>>) -> Self {
        let opening = tokio::sync::Mutex::new(Backoff::default());
        Self {
            upstream,
            kind,
            params,
            session,
            open: ArcSwapOption::empty(),
            opening,
            openings: AtomicU64::new(0),
        }
    }

    /// The open link, if there is one.
    pub(crate) fn current(&self) -> Option<Arc<OpenLink>> {
        self.open.load_full().filter(|link| link.is_alive())
    }

    /// The open link; opens it when there is none.
    ///
    /// # Errors
    /// Why it cannot be opened; while an upstream keeps failing, at once and with the same reason.
    pub(crate) async fn get(&self, shard: &Shard) -> Result<Arc<OpenLink>, LinkError> {
        if let Some(link) = self.current() {
            return Ok(link);
        }
        let mut backoff = self.opening.lock().await;
        if let Some(link) = self.current() {
            return Ok(link);
        }
        let is_child = matches!(self.upstream.place, Place::Child(_));
        if self.open.swap(None).is_some() && is_child {
            backoff.ended(Instant::now(), "it ended on its own");
        }
        self.rest(&backoff).await?;
        match self.connect(shard).await {
            Ok(link) => {
                backoff.started(Instant::now());
                let link = Arc::new(link);
                let before = self.openings.fetch_add(1, Ordering::Relaxed);
                self.open.store(Some(link.clone()));
                if let Some(session) = self.session.as_ref().and_then(Weak::upgrade) {
                    link.add_user(&session);
                }
                pump::start(shard, &link, &self.kind);
                // A server that was gone may have come back with other lists.
                if before > 0 {
                    let (offer, shard, link) = (self.upstream.offer(&self.kind), shard.clone(), link.clone());
                    tokio::spawn(async move { offer.refresh(&shard, &link).await });
                }
                Ok(link)
            }
            Err(e) => {
                if is_child {
                    backoff.ended(Instant::now(), e.to_string());
                }
                Err(e)
            }
        }
    }

    /// Waits out a short rest of a child that keeps ending; refuses during a long one.
    async fn rest(&self, backoff: &Backoff) -> Result<(), LinkError> {
        let now = Instant::now();
        let Some(at) = backoff.next_start(now) else { return Ok(()) };
        let wait = at - now;
        if wait > SHORT_REST {
            return Err(LinkError::Resting(backoff.reason(now).unwrap_or_default()));
        }
        tokio::time::sleep(wait).await;
        Ok(())
    }

    async fn connect(&self, shard: &Shard) -> Result<OpenLink, LinkError> {
        let Kind { era, .. } = self.kind;
        let key = shard.gateway.next_key();
        let request = self.introduction(key);
        let upstream = self.upstream.clone();
        let own = self.session.is_some();
        match &self.upstream.place {
            Place::EventStreams => Err(LinkError::OtherTransport),
            Place::Native(native) => {
                let server = native_server(*native);
                let hello = server.hello(era);
                Ok(OpenLink::new(upstream, era, Wire::Native(server), hello, own))
            }
            Place::Http(target) => {
                let link = HttpLink::new(target.clone(), era);
                let mirror = mirror(era, Method::Discover);
                let hello = link.introduce(&shard.client, request, key, mirror.as_ref()).await?;
                let link = OpenLink::new(upstream, era, Wire::Http(link), hello, own);
                self.same_era(shard, link).await
            }
            Place::Child(spec) => {
                let limits = &shard.gateway.snapshot.limits;
                let child_limits = ChildLimits {
                    line_bytes: limits.result.max(limits.line),
                    stderr_bytes: limits.stderr_ring,
                    ..ChildLimits::default()
                };
                let child = shard.gateway.supervisor.spawn(spec, child_limits).await?;
                let (handle, lines) = child.split();
                let frames = super::frame_limits(limits);
                let (pipe, reader, unasked) =
                    PipeLink::new(handle, lines, frames, limits.calls_per_session * 64, UNASKED);
                let named = tracing::error_span!("child", server = %self.upstream.name());
                tokio::spawn(reader.instrument(named));
                let hello = self.introduce_child(shard, &pipe, request, key).await;
                let hello = match hello {
                    Ok(hello) => hello,
                    Err(e) => {
                        pipe.stop().await;
                        return Err(e);
                    }
                };
                let link = OpenLink::new(upstream, era, Wire::Pipe(pipe), hello, own);
                let link = self.same_era(shard, link).await?;
                link.keep_unasked(unasked);
                Ok(link)
            }
        }
    }

    async fn introduce_child(
        &self,
        shard: &Shard,
        pipe: &PipeLink,
        request: Bytes,
        key: u64,
    ) -> Result<ServerHello, LinkError> {
        let patience = match self.kind.era.lifecycle {
            Lifecycle::Handshake => shard.gateway.snapshot.opening_time(),
            // Servers without this method may keep silent on it; those that have it need no time.
            Lifecycle::Stateless => PROBE.min(shard.gateway.snapshot.opening_time()),
        };
        let answer = async {
            let mut call = pipe.call(key, request).await?;
            loop {
                let frame = call.next().await?;
                if frame.id().is_some() {
                    return transport::up::read_hello(&frame, self.kind.era);
                }
            }
        };
        let hello = tokio::time::timeout(patience, answer)
            .await
            .map_err(|_| LinkError::Late(patience.as_secs()))??;
        if self.kind.era.lifecycle == Lifecycle::Handshake {
            pipe.notify(proto::era::initialized()).await?;
        }
        Ok(hello)
    }

    /// Refuses a link whose upstream answered in another era.
    async fn same_era(&self, shard: &Shard, link: OpenLink) -> Result<OpenLink, LinkError> {
        if link.hello.era == self.kind.era {
            return Ok(link);
        }
        let spoken = link.hello.era;
        link.close(&shard.client).await;
        Err(LinkError::OtherEra { asked: self.kind.era.version, speaks: spoken.version })
    }

    fn introduction(&self, key: u64) -> Bytes {
        let id = Id::number(key);
        match self.kind.era.lifecycle {
            Lifecycle::Handshake => initialize_request(&id, self.kind.era, &self.params),
            Lifecycle::Stateless => discover_request(&id, self.kind.era, super::CLIENT_INFO),
        }
    }

    /// Whether it serves one session alone.
    pub(crate) fn is_own(&self) -> bool {
        self.session.is_some()
    }

    /// Lets the link go, if there is one.
    pub(crate) async fn close(&self, shard: &Shard) {
        if let Some(link) = self.open.swap(None) {
            link.close(&shard.client).await;
        }
    }
}

/// A rest that a caller waits out rather than being refused.
const SHORT_REST: Duration = Duration::from_secs(1);

/// How long a child may keep silent on a question that it may not know.
const PROBE: Duration = Duration::from_secs(5);

fn native_server(native: engine::config::Native) -> Box<dyn native::NativeServer> {
    match native {
        engine::config::Native::Demo => Box::new(native::Demo),
    }
}

/// The header mirror of a request of the gateway's own, in eras that have one.
pub(crate) fn mirror(era: &Era, method: Method) -> Option<Mirror> {
    era.mirrored_headers.then(|| Mirror::of_method(method))
}

/// Whether an opening failed because the upstream does not speak the era, and the era that it speaks if it said so.
pub(crate) fn era_refusal(error: &LinkError) -> Option<Option<&'static Era>> {
    match error {
        LinkError::OtherEra { speaks, .. } => Some(proto::era::by_version(speaks)),
        LinkError::Hello(HelloFault::Version(_) | HelloFault::NotSpoken(_) | HelloFault::Member(..))
        | LinkError::OtherTransport
        | LinkError::Refused { .. } => Some(None),
        _ => None,
    }
}

/// A request of the gateway's own to this upstream.
pub(crate) fn own_request(upstream: &Upstream, era: &Era, key: u64, body: Bytes, method: Method) -> Outbound {
    Outbound { upstream: upstream.spec.id, key, body, mirror: mirror(era, method) }
}
