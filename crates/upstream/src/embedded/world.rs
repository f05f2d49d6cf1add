//! The port through which embedded servers send requests, over separate connections. This module must not know the
//! requests.

use std::time::{Duration, Instant};

use aws_lc_rs::hmac;
use bytes::Bytes;
use config::{Limits, RateLimit, RequestRate, Site};
use engine::rate::{Limiter, RatedRequest};
use http::Method;
use http::header::{AUTHORIZATION, HeaderName, HeaderValue};
use native::{HttpClient, HttpFault, HttpFaultKind, HttpRequest, HttpResponse, Pending, Verb};
use secrecy::ExposeSecret as _;
use transport::budget::Part;
use transport::net::client::{Client, ClientError, ClientLimits, Reach, Trust};
use transport::net::{CollectError, collect};

use crate::route::Routes;

/// The maximum number of origins whose requests are counted.
const MOST_SITES: usize = 10_000;
/// The maximum number of idle connections to one origin, and the time for which they are kept.
const KEPT: usize = 10;
const KEPT_FOR: Duration = Duration::from_secs(30);

/// Sends requests on behalf of embedded servers.
pub(super) struct World {
    any: Client,
    public: Client,
    routes: Routes,
    start: Instant,
    digests: hmac::Key,
    rate: Option<Limiter>,
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

impl World {
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
        Ok(Self {
            any: client(Reach::All),
            public: client(Reach::Public),
            routes,
            start: Instant::now(),
            digests: hmac::Key::new(hmac::HMAC_SHA256, key),
            rate: rules.rate.map(|rate| Limiter::new(&[per_site(rate)], MOST_SITES, seed)),
        })
    }

    /// Checks that a request may be sent to the site of this URL now; otherwise returns the time to wait.
    fn turn(&self, url: &str) -> Result<(), Duration> {
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
        verdict.filter(|verdict| !verdict.allowed).map_or(Ok(()), |verdict| Err(verdict.retry_after))
    }
}

impl HttpClient for World {
    fn send(&self, request: HttpRequest) -> Pending<Result<HttpResponse, HttpFault>> {
        if let Err(wait) = self.turn(&request.url) {
            let seconds = wait.as_secs() + 1;
            let words = format!("too many requests to this site: try again in {seconds} s");
            return Box::pin(std::future::ready(Err(fault(HttpFaultKind::TooOften, &words))));
        }
        let client = if request.public_only { &self.public } else { &self.any }.clone();
        // A host that a caller may have chosen must not see the client certificate.
        let route = if request.is_fixed_host { &self.routes.server } else { &self.routes.others }.clone();
        Box::pin(async move {
            let deadline = tokio::time::Instant::now() + request.patience;
            let most = request.most;
            let public_only = request.public_only;
            let request = build(request)?;
            let late = || fault(HttpFaultKind::Late, "no answer came in time");
            let answer = tokio::time::timeout_at(deadline, client.request_by(&route, request)).await;
            let answer = answer.map_err(|_| late())?.map_err(|error| unanswered(&error, public_only))?;
            let (head, body) = answer.into_parts();
            let body = collect(body, Part::Answers, most, deadline).await.map_err(|error| {
                let kind = match &error {
                    CollectError::TooLarge { .. } => HttpFaultKind::TooLarge,
                    CollectError::TimedOut { .. } => HttpFaultKind::Late,
                    CollectError::OutOfMemory(..) | CollectError::Broken(_) => HttpFaultKind::Broken,
                };
                fault(kind, &error.to_string())
            })?;
            let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
            let headers = head.headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect();
            Ok(HttpResponse { status: head.status.as_u16(), headers, body })
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

fn build(request: HttpRequest) -> Result<http::Request<Bytes>, HttpFault> {
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
    built.body(request.body).map_err(refused)
}

/// The failure of a request. With `public_only`, a name that does not exist and one that leads to the inner network are the same
/// failure.
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

fn fault(kind: HttpFaultKind, message: &str) -> HttpFault {
    HttpFault { kind, message: message.to_owned() }
}
