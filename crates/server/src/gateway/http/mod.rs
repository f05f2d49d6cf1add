//! Clients over Streamable HTTP, and over HTTP+SSE as older ones speak it: what is checked before anything is read, and where each request goes.

mod answer;
mod dialect;
mod get;
mod guard;
mod media;
mod post;
mod sse;
mod stateless;

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;

use http::{Method, Request, Response, StatusCode};
use transport::net::{Body, Handler, Incoming};

use super::Shard;
use super::dialect::Front;
use super::identity::Identity;
pub(crate) use guard::Guard;

/// A request that was let in: at which profile, and whose it is.
#[derive(Clone)]
struct Entry {
    profile: usize,
    identity: Identity,
}

/// One thread's HTTP service.
#[derive(Clone)]
pub(crate) struct Service {
    shard: Shard,
    guard: Arc<Guard>,
}

impl Service {
    pub(crate) fn new(shard: Shard, guard: Arc<Guard>) -> Self {
        Self { shard, guard }
    }

    async fn respond(self, request: Request<Incoming>, peer: SocketAddr) -> Response<Body> {
        let origin = match self.guard.check(&request) {
            Ok(origin) => origin,
            Err(refusal) => return *refusal,
        };
        let mut response = self.route(request, peer).await;
        if let Some(origin) = origin {
            guard::allow_origin(response.headers_mut(), origin);
        }
        response
    }

    async fn route(&self, request: Request<Incoming>, peer: SocketAddr) -> Response<Body> {
        let identity = Identity::anyone(Some(peer.ip()));
        let path = request.uri().path();
        let Some(place) = self.shard.gateway.snapshot.at(path) else {
            return match path.strip_suffix('/').unwrap_or(path) {
                sse::STREAM => sse::stream(&self.shard, identity, &request),
                sse::MESSAGES => Box::pin(sse::messages(&self.shard, &identity, request)).await,
                _ => self.other(path),
            };
        };
        let profile = place.profile;
        let entry = Entry { profile, identity };
        if let Some(row) = &place.dialect {
            let front = Front { row: row.clone(), profile };
            let visit = dialect::Visit { shard: &self.shard, place, front, entry };
            return Box::pin(visit.respond(request)).await;
        }
        match *request.method() {
            Method::POST if sse::session_named(&request).is_some() => {
                Box::pin(sse::post(&self.shard, Some(profile), &entry.identity, request)).await
            }
            Method::POST => post::post(&self.shard, &entry, request).await,
            Method::GET => get::get(&self.shard, &entry, &request),
            Method::DELETE => get::delete(&self.shard, &entry, &request),
            Method::OPTIONS => guard::preflight(),
            _ => answer::not_allowed(),
        }
    }

    /// What is not MCP.
    fn other(&self, path: &str) -> Response<Body> {
        let gateway = &self.shard.gateway;
        match path {
            "/health" => answer::text(StatusCode::OK, "ok\n"),
            "/ready" if gateway.stop.is_stopped() => {
                answer::text(StatusCode::SERVICE_UNAVAILABLE, "stopping\n")
            }
            "/ready" => answer::text(StatusCode::OK, "ready\n"),
            "/" => answer::text(StatusCode::OK, &self.front_page()),
            _ => {
                let paths = gateway.snapshot.paths().join(", ");
                let message = format!(
                    "nothing is served at {path}; MCP endpoints here: {paths}; for older clients (HTTP+SSE): {}",
                    sse::STREAM
                );
                answer::refusal(StatusCode::NOT_FOUND, &message)
            }
        }
    }

    fn front_page(&self) -> String {
        let mut page =
            format!("Dragoman {}\n\nMCP endpoints (POST, GET, DELETE):\n", env!("CARGO_PKG_VERSION"));
        for path in self.shard.gateway.snapshot.paths() {
            page.extend(["  ", path, "\n"]);
        }
        let _ = write!(
            page,
            "\nOlder clients (HTTP+SSE): GET {} or an endpoint above; its first event says where messages go ({})\n",
            sse::STREAM,
            sse::MESSAGES
        );
        page.push_str("\nState: /health, /ready\n");
        page
    }
}

impl Handler for Service {
    async fn handle(&self, request: Request<Incoming>, peer: SocketAddr) -> Response<Body> {
        // Boxed, because a connection keeps room for this future as long as it is open.
        Box::pin(self.clone().respond(request, peer)).await
    }

    /// What a thousand of them gave up is worth giving back.
    fn rested(&self) {
        self.shard.gateway.tidying.count();
    }
}
