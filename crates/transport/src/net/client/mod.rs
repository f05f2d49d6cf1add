//! Requests to upstreams over pooled connections: HTTP/1.1 and HTTP/2, in plain text and over TLS. There are no
//! redirects, no cookies and no decompression: the caller gets the upstream's answer unchanged. This module must not
//! know what is requested.
//!
//! A client belongs to one shard, whose tasks drive the client's connections. The pool and the HTTP/1.1 connections
//! are Dragoman's own code (httparse reads the heads): an exchange inside the request's own future, with a prepared
//! head, takes 6 000 instructions, while hyper's client took 18 000. A connection that waits for its answer holds no
//! buffer, so many connections fit into the processor's caches.
//!
//! | file | is for |
//! |---|---|
//! | `origin`, `pool` | one origin: sending and retrying; its connections that are not in use |
//! | `connect` | a new connection: addresses and their checks, proxy, TLS |
//! | `tcp`, `tunnel`, `stream` | the steps of connecting: TCP to a host, a tunnel through a proxy; the byte stream |
//! | `route` | the proxy and the TLS settings for reaching an origin |
//! | `link` | one HTTP/1.1 connection |
//! | `losses` | the connections that were lost in the middle of a request, of all threads |
//! | [`http1`] | HTTP/1.1 as bytes: requests written, answers read |
//! | `request_body` | a request's body: bytes, or pieces that are sent as they become available |
//! | `answer` | an answer's body, which returns the connection to the pool |
//! | `limits` | limits for one origin, and its HTTP version |
//! | `error` | failures |
//! | `byte_stream` | a connection for a protocol other than HTTP |
//! | `tls` | trusted authorities, and the certificate of the client |
//! | `public` | addresses of the public network |

mod answer;
mod byte_stream;
mod connect;
mod error;
pub mod http1;
mod limits;
mod link;
mod losses;
mod origin;
mod pool;
mod public;
mod request_body;
mod route;
mod stream;
mod tcp;
mod tls;
mod tunnel;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, Uri};
use tokio::time::{Instant, timeout_at};

pub use answer::ResponseBody;
pub use byte_stream::{ByteStream, connect_bytes};
pub use error::{ClientError, WireError};
pub use http1::{OwnHeaders, TRACEPARENT, Template};
pub use limits::{ClientLimits, Http2Limits, Protocol, Replay};
pub use public::{Reach, is_public};
pub use request_body::{PieceSource, RequestBody, StreamedBody};
pub use route::{ProxyUse, Route, environment_proxies};
pub use tls::{TlsFileError, TlsFiles, Trust};
pub use tunnel::ProxyFailure;

use http1::TemplatedRequest;
use limits::MOST_ORIGINS;
use losses::Losses;
use route::OriginKey;

/// An HTTP client with its connections. Clones share the connections.
#[derive(Clone)]
pub struct Client(Arc<ClientShared>);

struct ClientShared {
    limits: Mutex<ClientLimits>,
    trust: Trust,
    losses: Arc<Losses>,
    origins: Mutex<HashMap<OriginKey, Arc<origin::OriginState>>>,
}

/// One origin of a [`Client`], resolved once. Keep it for repeated requests to the same upstream.
#[derive(Clone)]
pub struct Origin(Arc<origin::OriginState>);

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("limits", &self.limits()).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Origin").field(&self.0.name()).finish()
    }
}

impl Client {
    /// Creates a client without connections. The authorities in `trust` are loaded with the first `https` request.
    pub fn new(limits: ClientLimits, trust: Trust) -> Self {
        Self::with(limits, trust, Arc::default())
    }

    /// Creates a client with the same settings for another thread. It has connections of its own, and does not use them any more
    /// after this client has lost one to the same origin in the middle of a request.
    #[must_use]
    pub fn sibling(&self) -> Self {
        Self::with(self.limits(), self.0.trust.clone(), self.0.losses.clone())
    }

    fn with(limits: ClientLimits, trust: Trust, losses: Arc<Losses>) -> Self {
        Self(Arc::new(ClientShared { limits: Mutex::new(limits), trust, losses, origins: Mutex::default() }))
    }

