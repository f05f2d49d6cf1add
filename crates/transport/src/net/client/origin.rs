//! One origin (scheme, host, port) with the connections to it: the idle HTTP/1.1 ones, the newest first, or the one
//! HTTP/2 connection that all requests share. It must not know what is asked.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use http::header::HOST;
use http::uri::{Authority, Parts, PathAndQuery, Scheme};
use http::{HeaderMap, HeaderValue, Request, Response, Uri, Version};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

use super::answer::ResponseBody;
use super::connect::Target;
use super::error::ClientError;
use super::link::{Link, Unanswered};
use super::tls::Trust;
use super::{ClientLimits, Protocol, Replay};
use crate::net::body::Body;
use crate::net::serve::LEAST_HEADER;

/// A connection that has been idle for longer may have been closed by the peer at this very moment; only then is it
/// worth keeping a copy of a request for sending it again.
const STALE: Duration = Duration::from_millis(500);

/// How long before the peer's announced keep-alive time we let go.
const KEEP_ALIVE_MARGIN: Duration = Duration::from_secs(1);

/// HTTP/2: pings while requests run, and receive windows (the most that one stream, one connection can make us hold).
const PING_EVERY: Duration = Duration::from_secs(30);
const PING_TIMEOUT: Duration = Duration::from_secs(20);
const STREAM_WINDOW: u32 = 256 * 1024;
const CONNECTION_WINDOW: u32 = 1024 * 1024;

/// Bytes of an HTTP/1.1 connection's buffers at most; also what one read of a long body can bring.
const BUFFER: usize = 128 * 1024;

/// Everything there is about one origin.
pub(super) struct Inner {
    target: Target,
    scheme: Scheme,
    authority: Authority,
    host: HeaderValue,
    protocol: Protocol,
    limits: ClientLimits,
    trust: Trust,
    http1: http1::Builder,
    permits: Arc<Semaphore>,
    pool: Mutex<Pool>,
    /// Held while connecting to an origin that may speak HTTP/2, so that one connection is made and not many.
    dialing: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Pool {
    /// The longest idle one in front.
    idle: VecDeque<Idle>,
    shared: Option<Shared>,
    /// ALPN chose HTTP/1.1 before.
    alpn_http1: bool,
    sweeping: bool,
}

struct Idle {
    link: Box<Link>,
    since: Instant,
    until: Instant,
}

struct Shared {
    sender: http2::SendRequest<Body>,
    used: Instant,
}

/// What a request is sent over.
enum Way {
    Reused { link: Box<Link>, stale: bool },
    Fresh(Box<Link>),
    Shared { sender: http2::SendRequest<Body>, fresh: bool },
}

/// A running request's share of the origin.
pub(super) struct Lease {
    pub(super) origin: Arc<Inner>,
    _permit: OwnedSemaphorePermit,
}

impl Inner {
    pub(super) fn new(
        uri: &Uri,
        protocol: Protocol,
        limits: ClientLimits,
        trust: Trust,
    ) -> Result<Self, ClientError> {
        let target = Target::of(uri)?;
        let bad = |reason| ClientError::BadUrl { url: uri.to_string(), reason };
        let authority = uri.authority().cloned().ok_or_else(|| bad("it has no host"))?;
        if authority.as_str().contains('@') {
            return Err(bad("it must not contain a name or password; send them in a header"));
        }
        let host = HeaderValue::from_str(authority.as_str()).map_err(|_| bad("its host is no valid name"))?;
        let mut http1 = http1::Builder::new();
        http1
            .max_headers(limits.max_headers)
            .max_header_size(limits.max_header_bytes.max(LEAST_HEADER))
            .max_buf_size(BUFFER.max(limits.max_header_bytes));
        Ok(Self {
            scheme: if target.is_tls() { Scheme::HTTPS } else { Scheme::HTTP },
            target,
            authority,
            host,
            protocol,
            permits: Arc::new(Semaphore::new(limits.max_in_use.max(1))),
            limits,
            trust,
            http1,
            pool: Mutex::default(),
            dialing: tokio::sync::Mutex::default(),
        })
    }

    pub(super) fn name(&self) -> &str {
        &self.target.name
    }

    /// Whether nothing is kept for this origin.
    pub(super) fn is_cold(&self) -> bool {
        let pool = self.pool();
        pool.idle.is_empty() && pool.shared.is_none()
    }

