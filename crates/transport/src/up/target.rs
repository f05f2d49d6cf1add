//! The HTTP address of an upstream, and the caps on what the upstream may send. This module must not know which
//! transport is used.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use bytes::Bytes;
use http::header::HeaderMap;
use http::{Request, Response, Uri};
use proto::rpc::FrameLimits;

use super::Credential;
use crate::net::client::{Client, ClientError, Origin, Protocol, ResponseBody, Route};

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

    /// Changes the caps. The new caps apply to all requests and streams that begin later.
    pub fn set(&self, limits: HttpLimits) {
        self.0.store(Arc::new(limits));
    }
}

/// The address of an upstream, and the headers of every request to it.
#[derive(Debug, Clone)]
pub struct HttpTarget {
    /// The upstream's endpoint.
    pub uri: Uri,
    /// The configured headers; values that may be secret are marked as sensitive.
    pub headers: HeaderMap,
    /// The value of `Authorization`, which is used if `headers` contains none.
    pub credential: Arc<Credential>,
    /// The caps on data from the upstream.
    pub limits: SharedHttpLimits,
    /// The proxy and the TLS settings for the connection.
    pub route: Route,
}

impl HttpTarget {
    /// The upstream's origin in `client`.
    pub(super) fn origin(&self, client: &Client) -> Result<Origin, ClientError> {
        client.origin_by(&self.route, &self.uri, Protocol::Auto)
    }

    /// Sends a request to the URL that it contains, over the upstream's route.
    pub(super) async fn request(
        &self,
        client: &Client,
        request: Request<Bytes>,
    ) -> Result<Response<ResponseBody>, ClientError> {
        client.request_by(&self.route, request).await
    }
}
