//! Requests that another gateway of the cluster has to perform: the server's process, or the parked call, is there. This module must
//! not know how requests are passed on.

use std::sync::Arc;

use aws_lc_rs::digest::{Context, SHA256};
use cluster::peers::Peer;
use cluster::{Cluster, HomeOwner};
use config::Affinity;
use proto::rpc::Frame;
use upstream::Upstream;

use crate::call::CallContext;
use crate::call::caller::Caller;

/// A request that another gateway has to perform.
pub struct MovedRequest {
    /// The request, as the client sent it.
    pub(crate) frame: Frame,
    /// The gateway that has to perform the request.
    pub(crate) to: Peer,
}

/// Returns the cluster, if its gateways accept each other's requests.
pub(super) fn members(context: &CallContext) -> Option<&Arc<Cluster>> {
    context.session.state.cluster.get().filter(|cluster| cluster.me().door.is_some())
}

/// Returns the gateway whose process has this number, if it is another one that is alive.
pub(super) async fn process(context: &CallContext, id: u64) -> Option<Peer> {
    members(context)?.peer(id).await
}

/// Returns the owner of the server's process, and the cluster that knows its home. A session or a caller has a process of its own only
/// if the server runs as a child and its `affinity` promises one.
pub(super) fn owned<'c>(
    context: &'c CallContext,
    caller: &Caller,
    upstream: &Upstream,
) -> Option<(&'c Cluster, HomeOwner)> {
    let cluster = members(context)?;
    if !upstream.server.is_child() {
        return None;
    }
    Some((cluster, owner(caller, upstream)?))
}

/// Returns the name of the owner of a process: the session or the caller.
fn owner(caller: &Caller, upstream: &Upstream) -> Option<HomeOwner> {
    let mut digest = Context::new(&SHA256);
    match (upstream.server.spec.affinity, caller) {
        (Affinity::Shared, _) | (Affinity::Session, Caller::Stateless(..)) => return None,
        (Affinity::Session, Caller::Session(session)) => {
            digest.update(b"session");
            digest.update(&session.stored_key()?);
        }
        (Affinity::Caller, caller) => {
            digest.update(b"caller");
            digest.update(format!("{:?}", caller.identity().holder()).as_bytes());
        }
    }
    // No name contains this byte, so two owners never have the same digest.
    digest.update(&[0]);
    digest.update(upstream.name().as_bytes());
    digest.finish().as_ref().first_chunk().copied()
}
