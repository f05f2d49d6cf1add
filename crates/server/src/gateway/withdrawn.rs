//! Credentials that end while what they have opened goes on: keys that are revoked or expire, tokens whose time is over.
//! Sessions and event streams end soon after the last credential that was shown for them. Requests need nothing of this:
//! each is asked who sends it. It must not know how a credential is checked.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use engine::access::Principal;

use super::Shard;
use super::session::until::Until;
use super::threads::Thread;
use crate::gateway::session::session::Face;

/// The interval between two looks.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Ends what was opened by credentials that have ended, until the gateway stops.
pub(super) fn watch(thread: Arc<Thread>) {
    tokio::spawn(async move {
        let stop = thread.now().gateway.stop.clone();
        loop {
            tokio::select! {
                () = tokio::time::sleep(LOOK_EVERY) => {}
                () = stop.stopped() => return,
            }
            let shard = thread.now();
            if shard.door.takes_what_ends() {
                shard.door.look_again().await;
                end_all(&shard);
            }
        }
    });
}

fn end_all(shard: &Shard) {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now_ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
    let is_over =
        |principal: &Principal, until: &Until| until.is_over(now_ms) || shard.door.is_revoked(principal);
    let (sessions, mut ended) = (&shard.session.state.sessions, 0_usize);
    // Those with a stream of their own go with that.
    for session in sessions.those(|session| {
        matches!(session.face, Face::Http(_)) && is_over(&session.identity.principal, &session.until)
    }) {
        if let Some(session) = sessions.remove(&session.id) {
            ended += 1;
            let shard = shard.clone();
            upstream::parting::beside(async move { session.end(&shard.session).await });
        }
    }
    for held in shard.session.state.holders.open.lock().values() {
        if !held.withdrawn.is_stopped() && is_over(&held.principal, &held.until) {
            ended += 1;
            held.withdrawn.stop();
        }
    }
    if ended > 0 {
        tracing::info!(
            ended,
            "sessions and streams end: the credentials that opened them were revoked or have expired"
        );
    }
}
