//! The port to identity providers, and to sites that authenticate users. Each use is one request with a size cap
//! and a deadline; redirects are not followed. This module must not know the requests.

use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, HeaderValue, RETRY_AFTER, USER_AGENT};
use http::{Request, Response, StatusCode, Uri};
use tokio::time::Instant;
use transport::budget::Part;
use transport::net::{Client, ResponseBody, collect};

/// A GET request.
#[derive(Clone)]
pub struct GetRequest<'a> {
    /// An absolute URL.
    pub url: &'a Uri,
    /// The value of `Authorization`, marked as sensitive.
    pub authorization: Option<HeaderValue>,
    /// The maximum size of an accepted body, in bytes.
    pub cap: usize,
    /// The time limit for the whole request.
    pub within: Duration,
}

/// The response to a request.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status of the response.
    pub status: StatusCode,
    /// The time in the `Retry-After` header, if the header gives it in seconds.
    pub retry_after: Option<Duration>,
    /// The whole body.
    pub body: Bytes,
}

/// The human-readable reason why there is no response. The text names the host, and suggests a fix if there is one.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub struct WebError(pub String);

/// A pending response.
pub type Answering<'a> = Pin<Box<dyn Future<Output = Result<Answer, WebError>> + Send + 'a>>;

/// A client for requests to other servers.
pub trait Web: Send + Sync {
    /// Sends a GET; dropping the future cancels the request.
    fn get<'a>(&'a self, get: GetRequest<'a>) -> Answering<'a>;
}

impl Web for Client {
    fn get<'a>(&'a self, get: GetRequest<'a>) -> Answering<'a> {
        Box::pin(async move {
            let deadline = Instant::now() + get.within;
            let request = request(&get).map_err(|error| WebError(error.to_string()))?;
            let late = || WebError(format!("{} did not answer in time", host(get.url)));
            let answer = tokio::time::timeout_at(deadline, self.request(request)).await;
            let answer = answer.map_err(|_| late())?.map_err(|error| WebError(error.to_string()))?;
            taken(answer, &get, deadline).await
        })
    }
}

fn request(get: &GetRequest<'_>) -> Result<Request<Bytes>, http::Error> {
    let mut request = Request::get(get.url.clone())
        .header(ACCEPT, "application/json")
        .header(USER_AGENT, concat!("dragoman/", env!("CARGO_PKG_VERSION")));
    if let Some(authorization) = &get.authorization {
        request = request.header(AUTHORIZATION, authorization);
    }
    request.body(Bytes::new())
}

async fn taken(
    answer: Response<ResponseBody>,
    get: &GetRequest<'_>,
    deadline: Instant,
) -> Result<Answer, WebError> {
    let (head, body) = answer.into_parts();
    let said = head.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    let body = collect(body, Part::Answers, get.cap, deadline).await;
    let body = body.map_err(|error| WebError(format!("{}: {error}", host(get.url))))?;
    Ok(Answer { status: head.status, retry_after: said.map(Duration::from_secs), body })
}

fn host(url: &Uri) -> &str {
    url.authority().map_or("the server", http::uri::Authority::as_str)
}

/// Returns true if an answer from `url` is safe to base access decisions on: the URL uses TLS, or its host is this machine.
pub fn is_safe(url: &Uri) -> bool {
    let Some(host) = url.host().filter(|_| !has_user(url)) else { return false };
    match url.scheme_str() {
        Some("https") => true,
        Some("http") => is_loopback(host),
        _ => false,
    }
}

/// Returns true if `url` is on this machine.
pub fn is_local(url: &Uri) -> bool {
    url.host().is_some_and(is_loopback)
}

fn has_user(url: &Uri) -> bool {
    url.authority().is_some_and(|authority| authority.as_str().contains('@'))
}

fn is_loopback(host: &str) -> bool {
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    host.eq_ignore_ascii_case("localhost")
        || bare.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
}
/// Returns the addresses of an issuer's metadata, in the order in which they are tried (MCP, authorization:
/// authorization server metadata discovery).
pub fn issuer_places(issuer: &Uri) -> Vec<String> {
    let origin = format!(
        "{}://{}",
        issuer.scheme_str().unwrap_or_default(),
        issuer.authority().map(http::uri::Authority::as_str).unwrap_or_default()
    );
    let path = issuer.path().trim_end_matches('/');
    let mut places = vec![
        format!("{origin}/.well-known/oauth-authorization-server{path}"),
        format!("{origin}/.well-known/openid-configuration{path}"),
    ];
    if !path.is_empty() {
        places.push(format!("{origin}{path}/.well-known/openid-configuration"));
    }
    places
}
