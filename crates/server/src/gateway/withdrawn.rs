//! Credentials that end while what they have opened goes on: keys that are revoked or expire, tokens whose time is over.
//! Sessions and event streams end soon after the last credential that was shown for them. Requests need nothing of this:
//! each is asked who sends it. It must not know how a credential is checked.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use engine::access::Principal;
use parking_lot::Mutex;
use transport::net::Stop;

use super::Shard;
use super::session::Face;
use super::threads::Thread;

/// How often it is looked.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// No credential says so long: it does not end by itself.
const NEVER: u64 = u64::MAX;

/// Until when something may stay open, in milliseconds since 1970: as long as the longest credential shown for it.
#[derive(Debug)]
pub(crate) struct Until(AtomicU64);

impl Until {
    pub(crate) fn of(principal: &Principal) -> Self {
        Self(AtomicU64::new(principal.until_ms.unwrap_or(NEVER)))
    }

    /// Somebody has come for it again.
    pub(crate) fn renew(&self, principal: &Principal) {
        let until = principal.until_ms.unwrap_or(NEVER);
        // Looked at first: nearly always it is the same, and many threads may look.
        if self.0.load(Ordering::Relaxed) < until {
            self.0.fetch_max(until, Ordering::Relaxed);
        }
    }

    fn is_over(&self, now_ms: u64) -> bool {
        self.0.load(Ordering::Relaxed) <= now_ms
    }
}

/// An event stream that somebody holds open.
#[derive(Debug)]
pub(crate) struct Held {
    principal: Arc<Principal>,
    pub(crate) until: Until,
    withdrawn: Stop,
}

impl Held {
    /// Waits until what opened it is good for nothing any more.
    pub(crate) async fn withdrawn(&self) {
        self.withdrawn.stopped().await;
    }
}

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct Holders {
    next: AtomicU64,
    open: Mutex<HashMap<u64, Arc<Held>>>,
}

/// The place of an open stream among them, until it is dropped.
pub(crate) struct Holding {
    shard: Shard,
    number: u64,
    pub(crate) held: Arc<Held>,
}

impl Holding {
    /// A stream that `principal` has opened.
    pub(crate) fn new(shard: &Shard, principal: &Arc<Principal>) -> Self {
        let holders = &shard.gateway.holders;
        let held = Held { principal: principal.clone(), until: Until::of(principal), withdrawn: Stop::new() };
        let held = Arc::new(held);
        let number = holders.next.fetch_add(1, Ordering::Relaxed);
        holders.open.lock().insert(number, held.clone());
        Self { shard: shard.clone(), number, held }
    }
}

impl Drop for Holding {
    fn drop(&mut self) {
        let mut open = self.shard.gateway.holders.open.lock();
        open.remove(&self.number);
        if open.capacity() > 64 && open.len() * 4 < open.capacity() {
            open.shrink_to_fit();
        }
    }
}

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
    let (sessions, mut ended) = (&shard.gateway.sessions, 0_usize);
    // Those with a stream of their own go with that.
    for session in sessions.those(|session| {
        matches!(session.face, Face::Http(_)) && is_over(&session.identity.principal, &session.until)
    }) {
        if let Some(session) = sessions.remove(&session.id) {
            ended += 1;
            let shard = shard.clone();
            upstream::parting::beside(async move { session.end(&shard).await });
        }
    }
    for held in shard.gateway.holders.open.lock().values() {
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
