//! The HTTP address of an upstream, and the caps on what the upstream may send. It must not know which transport is
//! used.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use http::Uri;
use http::header::HeaderMap;
use proto::rpc::FrameLimits;

use super::Credential;

/// The caps on data from an upstream.
#[derive(Debug, Clone, Copy)]
pub struct HttpLimits {
    /// The maximum size of one answer, in bytes.
    pub result: usize,
    /// The maximum size of one event, in bytes.
    pub event: usize,
    /// The time that an introduction may take.
    pub patience: Duration,
    /// The maximum time for the body of an answer: in total, or, if the body is passed on, between two bytes. The
    /// caller may have a shorter deadline.
    pub body: Duration,
    /// The caps on the JSON of messages.
    pub frame: FrameLimits,
}

/// The caps on data from an upstream, which may change while links are open. Clones share them.
#[derive(Debug, Clone)]
pub struct SharedHttpLimits(Arc<ArcSwap<HttpLimits>>);

impl From<HttpLimits> for SharedHttpLimits {
    fn from(limits: HttpLimits) -> Self {
        Self(Arc::new(ArcSwap::from_pointee(limits)))
    }
}

impl SharedHttpLimits {
    /// Returns the current caps.
    pub fn get(&self) -> HttpLimits {
        **self.0.load()
    }

    /// Changes the caps; they apply to everything that begins later.
    pub fn set(&self, limits: HttpLimits) {
        self.0.store(Arc::new(limits));
    }
}

/// The address of an upstream, and the headers of every request to it.
#[derive(Debug)]
pub struct HttpTarget {
    /// The upstream's endpoint.
    pub uri: Uri,
    /// The configured headers; values that may be secret are marked as sensitive.
    pub headers: HeaderMap,
    /// The value of `Authorization`, which is used if `headers` contains none.
    pub credential: Arc<Credential>,
    /// The caps on data from the upstream.
    pub limits: SharedHttpLimits,
}
