//! The facts about a request that are needed to pass it on. This module must not know how requests are sent.

use std::net::SocketAddr;
use std::sync::Arc;

use cluster::Cluster;
use http::header::HOST;
use http::uri::PathAndQuery;
use http::{HeaderValue, Request};
use transport::net::Incoming;

use crate::process::Shard;

/// The path of a request that may be passed on, and its sender.
#[derive(Clone, Debug)]
pub(in crate::front::http) struct MovableRequest {
    pub(super) target: PathAndQuery,
    pub(super) client: SocketAddr,
    pub(super) host: Option<HeaderValue>,
}

impl MovableRequest {
    /// Returns the facts about a request; `None` if this gateway has no others to which it could pass requests on.
    pub(in crate::front::http) fn of(
        shard: &Shard,
        request: &Request<Incoming>,
        client: SocketAddr,
    ) -> Option<Box<Self>> {
        members(shard)?;
        let authority = request.uri().authority();
        let host = match authority.and_then(|authority| HeaderValue::from_str(authority.as_str()).ok()) {
            Some(host) => Some(host),
            None => request.headers().get(HOST).cloned(),
        };
        Some(Box::new(Self { target: request.uri().path_and_query()?.clone(), client, host }))
    }
}

/// Returns the number of this process, if other gateways can pass requests on to it.
pub(in crate::front::http) fn replica_at(shard: &Shard) -> Option<u64> {
    members(shard).map(|cluster| cluster.id())
}

/// Returns the cluster, if its gateways accept each other's requests.
pub(in crate::front::http) fn members(shard: &Shard) -> Option<&Arc<Cluster>> {
    shard.session.state.cluster.get().filter(|cluster| cluster.me().door.is_some())
}
