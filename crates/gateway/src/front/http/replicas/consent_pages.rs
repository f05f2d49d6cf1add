//! Browsers that give consent: the gateway at which the consent began has what is needed to finish it, so the other gateways
//! pass the browsers' requests on to it. This module must not know what a page shows.

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Response};
use transport::net::{Arrived, Body};
use upstream::oauth::{START, process_of};

use super::super::body;
use super::movable::MovableRequest;
use super::passing_on::{self, OutgoingRequest};
use crate::process::Shard;

/// Passes a request on if the consent began at another gateway. The answer is the request if it did not.
pub(in crate::front::http) async fn passed_on(
    shard: &Arc<Shard>,
    request: Arrived,
    peer: SocketAddr,
) -> Result<Response<Body>, Arrived> {
    let uri = request.uri();
    let entry = uri.path().strip_prefix(START);
    let Some(number) = process_of(entry, uri.query().unwrap_or_default()) else { return Err(request) };
    let Some(movable) = MovableRequest::of(shard, &request, peer) else { return Err(request) };
    let Some(to) = passing_on::numbered(shard, number).await else { return Err(request) };
    let (head, mut incoming) = request.into_parts();
    let body = if head.method == Method::POST {
        match body::read(shard, &mut incoming).await {
            Ok(text) => text,
            Err(refused) => return Ok(*refused),
        }
    } else {
        Bytes::new()
    };
    let moved = OutgoingRequest { method: head.method, headers: &head.headers, body, id: None };
    Ok(Box::pin(passing_on::pass_on(shard, &movable, moved, &to)).await)
}
