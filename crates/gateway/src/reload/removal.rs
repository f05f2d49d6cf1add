//! Ends servers and sessions that are no longer configured; their running calls may finish. This module must not know
//! why they were removed.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::process::Shard;
use crate::session::session::{ClientChannel, Session};
use upstream::Upstream;
use upstream::drain::Drain;
use upstream::per_caller::PerCaller;
use upstream::pool::LinkCell;

/// The time that a server may take to close its sessions.
const CLOSING: Duration = Duration::from_secs(10);

/// Removes a server once its running calls have finished, or once the time limit for finishing them has passed.
pub(crate) fn end_upstream(shard: &Arc<Shard>, one: &PerCaller) {
    let upstream = &one.common;
    tracing::info!(server = %upstream.name(), "a server is no longer configured; its calls in flight may finish");
    upstream.server.leave();
    let family = one.family();
    for one in &family {
        one.server.leave();
        if let Some(grant) = &one.server.grant {
            grant.leave();
        }
    }
    let (shard, upstream) = (shard.clone(), upstream.clone());
    transport::task::spawn(async move {
        let is_needed = || cells(&shard, &family).iter().any(|cell| cell.is_needed());
        wait_for_rest(
            &shard,
            &upstream.server.shutdown.drain,
            upstream.server.spec.calls.longest(),
            is_needed,
        )
        .await;
        for one in &family {
            one.server.end();
        }
        let mut all = JoinSet::new();
        for cell in cells(&shard, &family) {
            cell.retire();
            let shard = shard.clone();
            all.spawn(transport::task::boxed(async move { cell.close(&shard.egress).await }));
        }
        for session in shard.session.state.sessions.all() {
            session.leave(upstream.server.spec.id);
        }
        let closed = async { while all.join_next().await.is_some() {} };
        if tokio::time::timeout(CLOSING, closed).await.is_err() {
            tracing::debug!(server = %upstream.name(), "closing the server's sessions took too long");
        }
        shard.view.state.upstreams.remove(upstream.server.spec.id);
        for one in &family {
            one.forget_all();
        }
        tracing::info!(server = %upstream.name(), "closed the server's links");
    });
}

/// Returns all links to a server, including links that serve only one caller.
fn cells(shard: &Arc<Shard>, family: &[Arc<Upstream>]) -> Vec<Arc<LinkCell>> {
    let sessions = shard.session.state.sessions.all();
    let id = family.first().map(|upstream| upstream.server.spec.id);
    let own = sessions.iter().filter_map(|session| session.own_cell(id?));
    family.iter().flat_map(|upstream| upstream.cells()).chain(own).collect()
}

/// Ends a session whose profile no longer exists, once its calls have finished; new requests no longer find it. A
/// session over a pipe lasts as long as the pipe.
pub(crate) fn end_session(shard: &Arc<Shard>, session: &Arc<Session>) {
    if !matches!(session.channel, ClientChannel::Http(_)) {
        return;
    }
    let Some(session) = shard.session.state.sessions.remove(&session.id) else { return };
    shard.session.state.end_for_good(&session);
    let shard = shard.clone();
    transport::task::spawn(async move {
        let patience = shard.gateway.snapshot.limits.call_timeout;
        wait_for_rest(&shard, &session.requests.drain, patience, || session.requests.is_busy()).await;
        upstream::closing::beside(async move { session.end(&shard.session).await });
    });
}

/// Completes when no call is running any more, when the time `patience` has passed, or when the gateway stops.
async fn wait_for_rest(shard: &Arc<Shard>, drain: &Drain, patience: Duration, runs: impl Fn() -> bool) {
    tokio::select! {
        () = drain.reached(Instant::now() + patience, runs) => {}
        () = shard.gateway.process.stop.stopped() => {}
    }
}
