//! Fetches in advance the lists that clients will request first. This module must not know who requests them.

use std::sync::Arc;

use proto::era::{newest_handshake, newest_stateless};
use upstream::Upstream;

use crate::process::Shard;

/// Fetches the lists that clients will request first, so clients do not have to wait. For a server over HTTP, the
/// first request uses the newest version; for a child process, the version that nearly all child processes support.
/// Either way, the gateway learns which versions the server supports.
pub(crate) fn warm(shard: &Arc<Shard>, upstreams: &[Arc<Upstream>]) {
    for upstream in upstreams {
        let (shard, upstream) = (shard.clone(), upstream.clone());
        transport::task::spawn(async move {
            let era = if upstream.server.over_http() { newest_stateless() } else { newest_handshake() };
            let mut done = upstream.catalogue.fetch(&shard.egress, era);
            let _ = done.changed().await;
        });
    }
}