    fn limits(&self) -> ClientLimits {
        *self.0.limits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes [`ClientLimits::connect_timeout`], for known origins as well.
    pub fn set_connect_timeout(&self, within: Duration) {
        // This is done under the lock of the origins, so that an origin that is created meanwhile gets the new time.
        let origins = self.0.origins.lock().unwrap_or_else(PoisonError::into_inner);
        self.0.limits.lock().unwrap_or_else(PoisonError::into_inner).connect_timeout = within;
        for origin in origins.values() {
            origin.set_connect_timeout(within);
        }
    }

    /// Returns the origin of `url`, for requests in `protocol`. This function does not connect.
    pub fn origin(&self, url: &Uri, protocol: Protocol) -> Result<Origin, ClientError> {
        self.origin_by(&Route::default(), url, protocol)
    }

    /// The origin of `url`, for requests in `protocol` by this route. Does not connect yet.
    pub fn origin_by(&self, route: &Route, url: &Uri, protocol: Protocol) -> Result<Origin, ClientError> {
        let bad = |reason| ClientError::BadUrl { url: url.to_string(), reason };
        let scheme =
            url.scheme().cloned().ok_or_else(|| bad("the URL must begin with http:// or https://"))?;
        let authority = url.authority().cloned().ok_or_else(|| bad("the URL has no host"))?;
        let key = (scheme, authority, protocol, route.clone());
        let mut origins = self.0.origins.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = origins.get(&key) {
            return Ok(Origin(known.clone()));
        }
        if origins.len() >= MOST_ORIGINS {
            origins.retain(|_, origin| Arc::strong_count(origin) > 1 || !origin.is_cold());
        }
        let shared = (route, &self.0.trust, self.0.losses.of(&key));
        let made = origin::OriginState::new(url, protocol, self.limits(), shared)?;
        let made = Arc::new(made);
        origins.insert(key, made.clone());
        Ok(Origin(made))
    }

    /// Returns an id that distinguishes clients, for code that keeps an [`Origin`] for each of them.
    pub fn id(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// Sends a request to the origin of the request's own (absolute) URL; see [`Origin::request`].
    pub async fn request(&self, request: Request<Bytes>) -> Result<Response<ResponseBody>, ClientError> {
        self.request_by(&Route::default(), request).await
    }

    /// Sends a request to the origin of its own (absolute) URL by this route.
    pub async fn request_by(
        &self,
        route: &Route,
        request: Request<Bytes>,
    ) -> Result<Response<ResponseBody>, ClientError> {
        self.origin_by(route, request.uri(), Protocol::Auto)?.request(request).await
    }

    /// Sends a request to the origin of its own (absolute) URL by this route; see [`Origin::stream`].
    pub async fn stream_by(
        &self,
        route: &Route,
        request: Request<StreamedBody>,
    ) -> Result<Response<ResponseBody>, ClientError> {
        self.origin_by(route, request.uri(), Protocol::Auto)?.stream(request).await
    }
}

impl Origin {
    /// Returns host and port, for messages.
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// Sends a request, and waits for the answer's head. Only the path and the query of the request's URL are used;
    /// `Host` is set if it is missing. If a kept connection turns out to be dead, it is replaced once; see
    /// [`Replay`]. Idempotent methods count as [`Replay::Always`].
    ///
    /// [`ClientLimits::connect_timeout`] limits the time for connecting. The caller limits the time for the answer:
    /// drop the future, or use [`Self::request_until`]. Dropping the future cancels the request.
    pub async fn request(&self, request: Request<Bytes>) -> Result<Response<ResponseBody>, ClientError> {
        let replay = if request.method().is_idempotent() { Replay::Always } else { Replay::Unsent };
        self.request_with(request, replay).await
    }

    /// Sends a request as [`Self::request`] does, but the caller decides whether it may be sent twice.
    pub async fn request_with(
        &self,
        mut request: Request<Bytes>,
        replay: Replay,
    ) -> Result<Response<ResponseBody>, ClientError> {
        let template = self.0.template(&mut request);
        self.0
            .request(
                &TemplatedRequest {
                    template: &template,
                    own: &OwnHeaders::NONE,
                    body: request.into_body().into(),
                },
                replay,
            )
            .await
    }

    /// Sends a request as [`Self::request`] does, while its body is being made. If the upstream answers before it has got the
    /// whole body, its answer is returned, and the rest of the body is sent only while the answer is being read. If the body
    /// breaks off, the connection (on HTTP/2: the stream) is aborted. A request that may have been sent in part is never sent
    /// again.
    pub async fn stream(
        &self,
        mut request: Request<StreamedBody>,
    ) -> Result<Response<ResponseBody>, ClientError> {
        let template = self.0.template(&mut request);
        let body = RequestBody::Streamed(request.into_body());
        self.0
            .request(&TemplatedRequest { template: &template, own: &OwnHeaders::NONE, body }, Replay::Unsent)
            .await
    }

    /// Sends a request that is made from a template, as [`Self::request`] does. None of the request's own headers may state
    /// the length of the body.
    pub async fn send(
        &self,
        template: &Template,
        own: &OwnHeaders<'_>,
        body: Bytes,
    ) -> Result<Response<ResponseBody>, ClientError> {
        let replay = if template.method.is_idempotent() { Replay::Always } else { Replay::Unsent };
        self.0.request(&TemplatedRequest { template, own, body: body.into() }, replay).await
    }

    /// Sends a request as [`Self::request_with`] does, with a deadline for the answer's head.
    pub async fn request_until(
        &self,
        request: Request<Bytes>,
        replay: Replay,
        deadline: Instant,
    ) -> Result<Response<ResponseBody>, ClientError> {
        let late = || ClientError::Timeout { host: self.name().to_owned() };
        timeout_at(deadline, self.request_with(request, replay)).await.map_err(|_| late())?
    }
}
