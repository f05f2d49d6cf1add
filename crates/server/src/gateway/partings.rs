//! The last goodbye: servers that keep a session for the gateway are told that it ends. It must not know why.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use upstream::parting::in_turn;
use upstream::pool::LinkCell;

use super::Shard;

/// The time that the servers may take over the last goodbye, all together.
const GOODBYE: Duration = Duration::from_secs(5);

/// Tells all servers that keep a session for the gateway that it ends, within the time that calls in flight have had.
pub(super) async fn farewell(shard: &Shard) {
    let gateway = &shard.gateway;
    let upstreams = gateway.view.upstreams.families();
    let common = upstreams.iter().flat_map(|upstream| upstream.cells());
    let own = gateway.session.sessions.all().into_iter().flat_map(|session| session.own_cells());
    let open: Vec<Arc<LinkCell>> = common.chain(own).filter(|cell| cell.has_session()).collect();
    let mut all = JoinSet::new();
    for cell in open {
        let egress = shard.egress.clone();
        all.spawn(in_turn(async move {
            cell.retire();
            cell.close(&egress).await;
        }));
    }
    let told = async { while all.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(gateway.snapshot.limits.drain_timeout.min(GOODBYE), told).await;
}