    pub(super) async fn request(
        self: &Arc<Self>,
        mut request: Request<Body>,
        replay: Replay,
    ) -> Result<Response<ResponseBody>, ClientError> {
        let lease = Lease { _permit: self.permit().await?, origin: self.clone() };
        let mut way = match self.pooled() {
            Some(way) => way,
            None => self.dial().await?,
        };
        let may_retry = !matches!(way, Way::Fresh(_) | Way::Shared { fresh: true, .. });
        let copy = match &way {
            Way::Reused { stale, .. } if *stale || replay == Replay::Always => copy(&request),
            Way::Shared { fresh: false, .. } if replay == Replay::Always => copy(&request),
            _ => None,
        };
        let failed = match self.send(way, request).await {
            Ok(answer) => return Ok(answer.with(lease)),
            Err(failed) => failed,
        };
        let error = |failed: Unanswered| ClientError::http(self.name(), failed.sent, failed.error);
        let gone = may_retry && !failed.error.is_parse() && !failed.error.is_user();
        let safe = replay == Replay::Always || !failed.sent;
        request = match failed.request {
            Some(unsent) if gone => unsent,
            None if gone
                && safe
                && let Some(copy) = copy =>
            {
                copy
            }
            request => return Err(error(Unanswered { request, ..failed })),
        };
        // The pool's other connections may be just as dead.
        way = self.dial().await?;
        self.send(way, request).await.map(|answer| answer.with(lease)).map_err(error)
    }

    async fn permit(&self) -> Result<OwnedSemaphorePermit, ClientError> {
        if let Ok(permit) = self.permits.clone().try_acquire_owned() {
            return Ok(permit);
        }
        let after = self.limits.connect_timeout;
        let busy = || ClientError::Busy { host: self.name().to_owned(), cap: self.limits.max_in_use, after };
        let waited = timeout(after, self.permits.clone().acquire_owned()).await;
        waited.map_err(|_| busy())?.map_err(|_| busy())
    }

    /// A connection that stands ready.
    fn pooled(&self) -> Option<Way> {
        let now = Instant::now();
        let mut pool = self.pool();
        if let Some(shared) = &mut pool.shared {
            if !shared.sender.is_closed() {
                shared.used = now;
                return Some(Way::Shared { sender: shared.sender.clone(), fresh: false });
            }
            pool.shared = None;
        }
        while let Some(mut idle) = pool.idle.pop_back() {
            if idle.until > now && idle.link.is_free() {
                let stale = now.saturating_duration_since(idle.since) >= STALE;
                return Some(Way::Reused { link: idle.link, stale });
            }
        }
        None
    }

    async fn dial(self: &Arc<Self>) -> Result<Way, ClientError> {
        let http2 = match self.protocol {
            Protocol::Http1 => false,
            Protocol::Http2 => true,
            Protocol::Auto => self.target.is_tls(),
        };
        if !http2 || (self.protocol == Protocol::Auto && self.pool().alpn_http1) {
            return self.connect(http2).await;
        }
        let _one_at_a_time = self.dialing.lock().await;
        let made = self.pool().shared.as_ref().map(|shared| shared.sender.clone());
        match made {
            // Fresh enough: somebody has just made it while we waited.
            Some(sender) if !sender.is_closed() => Ok(Way::Shared { sender, fresh: true }),
            _ => self.connect(true).await,
        }
    }

