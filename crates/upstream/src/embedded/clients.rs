//! The port through which embedded servers send requests, over separate connections. This module must not know the
//! requests.

use std::time::{Duration, Instant};

use aws_lc_rs::hmac;
use config::{Limits, RateLimit, RequestRate, Site};
use engine::rate::{Limiter, RatedRequest};
use http::Method;
use http::header::{AUTHORIZATION, HeaderName, HeaderValue};
use http_body::Body as _;
use native::{
    HttpBody, HttpClient, HttpFault, HttpFaultKind, HttpRequest, HttpResponse, OpenedResponse, PassedFile,
    Pending, Verb,
};
use secrecy::ExposeSecret as _;
use tokio::time::{Instant as Deadline, timeout_at};
use transport::budget::Part;
use transport::net::client::{Client, ClientError, ClientLimits, Reach, ResponseBody, Route, Trust};
use transport::net::{CollectError, collect};

use super::passing::{ArrivingHttpBody, FileRelay};
use crate::route::Routes;

/// The maximum number of origins whose requests are counted.
const MOST_SITES: usize = 10_000;
/// The maximum number of idle connections to one origin, and the time for which they are kept.
const KEPT: usize = 10;
const KEPT_FOR: Duration = Duration::from_secs(30);

/// Sends requests on behalf of embedded servers.
pub(super) struct EmbeddedClients {
    requests: Clients,
    /// The clients for files that are read while another request runs, possibly to the same server. If both kinds of requests
    /// shared one limit, they could wait for each other forever.
    files: Clients,
    routes: Routes,
    start: Instant,
    digests: hmac::Key,
    rate: Option<Limiter>,
}

/// The clients for one purpose.
struct Clients {
    any: Client,
    public: Client,
}

impl Clients {
    /// The client for this request.
    fn of(&self, request: &HttpRequest) -> Client {
        if request.public_only { &self.public } else { &self.any }.clone()
    }
}

/// The limits for requests to one origin.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    /// The maximum number of concurrent requests.
    pub(super) at_once: u32,
    /// The maximum number of requests per period; `None` if there is no limit.
    pub(super) rate: Option<RequestRate>,
}

impl Default for Rules {
    fn default() -> Self {
        Self { at_once: Site::AT_ONCE, rate: None }
    }
}

impl EmbeddedClients {
    /// Creates a port with these limits.
    ///
    /// # Errors
    /// Fails if the operating system's random number generator fails.
    pub(super) fn new(limits: &Limits, rules: Rules, routes: Routes) -> Result<Self, String> {
        let mut random = [0; 40];
        getrandom::fill(&mut random).map_err(|_| "the operating system's random number generator failed")?;
        let (key, seed) = random.split_at(32);
        let seed = seed.iter().fold(0, |seed, byte| (seed << 8) | u64::from(*byte));
        let at_once = usize::try_from(rules.at_once).unwrap_or(usize::MAX);
        let client = |reach| {
            let limits = ClientLimits {
                connect_timeout: limits.connect_timeout,
                idle_timeout: KEPT_FOR,
                max_idle: KEPT,
                max_in_use: at_once,
                reach,
                ..ClientLimits::default()
            };
            Client::new(limits, Trust::default())
        };
        let clients = || Clients { any: client(Reach::All), public: client(Reach::Public) };
        Ok(Self {
            requests: clients(),
            files: clients(),
            routes,
            start: Instant::now(),
            digests: hmac::Key::new(hmac::HMAC_SHA256, key),
            rate: rules.rate.map(|rate| Limiter::new(&[per_site(rate)], MOST_SITES, seed)),
        })
    }

    /// Counts a request to the site of this URL; fails if the site's rate limit is exceeded.
    fn turn(&self, url: &str) -> Result<(), HttpFault> {
        let Some(limiter) = &self.rate else { return Ok(()) };
        let host = url.split('/').nth(2).unwrap_or_default().to_ascii_lowercase();
        let request = RatedRequest {
            principal: &host,
            address: None,
            connection: None,
            profile: "",
            is_call: true,
            tool: None,
            identity: None,
        };
        let verdict = limiter.check(&request, self.now());
        match verdict.filter(|verdict| !verdict.allowed) {
            None => Ok(()),
            Some(verdict) => {
                let seconds = verdict.retry_after.as_secs() + 1;
                let words = format!("too many requests to this site: try again in {seconds} s");
                Err(fault(HttpFaultKind::TooOften, &words))
            }
        }
    }

    /// The route of a request. A host that a caller may have chosen must not see the client certificate.
    fn route(&self, request: &HttpRequest) -> Route {
        if request.is_fixed_host { &self.routes.server } else { &self.routes.others }.clone()
    }
}

impl HttpClient for EmbeddedClients {
    fn send(&self, request: HttpRequest) -> Pending<Result<HttpResponse, HttpFault>> {
        if let Err(fault) = self.turn(&request.url) {
            return Box::pin(std::future::ready(Err(fault)));
        }
        let (client, route) = (self.requests.of(&request), self.route(&request));
        Box::pin(async move {
            let deadline = Deadline::now() + request.patience;
            let (most, public_only) = (request.most, request.public_only);
            let (request, body) = build(request)?;
            let bytes = match body {
                HttpBody::Whole(bytes) => bytes,
                HttpBody::Passing(passed) => {
                    return passed_on(
                        &client,
                        &route,
                        request,
                        passed,
                        AnswerLimits { deadline, most, public_only },
                    )
                    .await;
                }
            };
            let answer = timeout_at(deadline, client.request_by(&route, request.map(|()| bytes))).await;
            let answer = answer.map_err(|_| late())?.map_err(|error| unanswered(&error, public_only))?;
            read(answer, most, deadline).await
        })
    }

