//! Joins the cluster, and connects it with this gateway's sessions and API keys. This module must not know the store.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cluster::{
    ChangeWatch as _, Cluster, ClusterMembers, ClusterSettings, ClusterStore, LoginAttempt, SharedKeys,
    SharedLogins, SharedSessions,
};
use engine::exchange::Sealer as _;
use parking_lot::Mutex;
use store::keys::{KeyRecord, Keys};
use store::sessions::SessionKey;
use transport::net::BoxError;

use super::shared_consents::{GatewayConsents, GatewayDefinitions, GatewaySignIns, StoredConsents};
use crate::management::logins::attempted_elsewhere;
use crate::process::{Gateway, Thread};

/// The time for which startup waits for the store. If the store does not respond in time, the gateway starts with
/// its own data.
const FIRST_CONTACT: Duration = Duration::from_secs(3);

/// Joins the configured cluster, if there is one. Requires a runtime.
///
/// # Errors
/// Fails if the store can be reached but cannot hold the data of a cluster.
pub(super) async fn join(thread: &Arc<Thread>) -> Result<(), BoxError> {
    let gateway = thread.now().gateway.clone();
    let Some(settings) = settings(&gateway)? else { return Ok(()) };
    let keys = match (&gateway.process.folder, gateway.standing.config().auth.keys) {
        (Some(folder), true) => Some(ClusterKeys::open(folder)?),
        _ => None,
    };
    let sessions = Arc::new(ClusterSessions(thread.clone()));
    let operators = Arc::new(ClusterOperators(thread.clone()));
    let consents = Arc::new(GatewayConsents(thread.clone()));
    let watch = consents.clone();
    let sign_ins = Arc::new(GatewaySignIns(thread.clone()));
    let definitions = Arc::new(GatewayDefinitions(thread.clone()));
    let members =
        ClusterMembers { sessions, keys, operators, definitions, consents, sign_ins: sign_ins.clone() };
    let cluster = Cluster::join(&settings, gateway.process.key_ring.seal.clone(), members);
    cluster
        .first_contact(FIRST_CONTACT)
        .await
        .map_err(|unfit| format!("cluster.store: the store cannot be used: {unfit}; {}", unfit.help()))?;
    tracing::info!(replica = %cluster.me().name, id = %cluster.me().id, "joined the cluster");
    let cluster = Arc::new(cluster);
    let number = gateway.process.session.sealer.short_number();
    gateway.process.consents.share(Arc::new(StoredConsents(cluster.clone())), number);
    // The first comparison with the store may have been too early.
    watch.joined();
    gateway.process.counts.join(cluster.clone(), gateway.process.stop.clone());
    share_calls(&gateway, cluster.clone());
    // This is the only place that sets it.
    let _ = gateway.process.session.cluster.set(cluster);
    gateway.share_sign_ins();
    sign_ins.joined();
    Ok(())
}

/// Sends the entries of the record of calls to the other gateways, until this gateway stops.
fn share_calls(gateway: &Gateway, cluster: Arc<Cluster>) {
    let (audit, stop) = (gateway.process.call.audit.clone(), gateway.process.stop.clone());
    transport::task::spawn(async move { audit.share(&cluster, &stop).await });
}

/// Leaves the cluster after the other replicas have received all changes from this gateway. Only one thread passes
/// itself as `thread`; the other threads pass `None`, and nothing happens.
pub(super) async fn leave(thread: Option<&Thread>) {
    let Some(thread) = thread else { return };
    if let Some(cluster) = thread.now().gateway.process.session.cluster.get() {
        cluster.leave().await;
    }
}

fn settings(gateway: &Gateway) -> Result<Option<ClusterSettings>, BoxError> {
    let config = gateway.standing.config();
    let Some(cluster) = &config.cluster else { return Ok(None) };
    let name = cluster.name.clone().unwrap_or_else(machine);
    Ok(Some(ClusterSettings {
        store: ClusterStore::of(cluster)?,
        id: gateway.process.session.sealer.epoch(),
        door: gateway.process.peer_door.clone(),
        name,
        session_life: config.limits.session_lifetime,
        copies_events: cluster.replay,
    }))
}

/// Returns the name of this machine.
fn machine() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// The sessions of this gateway.
struct ClusterSessions(Arc<Thread>);

impl SharedSessions for ClusterSessions {
    fn end(&self, keys: &[SessionKey]) {
        let shard = self.0.now();
        for session in shard.session.state.ended_elsewhere(keys) {
            if let Some(session) = shard.session.state.sessions.remove(&session.id) {
                let shard = shard.clone();
                upstream::closing::beside(async move { session.end(&shard.session).await });
            }
        }
    }

    fn open(&self) -> Vec<SessionKey> {
        self.0.now().session.state.kept_keys()
    }

    fn store_again(&self) {
        self.0.now().session.state.share_again();
    }
}

/// The operators of this gateway.
struct ClusterOperators(Arc<Thread>);

impl SharedLogins for ClusterOperators {
    fn attempted(&self, attempts: &[LoginAttempt]) {
        attempted_elsewhere(&self.0.now().gateway, attempts);
    }
}

/// The file of API keys, opened separately for the cluster: changes that are made over this connection come from other
/// replicas.
struct ClusterKeys(Mutex<Keys>);

impl ClusterKeys {
    fn open(folder: &Path) -> Result<Arc<dyn SharedKeys>, BoxError> {
        let keys = Keys::open(folder).map_err(|e| format!("{e}; {}", e.help()))?;
        Ok(Arc::new(Self(Mutex::new(keys))))
    }
}

impl SharedKeys for ClusterKeys {
    fn version(&self) -> Result<i64, String> {
        self.0.lock().changes().map_err(|error| error.to_string())
    }

    fn all(&self) -> Result<Vec<KeyRecord>, String> {
        self.0.lock().records().map_err(|error| error.to_string())
    }

    fn merge(&self, keys: &[KeyRecord]) -> Result<bool, String> {
        self.0.lock().merge(keys).map_err(|error| error.to_string())
    }
}
