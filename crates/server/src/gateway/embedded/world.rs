//! The port through which embedded servers ask others, over connections of their own. It must not know what is asked.

use std::time::{Duration, Instant};

use bytes::Bytes;
use engine::config::Limits;
use http::header::{AUTHORIZATION, HeaderName, HeaderValue};
use http::{Method, Request};
use native::{HttpClient, HttpFault, HttpFaultKind, HttpRequest, HttpResponse, Pending, Verb};
use secrecy::ExposeSecret as _;
use transport::net::client::{Client, ClientError, ClientLimits, Trust};
use transport::net::{CollectError, collect};

/// Requests at the same time to one origin.
const AT_ONCE: usize = 20;
/// Connections to one origin that are kept when nobody uses them, and how long.
const KEPT: usize = 10;
const KEPT_FOR: Duration = Duration::from_secs(30);

/// Asks the world.
pub(super) struct World {
    any: Client,
    public: Client,
    start: Instant,
}

impl World {
    pub(super) fn new(limits: &Limits) -> Self {
        let client = |public_only| {
            let limits = ClientLimits {
                connect_timeout: limits.connect_timeout,
                idle_timeout: KEPT_FOR,
                max_idle: KEPT,
                max_in_use: AT_ONCE,
                public_only,
                ..ClientLimits::default()
            };
            Client::new(limits, Trust::default())
        };
        Self { any: client(false), public: client(true), start: Instant::now() }
    }
}

impl HttpClient for World {
    fn send(&self, request: HttpRequest) -> Pending<Result<HttpResponse, HttpFault>> {
        let client = if request.public_only { self.public.clone() } else { self.any.clone() };
        Box::pin(async move {
            let deadline = tokio::time::Instant::now() + request.patience;
            let most = request.most;
            let request = build(request)?;
            let late = || fault(HttpFaultKind::Late, "no answer came in time");
            let answer = tokio::time::timeout_at(deadline, client.request(request)).await;
            let answer = answer.map_err(|_| late())?.map_err(|error| unanswered(&error))?;
            let (head, body) = answer.into_parts();
            let body = collect(body, most, deadline).await.map_err(|error| {
                let kind = match &error {
                    CollectError::TooLarge { .. } => HttpFaultKind::TooLarge,
                    CollectError::TimedOut { .. } => HttpFaultKind::Late,
                    CollectError::Broken(_) => HttpFaultKind::Broken,
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

    fn pause(&self, time: Duration) -> Pending<()> {
        Box::pin(tokio::time::sleep(time))
    }
}

fn build(request: HttpRequest) -> Result<Request<Bytes>, HttpFault> {
    let method = match request.method {
        Verb::Get => Method::GET,
        Verb::Post => Method::POST,
        Verb::Put => Method::PUT,
        Verb::Patch => Method::PATCH,
        Verb::Delete => Method::DELETE,
    };
    let refused = |_| fault(HttpFaultKind::Refused, "the request cannot be written as HTTP");
    let mut built = Request::builder().method(method).uri(request.url.as_str());
    for (name, value) in &request.headers {
        built = built.header(HeaderName::from_static(name), value.as_ref());
    }
    if let Some(authorization) = &request.authorization {
        let mut value = HeaderValue::from_str(authorization.expose_secret())
            .map_err(|_| fault(HttpFaultKind::Refused, "the credentials cannot be written in a header"))?;
        value.set_sensitive(true);
        built = built.header(AUTHORIZATION, value);
    }
    built.body(request.body).map_err(refused)
}

fn unanswered(error: &ClientError) -> HttpFault {
    let kind = match error {
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
