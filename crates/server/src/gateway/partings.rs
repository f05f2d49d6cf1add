//! Letting go of sessions and of links, beside whatever else there is to do: a server that takes its time over it holds up
//! nobody. It must not know why they are let go.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::Shard;
use super::link_cell::LinkCell;

/// How many are let go at once.
const AT_ONCE: usize = 64;

/// How long the servers may take over the last goodbye, all together.
const GOODBYE: Duration = Duration::from_secs(5);

static ROOM: Semaphore = Semaphore::const_new(AT_ONCE);

/// Does it soon, beside the caller. There are as many at most as there were sessions and links.
pub(super) fn beside(parting: impl Future<Output = ()> + Send + 'static) {
    tokio::spawn(async move {
        // It is never closed.
        let _place = ROOM.acquire().await;
        parting.await;
    });
}

/// Tells all servers that keep a session for the gateway that it ends, within the time that calls in flight have had.
pub(super) async fn farewell(shard: &Shard) {
    let gateway = &shard.gateway;
    let upstreams = gateway.upstreams.families();
    let common = upstreams.iter().flat_map(|upstream| upstream.cells());
    let own = gateway.sessions.all().into_iter().flat_map(|session| session.own_cells());
    let open: Vec<Arc<LinkCell>> = common.chain(own).filter(|cell| cell.has_session()).collect();
    let mut all = JoinSet::new();
    for cell in open {
        let shard = shard.clone();
        all.spawn(async move {
            let _place = ROOM.acquire().await;
            cell.retire();
            cell.close(&shard).await;
        });
    }
    let told = async { while all.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(gateway.snapshot.limits.drain_timeout.min(GOODBYE), told).await;
}
