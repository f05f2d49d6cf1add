//! One origin (scheme, host, port) with its connections: either idle HTTP/1.1 connections, where the newest is used
//! first, or a single HTTP/2 connection that all requests share. This module must not know what is requested.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use http::header::HOST;
use http::uri::{Authority, Parts, Scheme};
use http::{HeaderValue, Request, Response, StatusCode, Uri, Version};
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

use super::answer::{AnswerParts, BodySource, ResponseBody};
use super::connect::{ConnectTarget, Trusts};
use super::error::ClientError;
use super::http1::{AbsoluteForm, HeadLimits, Template, TemplatedRequest};
use super::link::{Link, UnansweredRequest};
use super::losses::LossCount;
use super::pool::{IdleLink, Pool};
use super::public::Reach;
use super::request_body::RequestBody;
use super::tls::Trust;
use super::tunnel::ProxyFailure;
use super::{ClientLimits, Protocol, Replay, Route};
use crate::net::head_limits::LEAST_HEADER;

/// The margin by which Dragoman closes a connection before the keep-alive time that the peer announced.
const KEEP_ALIVE_MARGIN: Duration = Duration::from_secs(1);

/// The time for which an idle connection is trusted for a request that must not be sent twice, if the peer announces
/// no keep-alive time. Node closes idle connections after 5 s without notice. If a request is sent at that moment, it is unknown
/// whether the server has read the request.
const UNANNOUNCED: Duration = Duration::from_secs(4);

/// The state of one origin.
pub(super) struct OriginState {
    target: ConnectTarget,
    scheme: Scheme,
    authority: Authority,
    protocol: Protocol,
    limits: ClientLimits,
    /// The current [`ClientLimits::connect_timeout`], in milliseconds.
    connect_ms: AtomicU64,
    /// The TLS settings for the origin, and those for a proxy.
    trust: Trust,
    proxy_trust: Trust,
    losses: LossCount,
    /// The absolute form, if a proxy forwards the requests; `None` if they go to the origin directly or through a
    /// tunnel.
    proxied: Option<AbsoluteForm>,
    head: HeadLimits,
    permits: Arc<Semaphore>,
    pool: Mutex<Pool>,
    /// Locked while connecting to an origin that may support HTTP/2, so that only one connection is made.
    dialing: tokio::sync::Mutex<()>,
}

/// A connection for a request.
enum ConnectionChoice {
    Reused(Box<Link>),
    Fresh(Box<Link>),
    Shared { sender: http2::SendRequest<RequestBody>, fresh: bool },
}

/// The resources of the origin that a running request holds.
pub(super) struct OriginShare {
    pub(super) origin: Arc<OriginState>,
    /// The [`OriginState::generation`] when the request began; the request's connection is not older.
    generation: u64,
    _permit: OwnedSemaphorePermit,
}

impl OriginState {
    pub(super) fn new(
        uri: &Uri,
        protocol: Protocol,
        limits: ClientLimits,
        (route, trust, losses): (&Route, &Trust, LossCount),
    ) -> Result<Self, ClientError> {
        // HTTP/2 by prior knowledge needs the whole connection. A proxy that passes on requests resolves the host itself, so
        // hosts whose addresses are checked need a tunnel to the checked address.
        let tunnels = protocol == Protocol::Http2 || limits.reach != Reach::All;
        let target = ConnectTarget::of(uri, &route.proxy, tunnels)?;
        let bad = |reason| ClientError::BadUrl { url: uri.to_string(), reason };
        let authority = uri.authority().cloned().ok_or_else(|| bad("the URL has no host"))?;
        if authority.as_str().contains('@') {
            return Err(bad("the URL must not contain a name or password; send them in a header"));
        }
        let proxied = target.forwarder().map(|proxy| AbsoluteForm {
            origin: format!("http://{authority}").into(),
            authorization: proxy.authorization(),
        });
        Ok(Self {
            scheme: if target.is_tls() { Scheme::HTTPS } else { Scheme::HTTP },
            proxied,
            target,
            authority,
            protocol,
            permits: Arc::new(Semaphore::new(limits.max_in_use.max(1))),
            connect_ms: AtomicU64::new(millis(limits.connect_timeout)),
            limits,
            trust: route.trust.as_ref().unwrap_or(trust).clone(),
            proxy_trust: trust.clone(),
            losses,
            head: HeadLimits { lines: limits.max_headers, bytes: limits.max_header_bytes.max(LEAST_HEADER) },
            pool: Mutex::default(),
            dialing: tokio::sync::Mutex::default(),
        })
    }

