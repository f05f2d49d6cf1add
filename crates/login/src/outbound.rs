//! Sends requests to sites, and to the addresses of clients' documents. Visitors and clients choose these
//! addresses, so the addresses are not trusted. This module must not know the purpose of a request.

use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, HeaderValue, LOCATION, USER_AGENT};
use http::{Method, Request, StatusCode, Uri};
use tokio::time::{Instant, timeout_at};
use transport::budget::Part;
use transport::net::client::{Client, ClientError, ClientLimits, Reach, Route, Trust};
use transport::net::collect;

/// The time limit for a request.
const WITHIN: Duration = Duration::from_secs(15);
/// The maximum number of requests that run at the same time.
const AT_ONCE: usize = 16;

/// A request without a body.
#[derive(Debug, Clone)]
pub(crate) struct SiteRequest {
    pub(crate) method: Method,
    pub(crate) url: Uri,
    /// The value of `Authorization`, marked as sensitive.
    pub(crate) authorization: Option<HeaderValue>,
    /// True if the address may lead only to the public network.
    pub(crate) public_only: bool,
    /// The maximum size of an accepted body, in bytes.
    pub(crate) cap: usize,
}

/// The response to a request. Redirects are not followed.
#[derive(Debug, Clone)]
pub(crate) struct SiteResponse {
    pub(crate) status: StatusCode,
    pub(crate) location: Option<String>,
    pub(crate) body: Bytes,
}

/// The reason why there is no response, as a text for people.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct OutboundError(pub(crate) String);

/// The text for an address that does not exist, and also for an address that is not public, so that nobody can
/// distinguish the two.
pub(crate) const NOT_REACHABLE: &str = "this address cannot be reached from the internet";

/// A pending response.
pub(crate) type Responding<'a> =
    Pin<Box<dyn Future<Output = Result<SiteResponse, OutboundError>> + Send + 'a>>;

/// Sends requests.
pub(crate) trait Outbound: Send + Sync {
    /// Sends a request; dropping the future cancels it.
    fn send(&self, request: SiteRequest) -> Responding<'_>;
}

/// The client that sends requests over its own connections.
pub(crate) struct Network {
    any: Client,
    public: Client,
}

impl Network {
    pub(crate) fn new() -> Self {
        // Idle connections are not kept, because the next request may be sent by another thread, or never.
        let limits = ClientLimits { max_idle: 0, max_in_use: AT_ONCE, ..ClientLimits::default() };
        let client = |reach| Client::new(ClientLimits { reach, ..limits }, Trust::default());
        Self { any: client(Reach::All), public: client(Reach::Public) }
    }
}

impl Outbound for Network {
    fn send(&self, request: SiteRequest) -> Responding<'_> {
        Box::pin(async move {
            let until = Instant::now() + WITHIN;
            let host = request.url.host().unwrap_or_default().to_owned();
            let (client, cap) = (if request.public_only { &self.public } else { &self.any }, request.cap);
            let (public_only, request) = (request.public_only, built(request)?);
            let late = |_| OutboundError(format!("{host} did not answer in time"));
            let route = Route::default();
            let sent = timeout_at(until, client.request_by(&route, request)).await.map_err(late)?;
            let (head, body) = sent.map_err(|error| unanswered(&error, public_only))?.into_parts();
            let body = collect(body, Part::Answers, cap, until).await;
            let body = body.map_err(|error| OutboundError(format!("{host}: {error}")))?;
            let location = head.headers.get(LOCATION).and_then(|value| value.to_str().ok());
            Ok(SiteResponse { status: head.status, location: location.map(str::to_owned), body })
        })
    }
}

fn unanswered(error: &ClientError, public_only: bool) -> OutboundError {
    match error {
        ClientError::NotPublic { .. } | ClientError::BadUrl { .. } | ClientError::Dns { .. }
            if public_only =>
        {
            OutboundError(NOT_REACHABLE.to_owned())
        }
        error => OutboundError(error.to_string()),
    }
}

fn built(request: SiteRequest) -> Result<Request<Bytes>, OutboundError> {
    let mut built = Request::builder()
        .method(request.method)
        .uri(request.url)
        .header(ACCEPT, "application/json")
        .header(USER_AGENT, concat!("dragoman/", env!("CARGO_PKG_VERSION")));
    if let Some(authorization) = request.authorization {
        built = built.header(AUTHORIZATION, authorization);
    }
    built.body(Bytes::new()).map_err(|error| OutboundError(error.to_string()))
}
