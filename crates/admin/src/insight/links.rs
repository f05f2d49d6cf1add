//! The open connections to a server, with their processes. This module must not know who asks.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use upstream::Upstream;
use upstream::link::{OpenLink, Wire};

use super::moment::PointInTime;
use gateway::process::Shard;

/// The maximum number of connections that are listed.
const MOST: usize = 500;

/// The open connections to a server.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServerConnections {
    pub(crate) id: String,
    /// The number of callers that have connections of their own.
    pub(crate) callers: usize,
    /// The number of open connections; at most 500 of them are listed.
    pub(crate) total: usize,
    pub(crate) connections: Vec<ServerConnection>,
}

/// One open connection.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServerConnection {
    pub(crate) number: u64,
    /// True if one client at a time uses the connection.
    pub(crate) is_dedicated: bool,
    /// True if the connection belongs to one caller.
    pub(crate) is_of_one_caller: bool,
    /// The protocol version in use.
    pub(crate) era: &'static str,
    /// `http`, `sse`, `stdio` or `embedded`.
    pub(crate) transport: &'static str,
    pub(crate) opened: PointInTime,
    /// The time since the last request, in seconds.
    pub(crate) idle_seconds: u64,
    /// True if a client uses the connection now.
    pub(crate) is_used: bool,
    pub(crate) process: Option<ServerProcess>,
}

/// The process behind a connection.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServerProcess {
    pub(crate) pid: u32,
    /// The memory that the process and its descendants occupy; `null` if it is unknown.
    pub(crate) resident_bytes: Option<u64>,
    /// The number of processes that it started, directly or indirectly.
    pub(crate) descendants: u64,
    pub(crate) uptime_seconds: u64,
}

/// Returns the open connections to a server.
pub(crate) async fn connections(shard: &Arc<Shard>, name: &str) -> ServerConnections {
    let spec = shard.gateway.snapshot.upstreams.iter().find(|spec| &*spec.name == name);
    let family = spec.map(|spec| shard.view.state.upstreams.entry(spec.id).family()).unwrap_or_default();
    let callers = family.len().saturating_sub(1);
    let own = shard.session.state.sessions.all().into_iter().flat_map(|session| session.own_cells());
    let of_sessions =
        own.filter(|cell| spec.is_some_and(|spec| cell.is_of(spec.id))).filter_map(|cell| cell.current());
    let common = family.iter().enumerate().flat_map(|(at, upstream)| {
        let open = upstream.cells().into_iter().filter_map(|cell| cell.current());
        open.map(move |link| (link, at > 0)).collect::<Vec<_>>()
    });
    let mut links: Vec<(Arc<OpenLink>, bool)> = common.chain(of_sessions.map(|link| (link, false))).collect();
    links.sort_by_key(|(link, _)| link.id);
    links.dedup_by_key(|(link, _)| link.id);
    let total = links.len();
    links.truncate(MOST);
    let id = name.to_owned();
    let read =
        transport::task::spawn_blocking(move || links.iter().map(|(link, own)| one(link, *own)).collect());
    ServerConnections { id, callers, total, connections: read.await.unwrap_or_default() }
}

/// Describes a link. This reads a file of the system.
fn one(link: &OpenLink, is_of_one_caller: bool) -> ServerConnection {
    let opened = link.activity.opened();
    let pid = if let Wire::Pipe(pipe) = &link.wire { Some(pipe.pid()) } else { None };
    ServerConnection {
        number: link.id,
        is_dedicated: link.own,
        is_of_one_caller,
        era: link.era.version,
        transport: transport(link),
        opened: PointInTime::at(opened),
        idle_seconds: link.activity.idle().as_secs(),
        is_used: link.is_used(),
        process: pid.map(|pid| (pid, transport::child::family_usage(pid))).map(|(pid, usage)| {
            ServerProcess {
                pid,
                resident_bytes: usage.map(|usage| usage.resident_bytes),
                descendants: usage.map_or(0, |usage| usage.descendants),
                uptime_seconds: opened.elapsed().as_secs(),
            }
        }),
    }
}

fn transport(link: &OpenLink) -> &'static str {
    match link.wire {
        Wire::Http(_) => "http",
        Wire::Sse(_) => "sse",
        Wire::Pipe(_) => "stdio",
        Wire::Native(_) => "embedded",
    }
}

/// Returns the protocol version and the transport of a server's shared connection, if it is open.
pub(super) fn spoken(upstream: &Upstream) -> Option<(&'static str, &'static str)> {
    let mut links: Vec<Arc<OpenLink>> = upstream.cells().iter().filter_map(|cell| cell.current()).collect();
    links.sort_by_key(|link| (link.own, link.id));
    links.first().map(|link| (link.era.version, transport(link)))
}