    /// Changes the maximum time for opening a new connection.
    pub(super) fn set_connect_timeout(&self, within: Duration) {
        self.connect_ms.store(millis(within), Relaxed);
    }

    fn connect_timeout(&self) -> Duration {
        Duration::from_millis(self.connect_ms.load(Relaxed))
    }

    pub(super) fn name(&self) -> &str {
        self.target.name()
    }

    /// Returns a number that grows whenever the existing connections must not be used again: the TLS settings have changed, or a
    /// connection was lost in the middle of a request, so that the others may be about to end.
    fn generation(&self) -> u64 {
        self.trust.generation().wrapping_add(self.losses.get())
    }

    /// Returns true if connections were made, and all of them led to addresses outside the public network.
    pub(super) fn was_near(&self) -> bool {
        self.target.was_near()
    }

    /// Returns true if the origin has no connections.
    pub(super) fn is_cold(&self) -> bool {
        self.pool().is_empty()
    }

    pub(super) async fn request(
        self: &Arc<Self>,
        ask: &TemplatedRequest<'_>,
        replay: Replay,
    ) -> Result<Response<ResponseBody>, ClientError> {
        // Rarely used futures are boxed; otherwise, space for them would be moved with every request.
        let permit = match self.permits.clone().try_acquire_owned() {
            Ok(permit) => permit,
            Err(_) => Box::pin(self.permit()).await?,
        };
        let generation = self.generation();
        let share = OriginShare { _permit: permit, origin: self.clone(), generation };
        let pooled = self.pooled(replay, generation);
        if pooled.is_none() {
            Box::pin(self.losses.settled(replay)).await;
        }
        let way = match pooled {
            Some(way) => way,
            None => Box::pin(self.dial()).await?,
        };
        let may_retry =
            !matches!(way, ConnectionChoice::Fresh(_) | ConnectionChoice::Shared { fresh: true, .. });
        let failed = match self.send(way, ask).await {
            Ok(answer) => return self.delivered(answer, share),
            Err(failed) => failed,
        };
        // Pieces of a streamed body may already have been sent.
        let is_kept = matches!(ask.body, RequestBody::Whole(_));
        let safe = !failed.sent || (replay == Replay::Always && is_kept);
        let failed = ClientError::http(self.name(), failed.sent, failed.error);
        if matches!(&failed, ClientError::Closed { sent: true, source, .. } if source.is_loss()) {
            self.losses.add();
        }
        if !(may_retry && safe && matches!(failed, ClientError::Closed { .. })) {
            return Err(failed);
        }
        // The other connections of the pool may be dead as well.
        let way = Box::pin(self.dial()).await?;
        let again = Box::pin(self.send(way, ask)).await;
        let answer = again.map_err(|failed| ClientError::http(self.name(), failed.sent, failed.error))?;
        self.delivered(answer, share)
    }

    /// The answer, unless it is a refusal by the proxy.
    fn delivered(
        &self,
        answer: AnswerParts,
        share: OriginShare,
    ) -> Result<Response<ResponseBody>, ClientError> {
        let status = answer.response.status();
        match self.target.forwarder() {
            Some(proxy) if status == StatusCode::PROXY_AUTHENTICATION_REQUIRED => {
                let (host, proxy) = (self.name().to_owned(), proxy.to_string());
                Err(ClientError::ProxyRefused { host, proxy, why: ProxyFailure::Status(status) })
            }
            _ => Ok(answer.with(share)),
        }
    }