    async fn connect(self: &Arc<Self>, http2: bool) -> Result<Way, ClientError> {
        let (wire, agreed) = self.target.connect(&self.trust, http2, self.limits.connect_timeout).await?;
        let failed = |error| ClientError::http(self.name(), false, error);
        if self.protocol != Protocol::Http2 && !agreed {
            self.pool().alpn_http1 = true;
            return Ok(Way::Fresh(Link::new(wire, &self.http1).await.map_err(failed)?));
        }
        let handshake = http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .keep_alive_interval(PING_EVERY)
            .keep_alive_timeout(PING_TIMEOUT)
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .max_header_list_size(u32::try_from(self.limits.max_header_bytes).unwrap_or(u32::MAX))
            .handshake(TokioIo::new(wire));
        let (sender, connection) = handshake.await.map_err(failed)?;
        // Many requests share it, so it runs by itself; it ends with its last sender and stream.
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "HTTP/2 connection to an upstream ended");
            }
        });
        let mut pool = self.pool();
        pool.shared = Some(Shared { sender: sender.clone(), used: Instant::now() });
        self.start_sweeping(&mut pool);
        Ok(Way::Shared { sender, fresh: true })
    }

    async fn send(&self, way: Way, mut request: Request<Body>) -> Result<Answered, Unanswered> {
        match way {
            Way::Reused { link, .. } | Way::Fresh(link) => {
                self.as_http1(&mut request);
                let (response, link) = link.ask(request).await?;
                Ok(Answered { response, link: Some(link) })
            }
            Way::Shared { mut sender, .. } => {
                self.as_http2(&mut request);
                let answered = sender.try_send_request(request).await;
                answered.map(|response| Answered { response, link: None }).map_err(|mut failed| {
                    let request = failed.take_message();
                    Unanswered { sent: request.is_none(), request, error: failed.into_error() }
                })
            }
        }
    }

    /// Origin form and `Host` (RFC 9112, 3.2.1).
    fn as_http1(&self, request: &mut Request<Body>) {
        *request.version_mut() = Version::HTTP_11;
        if request.uri().authority().is_some() {
            let path = request.uri().path_and_query().cloned();
            *request.uri_mut() = Uri::from(path.unwrap_or_else(|| PathAndQuery::from_static("/")));
        }
        if !request.headers().contains_key(HOST) {
            request.headers_mut().insert(HOST, self.host.clone());
        }
    }

    /// Absolute form: HTTP/2 sends scheme and authority apart.
    fn as_http2(&self, request: &mut Request<Body>) {
        *request.version_mut() = Version::HTTP_2;
        request.headers_mut().remove(HOST);
        let mut parts = Parts::default();
        parts.path_and_query =
            Some(request.uri().path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/")));
        parts.scheme = Some(self.scheme.clone());
        parts.authority = Some(self.authority.clone());
        // All three parts are there, so they always make a URI.
        *request.uri_mut() = Uri::from_parts(parts).unwrap_or_default();
    }

    /// Takes a link back whose answer has been read to its end. `headers` may say how long the peer keeps it.
    pub(super) fn give_back(self: &Arc<Self>, mut link: Box<Link>, keep: Option<Duration>) {
        if !link.is_free() {
            return;
        }
        let now = Instant::now();
        let longest = self.limits.idle_timeout;
        let until = now + keep.map_or(longest, |keep| longest.min(keep.saturating_sub(KEEP_ALIVE_MARGIN)));
        let mut pool = self.pool();
        pool.idle.push_back(Idle { link, since: now, until });
        if pool.idle.len() > self.limits.max_idle {
            pool.idle.pop_front();
        }
        self.start_sweeping(&mut pool);
    }

    /// One task per origin with idle connections; it ends when none is left.
    fn start_sweeping(self: &Arc<Self>, pool: &mut Pool) {
        if pool.sweeping {
            return;
        }
        // Outside a runtime we are being torn down with it.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        pool.sweeping = true;
        let (origin, pause) = (Arc::downgrade(self), self.limits.idle_timeout / 4);
        runtime.spawn(sweep(origin, pause.clamp(Duration::from_millis(10), Duration::from_secs(15))));
    }

    fn sweep(&self) -> bool {
        let now = Instant::now();
        let mut pool = self.pool();
        pool.idle.retain_mut(|idle| idle.until > now && idle.link.is_free());
        let unused = |shared: &Shared| {
            shared.sender.is_closed() || now.saturating_duration_since(shared.used) > self.limits.idle_timeout
        };
        // Requests that still run on it hold the connection open by themselves.
        if pool.shared.as_ref().is_some_and(unused) {
            pool.shared = None;
        }
        pool.sweeping = !(pool.idle.is_empty() && pool.shared.is_none());
        pool.sweeping
    }

    fn pool(&self) -> MutexGuard<'_, Pool> {
        // A panic between two steps leaves at worst a connection that is found dead later.
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn sweep(origin: Weak<Inner>, pause: Duration) {
    loop {
        sleep(pause).await;
        if !origin.upgrade().is_some_and(|origin| origin.sweep()) {
            return;
        }
    }
}

/// An answer's head, and what its body needs.
struct Answered {
    response: Response<hyper::body::Incoming>,
    link: Option<Box<Link>>,
}

impl Answered {
    fn with(self, lease: Lease) -> Response<ResponseBody> {
        let keep = announced(self.response.headers());
        self.response.map(|incoming| ResponseBody::new(incoming, self.link, keep, lease))
    }
}

/// `Keep-Alive: timeout=5`: Node and Apache announce when they will close.
fn announced(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get("keep-alive")?.to_str().ok()?;
    let seconds = text.split(',').find_map(|part| part.trim().strip_prefix("timeout="))?;
    seconds.trim().parse().ok().map(Duration::from_secs)
}

/// The same request once more, if its body is at hand.
fn copy(request: &Request<Body>) -> Option<Request<Body>> {
    let mut copy = Request::new(request.body().try_clone()?);
    *copy.method_mut() = request.method().clone();
    *copy.uri_mut() = request.uri().clone();
    *copy.headers_mut() = request.headers().clone();
    Some(copy)
}
