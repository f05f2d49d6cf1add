//! Ends sessions at servers on shutdown. This module must not know the reason for the shutdown.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use upstream::closing::in_turn;
use upstream::pool::LinkCell;

use crate::process::Shard;

/// The total time within which all servers must close their sessions.
const CLOSING: Duration = Duration::from_secs(5);

/// Closes all sessions at servers, within the time limit.
pub(crate) async fn close(shard: &Arc<Shard>) {
    let gateway = &shard.gateway;
    let upstreams = gateway.process.view.upstreams.families();
    let common = upstreams.iter().flat_map(|upstream| upstream.cells());
    let own = gateway.process.session.sessions.all().into_iter().flat_map(|session| session.own_cells());
    let open: Vec<Arc<LinkCell>> = common.chain(own).filter(|cell| cell.has_session()).collect();
    let mut all = JoinSet::new();
    for cell in open {
        let egress = shard.egress.clone();
        all.spawn(transport::task::boxed(in_turn(async move {
            cell.retire();
            cell.close(&egress).await;
        })));
    }
    let told = async { while all.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(gateway.snapshot.limits.drain_timeout.min(CLOSING), told).await;
}
