//! The gateways of the cluster, as this one sees them. This module must not know HTTP.

use std::sync::Arc;
use std::time::UNIX_EPOCH;

use cluster::StoreState;
use schemars::JsonSchema;
use serde::Serialize;

use super::health::HealthFinding;
use super::moment::PointInTime;
use gateway::changes::Refusal;
use gateway::process::Shard;

/// The gateways of the cluster.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReplicaList {
    pub(crate) store: StoreConnection,
    /// The gateways that were alive within the last ten seconds; empty while the store cannot be reached.
    pub(crate) replicas: Vec<ListedReplica>,
    /// The events of clients' event streams that this gateway has copied to the store; absent if `cluster.replay` is false.
    pub(crate) replay: Option<CopiedEvents>,
}

/// The events of clients' event streams that a gateway has copied to the store since its start.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CopiedEvents {
    /// The number of events that were copied.
    pub(crate) copied: u64,
    /// The number of events that were not copied, because the store was slow, away or full, or because they are too large.
    pub(crate) lost: u64,
    /// The number of streams of other gateways that clients have resumed at this gateway.
    pub(crate) resumed: u64,
    /// The number of streams that the store keeps for this gateway.
    pub(crate) streams: u64,
    /// The size of these streams in the store, in bytes.
    pub(crate) bytes: u64,
}

/// The connection to the store that the gateways share.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StoreConnection {
    /// `ready`, `connecting`, `unreachable` or `unfit`.
    pub(crate) state: &'static str,
    /// The version of the store, or the reason why it cannot be used.
    pub(crate) detail: Option<String>,
    pub(crate) since: PointInTime,
}

/// A gateway of the cluster.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListedReplica {
    /// The gateway's id, new with each start.
    pub(crate) id: String,
    /// The name from `cluster.name`, or the name of the machine.
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) started: PointInTime,
    /// The number of sessions in the gateway's memory.
    pub(crate) sessions: usize,
    /// The address at which the gateway accepts requests that other gateways pass on (`cluster.address`).
    pub(crate) address: Option<String>,
    /// True for the gateway that answers this request.
    pub(crate) is_this_one: bool,
}

impl StoreConnection {
    fn of(cluster: &cluster::Cluster) -> Self {
        let health = cluster.health();
        let (state, detail) = match &health.state {
            StoreState::Connecting => ("connecting", None),
            StoreState::Ready(version) => ("ready", Some(version.clone())),
            StoreState::Unreachable(why) => ("unreachable", Some(why.clone())),
            StoreState::Unfit(unfit) => ("unfit", Some(unfit.to_string())),
        };
        let since = health.since.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { state, detail, since: PointInTime(u64::try_from(since.as_millis()).unwrap_or(u64::MAX)) }
    }
}

/// Returns the gateways of the cluster.
///
/// # Errors
/// Fails if this gateway works alone.
pub(crate) fn replicas(shard: &Arc<Shard>) -> Result<ReplicaList, Refusal> {
    let Some(cluster) = shard.session.state.cluster.get() else {
        let message = "This gateway works alone: `cluster` is not configured.";
        return Err(Refusal::new(404, "NO_CLUSTER", message));
    };
    let mine = &cluster.me().id;
    let alive = cluster.replicas();
    let listed = alive.iter().map(|replica| ListedReplica {
        id: replica.id.clone(),
        name: replica.name.clone(),
        version: replica.version.clone(),
        started: PointInTime(replica.started_ms),
        sessions: replica.sessions,
        address: replica.door.as_ref().map(|door| door.address.to_string()),
        is_this_one: replica.id == *mine,
    });
    let replay = cluster.event_figures().map(|figures| CopiedEvents {
        copied: figures.copied,
        lost: figures.lost,
        resumed: figures.resumed,
        streams: figures.streams,
        bytes: figures.bytes,
    });
    Ok(ReplicaList { store: StoreConnection::of(cluster), replicas: listed.collect(), replay })
}

/// Returns the findings that an operator should look at: the store cannot be used, or changes from another gateway are not in
/// force here.
pub(super) fn findings(shard: &Shard) -> impl Iterator<Item = HealthFinding> {
    let unfit = shard.gateway.process.unfit_changes.lock().as_ref().map(|why| HealthFinding {
        severity: "error",
        subject: "cluster".to_owned(),
        message: format!("changes that were made at another gateway are not in force here: {why}"),
        help: "use the same configuration file and the same version of Dragoman at all gateways".to_owned(),
    });
    of_store(shard).into_iter().chain(unfit)
}

fn of_store(shard: &Shard) -> Option<HealthFinding> {
    let health = shard.session.state.cluster.get()?.health();
    let (severity, message, help) = match &health.state {
        StoreState::Ready(_) => return None,
        StoreState::Connecting => (
            "warning",
            "there is no connection to the store yet".to_owned(),
            "wait a moment, or check the address",
        ),
        StoreState::Unreachable(why) => (
            "warning",
            format!("the store cannot be reached, so this gateway works alone: {why}"),
            "start the store, or correct `cluster.store`",
        ),
        StoreState::Unfit(unfit) => ("error", format!("the store cannot be used: {unfit}"), unfit.help()),
    };
    Some(HealthFinding { severity, subject: "cluster.store".to_owned(), message, help: help.to_owned() })
}