    fn open(&self, request: HttpRequest, stall: Duration) -> Pending<Result<OpenedResponse, HttpFault>> {
        if let Err(fault) = self.turn(&request.url) {
            return Box::pin(std::future::ready(Err(fault)));
        }
        let (client, route) = (self.files.of(&request), self.route(&request));
        Box::pin(async move {
            let deadline = Deadline::now() + request.patience;
            let public_only = request.public_only;
            let (request, body) = build(request)?;
            let bytes = body.whole().cloned().unwrap_or_default();
            let soon = deadline.min(Deadline::now() + stall);
            let answer = timeout_at(soon, client.request_by(&route, request.map(|()| bytes))).await;
            let answer = answer.map_err(|_| late())?.map_err(|error| unanswered(&error, public_only))?;
            let (head, body) = answer.into_parts();
            let (status, length) = (head.status.as_u16(), body.size_hint().exact());
            let body = Box::new(ArrivingHttpBody::new(body, stall, deadline));
            Ok(OpenedResponse { status, headers: headers(&head), length, body })
        })
    }

    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn digest(&self, secret: &[u8]) -> [u8; 32] {
        let tag = hmac::sign(&self.digests, secret);
        let mut digest = [0; 32];
        digest.copy_from_slice(tag.as_ref());
        digest
    }

    fn pause(&self, time: Duration) -> Pending<()> {
        Box::pin(tokio::time::sleep(time))
    }
}

/// Returns a rate limit for each site, which all callers share.
fn per_site(rate: RequestRate) -> RateLimit {
    RateLimit { rate, burst: rate.count, ..RateLimit::default() }
}

/// The limits for the answer to a request whose body is a file from another server.
struct AnswerLimits {
    deadline: Deadline,
    most: usize,
    public_only: bool,
}

/// Sends a request with a file while the file is being read.
async fn passed_on(
    client: &Client,
    route: &Route,
    request: http::Request<()>,
    passed: PassedFile,
    limits: AnswerLimits,
) -> Result<HttpResponse, HttpFault> {
    if passed.file.is_begun() {
        return Err(fault(HttpFaultKind::Source, "the file was already sent with another request"));
    }
    let AnswerLimits { deadline, most, public_only } = limits;
    let (passage, body) = FileRelay::of(passed);
    let sending = async {
        let answer = timeout_at(deadline, client.stream_by(route, request.map(|()| body))).await;
        let answer = answer.map_err(|_| late())?.map_err(|error| unanswered(&error, public_only))?;
        read(answer, most, deadline).await
    };
    let response = passage.watched(sending).await?;
    match passage.unfinished().filter(|_| response.is_success()) {
        Some(fault) => Err(fault),
        None => Ok(response),
    }
}

/// Reads the whole answer.
async fn read(
    answer: http::Response<ResponseBody>,
    most: usize,
    deadline: Deadline,
) -> Result<HttpResponse, HttpFault> {
    let (head, body) = answer.into_parts();
    let body = collect(body, Part::Answers, most, deadline).await.map_err(|error| {
        let kind = match &error {
            CollectError::TooLarge { .. } => HttpFaultKind::TooLarge,
            CollectError::TimedOut { .. } => HttpFaultKind::Late,
            CollectError::OutOfMemory(..) | CollectError::Broken(_) => HttpFaultKind::Broken,
        };
        fault(kind, &error.to_string())
    })?;
    Ok(HttpResponse { status: head.status.as_u16(), headers: headers(&head), body })
}

fn headers(head: &http::response::Parts) -> Vec<(String, String)> {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    head.headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect()
}

/// The request without its body, and the body.
fn build(request: HttpRequest) -> Result<(http::Request<()>, HttpBody), HttpFault> {
    let method = match request.method {
        Verb::Get => Method::GET,
        Verb::Post => Method::POST,
        Verb::Put => Method::PUT,
        Verb::Patch => Method::PATCH,
        Verb::Delete => Method::DELETE,
    };
    let refused = |_| fault(HttpFaultKind::Refused, "the request is not valid HTTP");
    let mut built = http::Request::builder().method(method).uri(request.url.as_str());
    for (name, value) in &request.headers {
        built = built.header(HeaderName::from_static(name), value.as_ref());
    }
    if let Some(authorization) = &request.authorization {
        let mut value = HeaderValue::from_str(authorization.expose_secret())
            .map_err(|_| fault(HttpFaultKind::Refused, "the credentials cannot be sent in a header"))?;
        value.set_sensitive(true);
        built = built.header(AUTHORIZATION, value);
    }
    Ok((built.body(()).map_err(refused)?, request.body))
}

/// The failure of a request. With `public_only`, a name that does not exist yields the same failure as a name that
/// resolves to a private address.
fn unanswered(error: &ClientError, public_only: bool) -> HttpFault {
    let kind = match error {
        ClientError::NotPublic { .. } | ClientError::BadUrl { .. } | ClientError::Dns { .. }
            if public_only =>
        {
            HttpFaultKind::NotAllowed
        }
        ClientError::NotPublic { .. } | ClientError::BadUrl { .. } => HttpFaultKind::Refused,
        ClientError::Timeout { .. } => HttpFaultKind::Late,
        error if error.is_unsent() => HttpFaultKind::Unconnected,
        _ => HttpFaultKind::Broken,
    };
    fault(kind, &error.to_string())
}

fn late() -> HttpFault {
    fault(HttpFaultKind::Late, "no answer came in time")
}

pub(super) fn fault(kind: HttpFaultKind, message: &str) -> HttpFault {
    HttpFault { kind, message: message.to_owned() }
}