    /// Builds the template for a request that has none.
    pub(super) fn template<B>(&self, request: &mut Request<B>) -> Template {
        let mut headers = std::mem::take(request.headers_mut());
        if request.uri().authority().is_none() && !headers.contains_key(HOST) {
            // An authority contains only characters that are valid in a header value.
            let host = HeaderValue::from_str(self.authority.as_str());
            headers.extend(host.ok().map(|host| (HOST, host)));
        }
        Template::new(request.method().clone(), request.uri(), headers)
    }

    /// Waits for a permit to use a connection.
    async fn permit(&self) -> Result<OwnedSemaphorePermit, ClientError> {
        let after = self.connect_timeout();
        let busy = || ClientError::Busy { host: self.name().to_owned(), cap: self.limits.max_in_use, after };
        let waited = timeout(after, self.permits.clone().acquire_owned()).await;
        waited.map_err(|_| busy())?.map_err(|_| busy())
    }

    /// Returns an idle connection that a request of this kind can use.
    fn pooled(&self, replay: Replay, generation: u64) -> Option<ConnectionChoice> {
        let now = Instant::now();
        let mut pool = self.pool();
        pool.begin(generation);
        if let Some(sender) = pool.shared(now) {
            return Some(ConnectionChoice::Shared { sender, fresh: false });
        }
        pool.idle(now, replay == Replay::Always).map(ConnectionChoice::Reused)
    }

    async fn dial(self: &Arc<Self>) -> Result<ConnectionChoice, ClientError> {
        let http2 = match self.protocol {
            Protocol::Http1 => false,
            Protocol::Http2 => true,
            Protocol::Auto => self.target.is_tls(),
        };
        if !http2 || (self.protocol == Protocol::Auto && self.pool().alpn_http1) {
            return self.connect(http2).await;
        }
        let _one_at_a_time = self.dialing.lock().await;
        let made = self.pool().shared(Instant::now());
        match made {
            // Another task opened this connection while this task waited, so the connection is fresh.
            Some(sender) => Ok(ConnectionChoice::Shared { sender, fresh: true }),
            None => self.connect(true).await,
        }
    }

