//! Restarts of servers by operators. This module must not know HTTP.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;

use crate::changes::Refusal;
use crate::process::Shard;

/// The time that a restart may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// Closes all connections to a server, including connections that serve only one caller, and connects again. The
/// server's processes end. Running calls fail, or are sent again if that is harmless.
///
/// # Errors
/// Fails if the server is disabled, or if the restart takes too long; in the latter case, the restart continues.
pub async fn restart(shard: &Arc<Shard>, server: &str) -> Result<(), Refusal> {
    let spec = shard.gateway.snapshot.upstreams.iter().find(|spec| &*spec.name == server);
    let disabled = || {
        Refusal::new(409, "SERVER_DISABLED", format!("the server {server:?} is disabled; enable it first"))
    };
    let family = shard.view.state.upstreams.entry(spec.ok_or_else(disabled)?.id).family();
    let mut restarts = JoinSet::new();
    for upstream in family {
        let egress = shard.egress.clone();
        restarts.spawn(transport::task::boxed(async move { upstream.restart(&egress).await }));
    }
    tracing::info!(%server, "an operator is restarting the server");
    let all = async { while restarts.join_next().await.is_some() {} };
    let is_done = tokio::time::timeout(PATIENCE, all).await.is_ok();
    // Restarts that have begun continue, even if the operator no longer waits for the result.
    restarts.detach_all();
    let late = || Refusal::new(504, "RESTART_SLOW", "the server has not answered yet; look at its state");
    if is_done { Ok(()) } else { Err(late()) }
}
