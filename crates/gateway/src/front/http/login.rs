//! Signing in: the endpoints of the gateway as an authorization server. This module must not know OAuth.

use std::net::SocketAddr;
use std::sync::Arc;

use ::login::{AuthorizationServer, EndpointRequest, Resource};
use bytes::Bytes;
use config::DEFAULT_PROFILE;
use engine::Snapshot;
use engine::places::second_path;
use http::{Method, Response, StatusCode};
use transport::net::Body;

use super::replicas::movable::MovableRequest;
use super::replicas::passing_on::{self, OutgoingRequest};
use super::{answer, body, guard, sse};
use crate::process::Shard;
use transport::net::Arrived;

/// The maximum size of a request body, in bytes. Anybody may send such a request without signing in.
const LONGEST: usize = 64 * 1024;

/// Returns the authorization server if it answers at this path; `None` if people cannot sign in at this gateway.
pub(super) fn at<'s>(shard: &'s Shard, path: &str) -> Option<&'s Arc<AuthorizationServer>> {
    let is_ours = AuthorizationServer::is_at(path) || AuthorizationServer::resource_of(path).is_some();
    shard.door.sign_in().filter(|_| is_ours)
}

/// Answers a request to the authorization server.
pub(super) async fn respond(
    (shard, is_passed_on): (&Shard, bool),
    server: &AuthorizationServer,
    request: Arrived,
    peer: SocketAddr,
) -> Response<Body> {
    if *request.method() == Method::OPTIONS {
        return guard::preflight();
    }
    let address = shard.gateway.client_of(peer.ip(), request.headers()).address;
    let movable = if is_passed_on { None } else { MovableRequest::of(shard, &request, peer) };
    let (head, mut incoming) = request.into_parts();
    let path = head.uri.path();
    let snapshot = &shard.gateway.snapshot;
    if let Some(resource) = AuthorizationServer::resource_of(path) {
        let resource = server.own_path(resource);
        let reply = server.resource_metadata(resource).filter(|_| resource_at(snapshot, resource).is_some());
        return reply.map_or_else(|| unknown(path), |reply| reply.map(Body::Full));
    }
    let body = if head.method == Method::POST {
        match body::read_at_most(LONGEST, &mut incoming).await {
            Ok(body) => body,
            Err(refused) => return *refused,
        }
    } else {
        Bytes::new()
    };
    let query = head.uri.query().unwrap_or_default();
    if let Some((number, movable)) = AuthorizationServer::process_of(path, query, &body).zip(movable)
        && let Some(to) = passing_on::numbered(shard, number).await
    {
        // The gateway at which a sign-in began has what is needed to go on with it.
        let moved = OutgoingRequest { method: head.method, headers: &head.headers, body, id: None };
        return Box::pin(passing_on::pass_on(shard, &movable, moved, &to)).await;
    }
    let visit = EndpointRequest {
        method: &head.method,
        path,
        query,
        headers: &head.headers,
        body,
        address,
        now_ms: shard.door.unix_ms(),
        resource_at: &|path| resource_at(snapshot, path),
    };
    server.respond(visit).await.map(Body::Full)
}

/// Returns the resource at a path. Profiles that do not exist look like others, so that nobody can find out which ones
/// exist.
fn resource_at(snapshot: &Snapshot, path: &str) -> Option<Resource> {
    let profile = |name: &str| Some(Resource::Profile(name.to_owned()));
    if let Some(place) = snapshot.at(path) {
        return profile(&snapshot.profiles[place.profile].slug);
    }
    if path.is_empty() {
        return Some(Resource::Gateway);
    }
    if (path == sse::STREAM || path == sse::MESSAGES) && sse::is_served(snapshot) {
        return profile(DEFAULT_PROFILE);
    }
    path.strip_prefix("/mcp/").or_else(|| second_path(path)).and_then(profile)
}

fn unknown(path: &str) -> Response<Body> {
    answer::refusal(StatusCode::NOT_FOUND, &format!("there is no endpoint at {path}"))
}