    async fn connect(self: &Arc<Self>, http2: bool) -> Result<ConnectionChoice, ClientError> {
        let limits = ClientLimits { connect_timeout: self.connect_timeout(), ..self.limits };
        let trusts = Trusts { origin: &self.trust, proxy: &self.proxy_trust };
        let generation = self.generation();
        let (wire, agreed) = self.target.connect(&trusts, http2, &limits).await?;
        if self.protocol != Protocol::Http2 && !agreed {
            self.pool().alpn_http1 = true;
            return Ok(ConnectionChoice::Fresh(Link::new(wire, self.head)));
        }
        let handshake = http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .keep_alive_interval(self.limits.http2.ping.0)
            .keep_alive_timeout(self.limits.http2.ping.1)
            .initial_stream_window_size(self.limits.http2.windows.0)
            .initial_connection_window_size(self.limits.http2.windows.1)
            .max_header_list_size(u32::try_from(self.limits.max_header_bytes).unwrap_or(u32::MAX))
            .handshake(TokioIo::new(wire));
        let (sender, connection) =
            handshake.await.map_err(|error| ClientError::http(self.name(), false, error.into()))?;
        // Many requests share the connection, so it runs in a task of its own, which ends with the last sender and
        // stream.
        crate::task::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "HTTP/2 connection to an upstream ended");
            }
        });
        let mut pool = self.pool();
        pool.begin(self.generation());
        // A connection of an older generation serves only this request.
        if generation == self.generation() {
            pool.share(sender.clone(), Instant::now());
            self.start_sweeping(&mut pool);
        }
        Ok(ConnectionChoice::Shared { sender, fresh: true })
    }

    async fn send(
        &self,
        way: ConnectionChoice,
        ask: &TemplatedRequest<'_>,
    ) -> Result<AnswerParts, UnansweredRequest> {
        match way {
            ConnectionChoice::Reused(link) | ConnectionChoice::Fresh(link) => {
                let (head, link) = link.ask(ask, self.proxied.as_ref()).await?;
                Ok(AnswerParts {
                    source: BodySource::Http1(Some((link, head.keep))),
                    response: head.response,
                })
            }
            ConnectionChoice::Shared { mut sender, .. } => {
                let answered = sender.try_send_request(self.for_http2(ask)).await.map_err(|mut failed| {
                    let sent = failed.take_message().is_none();
                    UnansweredRequest { sent, error: failed.into_error().into() }
                });
                let (head, incoming) = answered?.into_parts();
                let response = Response::from_parts(head, ());
                Ok(AnswerParts { response, source: BodySource::Http2(incoming) })
            }
        }
    }

    /// Returns the request in absolute form: HTTP/2 sends scheme and authority separately.
    fn for_http2(&self, ask: &TemplatedRequest<'_>) -> Request<RequestBody> {
        let mut request = Request::new(ask.body.clone());
        *request.method_mut() = ask.template.method.clone();
        *request.version_mut() = Version::HTTP_2;
        let headers = request.headers_mut();
        headers.clone_from(&ask.template.headers);
        headers.remove(HOST);
        headers.extend(ask.own.lines.iter().cloned().chain(ask.own.trace_line()));
        let mut parts = Parts::default();
        parts.path_and_query = Some(ask.template.path.clone());
        parts.scheme = Some(self.scheme.clone());
        parts.authority = Some(self.authority.clone());
        // All three parts are present, so they always form a URI.
        *request.uri_mut() = Uri::from_parts(parts).unwrap_or_default();
        request
    }

    fn give_back(self: &Arc<Self>, mut link: Box<Link>, keep: Option<Duration>, generation: u64) {
        if !link.rest() || generation != self.generation() {
            return;
        }
        let now = Instant::now();
        let longest = self.limits.idle_timeout;
        let until = now + keep.map_or(longest, |keep| longest.min(keep.saturating_sub(KEEP_ALIVE_MARGIN)));
        let trusted = if keep.is_some() { until } else { until.min(now + UNANNOUNCED) };
        let mut pool = self.pool();
        pool.begin(generation);
        pool.keep(IdleLink { link, until, trusted }, self.limits.max_idle);
        self.start_sweeping(&mut pool);
    }

    /// Starts the task that closes idle connections. Each origin with connections has one such task, which ends when
    /// no connection is left.
    fn start_sweeping(self: &Arc<Self>, pool: &mut Pool) {
        if pool.sweeping {
            return;
        }
        // If there is no current runtime, this origin is being dropped together with its runtime.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        pool.sweeping = true;
        let (origin, pause) = (Arc::downgrade(self), self.limits.idle_timeout / 4);
        runtime.spawn(crate::task::boxed(sweep(
            origin,
            pause.clamp(Duration::from_millis(10), Duration::from_secs(15)),
        )));
    }

    fn sweep(&self) -> bool {
        let now = Instant::now();
        let mut pool = self.pool();
        pool.begin(self.generation());
        pool.sweeping = pool.tidy(now, self.limits.idle_timeout);
        pool.sweeping
    }

    fn pool(&self) -> MutexGuard<'_, Pool> {
        // At worst, a panic between two steps leaves a dead connection, which is detected later.
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OriginShare {
    /// Takes back a link whose answer has been read to its end. `keep` is the time for which the peer keeps the connection.
    pub(super) fn give_back(&self, link: Box<Link>, keep: Option<Duration>) {
        self.origin.give_back(link, keep, self.generation);
    }

    /// Notes that the connection was lost before the end of the answer.
    pub(super) fn lose(&self) {
        self.origin.losses.add();
    }
}

async fn sweep(origin: Weak<OriginState>, pause: Duration) {
    loop {
        sleep(pause).await;
        if let Some(origin) = origin.upgrade() {
            origin.trust.refresh().await;
        }
        if !origin.upgrade().is_some_and(|origin| origin.sweep()) {
            return;
        }
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
