//! Ends sessions and streams whose credentials are no longer valid: revoked or expired keys, and expired tokens. A
//! session or event stream ends soon after the latest credential sent for it has become invalid. Requests are not
//! affected, because each request is authenticated. This module must not know how a credential is checked.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use engine::access::Principal;

use crate::process::Shard;
use crate::process::threads::Thread;
use crate::session::session::ClientChannel;
use crate::session::until::StayExpiry;

/// The interval between two checks for revoked keys; a check reads only a counter if no key has changed. A key that is
/// revoked at one gateway of a cluster must be refused at all of them within a second.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// The number of checks for revoked keys after which all sessions and streams are checked, even if no key was revoked.
const CHECK_AFTER: u32 = 4;

/// Ends sessions and streams whose credentials are no longer valid, until the gateway stops.
pub(crate) fn watch(thread: Arc<Thread>) {
    transport::task::spawn(async move {
        let stop = thread.now().gateway.process.stop.clone();
        let mut looks = 0;
        loop {
            tokio::select! {
                () = tokio::time::sleep(LOOK_EVERY) => looks += 1,
                () = stop.stopped() => return,
            }
            let shard = thread.now();
            let has_news = shard.door.takes_what_ends() && shard.door.look_again().await;
            if !has_news && looks < CHECK_AFTER {
                continue;
            }
            looks = 0;
            if shard.door.takes_what_ends() {
                end_all(&shard);
            }
        }
    });
}

fn end_all(shard: &Arc<Shard>) {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now_ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
    let is_over =
        |principal: &Principal, until: &StayExpiry| until.is_over(now_ms) || shard.door.is_revoked(principal);
    let (sessions, mut ended) = (&shard.session.state.sessions, 0_usize);
    // A session with an event stream of its own ends together with that stream.
    for session in sessions.those(|session| {
        matches!(session.channel, ClientChannel::Http(_))
            && is_over(&session.identity.principal, &session.until)
    }) {
        if let Some(session) = sessions.remove(&session.id) {
            ended += 1;
            shard.session.state.end_for_good(&session);
            let shard = shard.clone();
            upstream::closing::beside(async move { session.end(&shard.session).await });
        }
    }
    for held in shard.session.state.holders.open.lock().values() {
        if !held.revoked.is_stopped() && is_over(&held.principal, &held.until) {
            ended += 1;
            held.revoked.stop();
        }
    }
    if ended > 0 {
        tracing::info!(
            ended,
            "ended sessions and streams, because the credentials that opened them were revoked or have expired"
        );
    }
}
