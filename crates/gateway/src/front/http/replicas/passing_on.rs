//! Passes a request on to another gateway of the cluster, and passes its answer back. This module must not know why.

use std::time::Duration;

use bytes::Bytes;
use cluster::Cluster;
use cluster::peers::{PassedOn, Peer};
use engine::Fault;
use http::header::{
    CONNECTION, CONTENT_LENGTH, DATE, HOST, HeaderName, HeaderValue, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderMap, Method, Request, Response, Uri};
use proto::rpc::Id;
use tokio::time::sleep;
use transport::net::client::ProxyUse;
use transport::net::{Body, ClientError, Protocol, Relay, Replay, ResponseBody, Route};

use super::super::answer;
use super::NOTE;
use super::movable::{MovableRequest, members};
use crate::process::Shard;

/// The time after which an answer is cut short if no byte arrives. Event streams send a comment more often than this.
const STALL: Duration = Duration::from_mins(2);

/// The interval at which a waiting request checks that the other gateway is still alive.
const LOOK: Duration = Duration::from_secs(1);

/// Headers that concern one connection only (RFC 9110, section 7.6.1), and headers that are written anew.
const OF_CONNECTION: [HeaderName; 8] =
    [CONNECTION, CONTENT_LENGTH, DATE, HOST, TE, TRAILER, TRANSFER_ENCODING, UPGRADE];

/// A request to pass on.
pub(in crate::front::http) struct OutgoingRequest<'a> {
    pub(in crate::front::http) method: Method,
    pub(in crate::front::http) headers: &'a HeaderMap,
    pub(in crate::front::http) body: Bytes,
    /// The id of the request's message, for an error.
    pub(in crate::front::http) id: Option<&'a Id>,
}

/// Returns the other gateway whose process has this number, which a client has sent.
pub(in crate::front::http) async fn process(shard: &Shard, id: u64) -> Option<Peer> {
    members(shard)?.claimed_peer(id).await
}

/// Returns the other gateway with this short number.
pub(in crate::front::http) async fn numbered(shard: &Shard, number: u32) -> Option<Peer> {
    members(shard)?.peer_with_number(number).await
}

/// Passes a request on to another gateway, and returns its answer. If the gateway cannot be reached, the answer is an error that
/// says whether the request may have been executed.
pub(in crate::front::http) async fn pass_on(
    shard: &Shard,
    movable: &MovableRequest,
    request: OutgoingRequest<'_>,
    to: &Peer,
) -> Response<Body> {
    let id = request.id;
    attempt(shard, movable, request, to)
        .await
        .unwrap_or_else(|fault| answer::message(fault.status.unwrap_or(503), fault.response(id)))
}

/// Passes a request on to another gateway, and returns its answer.
///
/// # Errors
/// Returns the fault for the client if the gateway cannot be reached.
pub(in crate::front::http) async fn attempt(
    shard: &Shard,
    movable: &MovableRequest,
    request: OutgoingRequest<'_>,
    to: &Peer,
) -> Result<Response<Body>, Box<Fault>> {
    let Some(cluster) = members(shard) else { return Ok(answer::not_allowed()) };
    tracing::debug!(replica = %to.name, "passing a request on to another gateway of the cluster");
    let sent = tokio::select! {
        sent = send(shard, cluster, movable, request, to) => sent,
        () = gone(cluster, to) => Err(true),
    };
    match sent {
        Ok(response) => Ok(passed_back(response)),
        Err(may_be_executed) => {
            // If the other gateway has signed off, the next attempt goes elsewhere.
            cluster.forget_if_gone(to).await;
            Err(Box::new(unreachable(&to.name, may_be_executed)))
        }
    }
}

/// Sends a request. The error is true if the request may have been executed.
async fn send(
    shard: &Shard,
    cluster: &Cluster,
    movable: &MovableRequest,
    request: OutgoingRequest<'_>,
    to: &Peer,
) -> Result<Response<ResponseBody>, bool> {
    let host = movable.host.as_ref().and_then(|host| host.to_str().ok()).map(str::to_owned);
    let passed = PassedOn { client: movable.client, host };
    let note =
        cluster.note_for(to, passed).and_then(|note| HeaderValue::from_str(&note).ok()).ok_or(false)?;
    let uri: Uri = format!("https://{}{}", to.address, movable.target).parse().map_err(|_| false)?;
    let mut sent = Request::new(request.body);
    (*sent.method_mut(), *sent.uri_mut()) = (request.method, uri);
    let headers = sent.headers_mut();
    let passed = request.headers.iter().filter(|(name, _)| !OF_CONNECTION.contains(name));
    headers.extend(passed.map(|(name, value)| (name.clone(), value.clone())));
    headers.insert(&NOTE, note);
    let route = Route { proxy: ProxyUse::Direct, trust: Some(to.trust.clone()) };
    let failed = |error: ClientError| {
        tracing::info!(replica = %to.name, "cannot pass a request on to another gateway of the cluster: {error}");
        !error.is_unsent()
    };
    let origin = shard.peers.origin_by(&route, sent.uri(), Protocol::Auto).map_err(failed)?;
    let replay = if sent.method() == Method::GET { Replay::Always } else { Replay::Unsent };
    origin.request_with(sent, replay).await.map_err(failed)
}

/// Returns once the other gateway is no longer among the living.
async fn gone(cluster: &Cluster, peer: &Peer) {
    while !cluster.is_gone(peer) {
        sleep(LOOK).await;
    }
}

/// Returns the answer of another gateway as an answer to the client.
fn passed_back(response: Response<ResponseBody>) -> Response<Body> {
    let (mut head, body) = response.into_parts();
    for name in OF_CONNECTION {
        head.headers.remove(name);
    }
    head.version = http::Version::HTTP_11;
    Response::from_parts(head, Body::relay(Relay::new(body, STALL)))
}

/// Returns the fault for a request that did not reach the other gateway, or got no answer there.
fn unreachable(name: &str, may_be_executed: bool) -> Fault {
    let (executed, advice) = if may_be_executed {
        ("maybe", "the request may have been executed; check before you send it again")
    } else {
        ("no", "the request was not executed; send it again")
    };
    let message = format!(
        "gateway {name:?} of this cluster, which has to answer this request, cannot be reached; {advice}"
    );
    let fault = Fault::gateway(message).with_status(503);
    let data = format!("{{\"retry\":{},\"executed\":\"{executed}\"}}", !may_be_executed);
    Fault { retry: !may_be_executed, ..fault }.with_data(data)
}
