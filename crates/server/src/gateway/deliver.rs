//! A call's request on its way: over which link it goes. It must not know what comes back.

use std::sync::Arc;

use engine::exchange::{Outbound, ProgressToken};
use transport::up::LinkError;

use super::Shard;
use super::call::Caller;
use super::link::{OpenLink, Reply};
use super::upstream::Upstream;

/// Sends a request over the caller's link; once more over a new one when it certainly was not taken.
pub(crate) async fn deliver(
    shard: &Shard,
    upstream: &Arc<Upstream>,
    caller: &Caller,
    used: &mut Option<Arc<OpenLink>>,
    outbound: Outbound,
    token: Option<ProgressToken>,
) -> Result<Reply, LinkError> {
    let limits = shard.gateway.frame_limits();
    // Nearly always the link is open. Opening is boxed, since its room would else be moved about with every call.
    let link = match ready(upstream, caller) {
        Some(link) => link,
        None => Box::pin(open(shard, upstream, caller)).await?,
    };
    use_link(used, &link, caller, token.as_ref());
    match link.send(&shard.client, outbound.clone(), limits).await {
        Err(LinkError::SessionGone) => {
            tracing::info!(server = %upstream.name(), "the session is gone; opening another");
            link.bury();
            let link = Box::pin(open(shard, upstream, caller)).await?;
            use_link(used, &link, caller, token.as_ref());
            Box::pin(link.send(&shard.client, outbound, limits)).await
        }
        other => other,
    }
}

/// Notes which link a call uses, and on it that the call's client wants to hear of its progress.
fn use_link(
    used: &mut Option<Arc<OpenLink>>,
    link: &Arc<OpenLink>,
    caller: &Caller,
    token: Option<&ProgressToken>,
) {
    if let (Caller::Session(session), Some(token)) = (caller, token) {
        link.expect_progress(session, token.clone());
    }
    *used = Some(link.clone());
}

fn ready(upstream: &Arc<Upstream>, caller: &Caller) -> Option<Arc<OpenLink>> {
    match caller {
        Caller::Session(session) => session.ready_link(upstream),
        Caller::Stateless(kind) => upstream.shared_link(kind).current(),
    }
}

async fn open(shard: &Shard, upstream: &Arc<Upstream>, caller: &Caller) -> Result<Arc<OpenLink>, LinkError> {
    match caller {
        Caller::Session(session) => session.link(shard, upstream).await,
        Caller::Stateless(kind) => upstream.shared_link(kind).get(shard).await,
    }
}
