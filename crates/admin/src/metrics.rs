//! `/metrics`: the metrics of the process, for callers that may read them, or at a separate address. This module must not know any
//! metric.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use config::Metrics;
use engine::access::{Asker, Hosts};
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use http::{Method, Request, Response, StatusCode};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;
use transport::net::{Body, Handler, Incoming, Responding};

use crate::exposition::{ExpositionFormat, text};
use gateway::front::http::identify::identify;
use gateway::front::http::{answer, denied, guard};
use gateway::process::{Gateway, Shard, Thread};
use transport::net::Arrived;

/// The path of the metrics.
pub(super) const PATH: &str = "/metrics";

/// The permit to write the metrics. There is only one, because the text of the metrics may be long.
static TURN: Semaphore = Semaphore::const_new(1);

/// The time for which a request waits for the permit. Writing takes milliseconds, so two scrapers rarely wait for
/// long.
const PATIENCE: Duration = Duration::from_secs(2);

/// Answers a request for the metrics at an address at which clients connect.
pub(super) async fn respond(
    shard: &Arc<Shard>,
    metrics: &Metrics,
    request: &Request<Incoming>,
    peer: SocketAddr,
) -> Response<Body> {
    if let Some(refusal) = guard::refuse_foreign_page(request.headers()) {
        return refusal;
    }
    if !shard.door.asks() && !shard.gateway.loopback {
        return forbidden(
            "other machines can reach this address, so `/metrics` requires `auth` in the configuration, or an address of its \
             own: `metrics: { listen: 127.0.0.1:9464 }`",
        );
    }
    let identity = match identify(shard, request, peer, true, "").await {
        Ok(identity) => identity,
        Err(refused) => return denied::refuse_entry(None, &refused),
    };
    let asker = Asker { principal: &identity.principal, address: identity.address() };
    match &metrics.who {
        _ if identity.principal.profiles.is_some() => forbidden(
            "these credentials are valid for some profiles only, not for the metrics of this server",
        ),
        Some(who) if !asker.is_among(who) => forbidden("you may not read the metrics of this server"),
        _ => figures(&shard.gateway, request).await,
    }
}

fn forbidden(message: &str) -> Response<Body> {
    answer::text(StatusCode::FORBIDDEN, &format!("{message}\n"))
}

/// Returns the metrics in the format that the request asks for.
async fn figures(gateway: &Arc<Gateway>, request: &Request<Incoming>) -> Response<Body> {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return answer::only("GET", "read the metrics with GET");
    }
    let Some(turn) = take_turn(&TURN, PATIENCE).await else { return busy() };
    let (gateway, format) = (gateway.clone(), format(request.headers()));
    // The metrics of the process are read from files. The turn lasts until the text is written, even if the request is gone.
    let write = move || {
        let text = text(&gateway, format);
        drop(turn);
        text
    };
    match transport::task::spawn_blocking(write).await {
        Ok(text) => {
            let mut response = Response::new(Body::Full(text.into()));
            let media_type = HeaderValue::from_static(format.media_type());
            response.headers_mut().insert(CONTENT_TYPE, media_type);
            response
        }
        Err(_) => answer::text(StatusCode::INTERNAL_SERVER_ERROR, "the metrics could not be written\n"),
    }
}

/// Waits for the permit; returns `None` if it is not free within this time.
async fn take_turn(turn: &Semaphore, patience: Duration) -> Option<SemaphorePermit<'_>> {
    timeout(patience, turn.acquire()).await.ok()?.ok()
}

/// Returns the answer to a request that did not get the permit in time.
fn busy() -> Response<Body> {
    let why = "too many requests for the metrics at once; try again in 1 s\n";
    let mut response = answer::text(StatusCode::SERVICE_UNAVAILABLE, why);
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(1_u64));
    response
}

/// Returns the format that a scraper asks for.
fn format(headers: &HeaderMap) -> ExpositionFormat {
    let asks = |accept: &HeaderValue| {
        accept.to_str().is_ok_and(|accept| accept.contains("application/openmetrics-text"))
    };
    if headers.get_all(ACCEPT).iter().any(asks) {
        ExpositionFormat::OpenMetrics
    } else {
        ExpositionFormat::Prometheus
    }
}

/// The service at a separate address: only the metrics, for everybody who can reach the address.
#[derive(Clone)]
pub(crate) struct MetricsService(Arc<Thread>);

impl MetricsService {
    pub(crate) fn new(thread: Arc<Thread>) -> Self {
        Self(thread)
    }
}

impl Handler for MetricsService {
    fn handle(&self, request: Arrived, _: SocketAddr) -> Responding<'_> {
        Box::pin(self.respond(request))
    }
}

impl MetricsService {
    async fn respond(&self, request: Arrived) -> Response<Body> {
        let gateway = self.0.now().gateway.clone();
        let config = gateway.standing.config();
        let listen = config.metrics.as_ref().and_then(|metrics| metrics.listen);
        let is_loopback = listen.is_none_or(|address| address.ip().is_loopback());
        let hosts = Hosts::new(is_loopback, &config.allowed_hosts, &[]);
        if let Err(refusal) = guard::check(&hosts, &request) {
            return *refusal;
        }
        if request.uri().path() != PATH {
            return answer::text(StatusCode::NOT_FOUND, "only /metrics is served here\n");
        }
        figures(&gateway, &request).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_request_at_a_time_has_its_turn_and_others_wait_only_for_a_while() {
        let turn = Semaphore::new(1);
        let first = take_turn(&turn, PATIENCE).await.expect("nobody else");
        assert!(take_turn(&turn, Duration::from_millis(20)).await.is_none());
        let second = async { take_turn(&turn, PATIENCE).await.is_some() };
        let ((), is_given) = tokio::join!(async { drop(first) }, second);
        assert!(is_given, "the first one has finished");
        let refusal = busy();
        assert_eq!(
            (refusal.status(), &refusal.headers()[RETRY_AFTER]),
            (StatusCode::SERVICE_UNAVAILABLE, &HeaderValue::from(1_u64))
        );
    }
}
