//! Fetches lists in advance that clients will ask for first. It must not know who asks.

use std::sync::Arc;

use proto::era::{newest_handshake, newest_stateless};
use upstream::Upstream;

use crate::process::Shard;

/// Fetches the lists that clients will ask for first, so that they need not wait. A server over HTTP is asked with the
/// newest version first, a child with the version that nearly all support; both then learn what the server supports.
pub(crate) fn warm(shard: &Arc<Shard>, upstreams: &[Arc<Upstream>]) {
    for upstream in upstreams {
        let (shard, upstream) = (shard.clone(), upstream.clone());
        tokio::spawn(async move {
            let era = if upstream.server.over_http() { newest_stateless() } else { newest_handshake() };
            let mut done = upstream.catalogue.fetch(&shard.egress, era);
            let _ = done.changed().await;
        });
    }
}
