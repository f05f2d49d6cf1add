//! Requests to upstreams over pooled connections: HTTP/1.1 and HTTP/2, plain and over TLS. No redirects, no cookies, no
//! decompression: the caller gets the upstream's answer unchanged. It must not know what is requested.
//!
//! A client belongs to one shard: its connections are driven by the tasks of that shard. The pool is ours, and so are the
//! connections of HTTP/1.1 (heads are read by httparse): an exchange that runs inside the request's own future, with a
//! prepared head, takes 6 000 instructions, where hyper's client took 18 000. A connection that waits for its answer
//! holds no buffer, so many of them fit into the processor's caches.
//!
//! | file | is for |
//! |---|---|
//! | `origin` | one origin: its pool, its HTTP/2 connection, sending and retrying |
//! | `connect` | a new connection: name, TCP, TLS |
//! | `link` | one HTTP/1.1 connection |
//! | [`http1`] | HTTP/1.1 as bytes: requests written, answers read |
//! | `answer` | an answer's body, which returns its connection to the pool |
//! | `limits` | limits for one origin, and its HTTP version |
//! | `error` | failures |
//! | `tls` | trusted authorities |
//! | `public` | addresses of the public network |

mod answer;
mod connect;
mod error;
pub mod http1;
mod limits;
mod link;
mod origin;
mod public;
mod tls;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::uri::{Authority, Scheme};
use http::{HeaderName, HeaderValue, Request, Response, Uri};
use tokio::time::{Instant, timeout_at};

pub use answer::ResponseBody;
pub use error::{ClientError, WireError};
pub use http1::Template;
pub use limits::{ClientLimits, Protocol, Replay};
pub use public::{Reach, is_public};
pub use tls::{Trust, TrustError};

use http1::TemplatedRequest;

/// Origins remembered by URL at most; beyond, those without connections are forgotten.
const MOST_ORIGINS: usize = 256;

/// An HTTP client with its connections. Clones share them.
#[derive(Clone)]
pub struct Client(Arc<ClientShared>);

struct ClientShared {
    limits: Mutex<ClientLimits>,
    trust: Trust,
    origins: Mutex<HashMap<(Scheme, Authority, Protocol), Arc<origin::OriginState>>>,
}

/// One origin of a [`Client`], resolved once: what asks the same upstream again and again should keep it.
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
    /// A client without connections. `trust` is only looked at when the first `https` request comes.
    pub fn new(limits: ClientLimits, trust: Trust) -> Self {
        Self(Arc::new(ClientShared { limits: Mutex::new(limits), trust, origins: Mutex::default() }))
    }

    fn limits(&self) -> ClientLimits {
        *self.0.limits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes [`ClientLimits::connect_timeout`], also for the origins that are known.
    pub fn set_connect_timeout(&self, within: Duration) {
        // Under the lock of the origins: one that is created meanwhile has the new time.
        let origins = self.0.origins.lock().unwrap_or_else(PoisonError::into_inner);
        self.0.limits.lock().unwrap_or_else(PoisonError::into_inner).connect_timeout = within;
        for origin in origins.values() {
            origin.set_connect_timeout(within);
        }
    }

    /// The origin of `url`, spoken to in `protocol`. Connects to nothing yet.
    pub fn origin(&self, url: &Uri, protocol: Protocol) -> Result<Origin, ClientError> {
        let bad = |reason| ClientError::BadUrl { url: url.to_string(), reason };
        let scheme = url.scheme().cloned().ok_or_else(|| bad("it must begin with http:// or https://"))?;
        let authority = url.authority().cloned().ok_or_else(|| bad("it has no host"))?;
        let key = (scheme, authority, protocol);
        let mut origins = self.0.origins.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = origins.get(&key) {
            return Ok(Origin(known.clone()));
        }
        if origins.len() >= MOST_ORIGINS {
            origins.retain(|_, origin| Arc::strong_count(origin) > 1 || !origin.is_cold());
        }
        let made = Arc::new(origin::OriginState::new(url, protocol, self.limits(), self.0.trust.clone())?);
        origins.insert(key, made.clone());
        Ok(Origin(made))
    }

    /// Tells clients apart, for who keeps an [`Origin`] of each.
    pub fn id(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// Asks the origin of the request's own (absolute) URL, see [`Origin::request`].
    pub async fn request(&self, request: Request<Bytes>) -> Result<Response<ResponseBody>, ClientError> {
        self.origin(request.uri(), Protocol::Auto)?.request(request).await
    }
}

impl Origin {
    /// Host and port, for messages.
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// Sends a request and waits for the answer's head. Only path and query of its URL count; `Host` is set unless it
    /// is there. A kept connection that turns out to be dead is replaced once, see [`Replay`]; idempotent methods
    /// count as [`Replay::Always`].
    ///
    /// Connecting is bounded by [`ClientLimits::connect_timeout`]; how long an answer may take is the caller's
    /// matter: drop the future, or use [`Self::request_until`]. Dropping it cancels the request.
    pub async fn request(&self, request: Request<Bytes>) -> Result<Response<ResponseBody>, ClientError> {
        let replay = if request.method().is_idempotent() { Replay::Always } else { Replay::Unsent };
        self.request_with(request, replay).await
    }

    /// As [`Self::request`], with the caller's word on whether it may be sent twice.
    pub async fn request_with(
        &self,
        mut request: Request<Bytes>,
        replay: Replay,
    ) -> Result<Response<ResponseBody>, ClientError> {
        let template = self.0.template(&mut request);
        self.0
            .request(&TemplatedRequest { template: &template, more: &[], body: request.into_body() }, replay)
            .await
    }

    /// Sends a request made from a template, as [`Self::request`] does. `more` are headers of this request alone: none
    /// of them may be in the template, nor say how long the body is.
    pub async fn send(
        &self,
        template: &Template,
        more: &[(HeaderName, HeaderValue)],
        body: Bytes,
    ) -> Result<Response<ResponseBody>, ClientError> {
        let replay = if template.method.is_idempotent() { Replay::Always } else { Replay::Unsent };
        self.0.request(&TemplatedRequest { template, more, body }, replay).await
    }

    /// As [`Self::request_with`], with an end to the wait for the answer's head.
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
