//! Calls that wait for a client which was asked by a result: it comes back with the answers, or it does not.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::exchange::Ticket;
use parking_lot::Mutex;
use tokio::sync::oneshot;

use crate::gateway::call::call::Call;
use upstream::quota::{Permit, Quota, QuotaError};

/// All parked calls.
pub(crate) struct Parked {
    quota: Arc<Quota>,
    lifetime: Duration,
    waiting: Mutex<HashMap<Ticket, Waiting>>,
}

/// Where the call is asked for. Without that it is given up.
type Wanted = oneshot::Sender<oneshot::Sender<Box<Call>>>;

struct Waiting {
    wanted: Wanted,
    server: Arc<str>,
    until: Instant,
    _permit: Permit,
}

impl Parked {
    pub(crate) fn new(max: usize, lifetime: Duration) -> Self {
        Self { quota: Quota::new(max), lifetime, waiting: Mutex::default() }
    }

    /// Keeps a call until its client comes back, and lets it hear its upstream meanwhile. When too many wait it is dropped,
    /// which tells its upstream.
    pub(crate) fn keep(&self, ticket: Ticket, mut call: Box<Call>) -> Result<(), QuotaError> {
        let permit = self.quota.take(call.caller.identity().holder())?;
        call.wait_with_lease()?;
        let (wanted, asked_for) = oneshot::channel();
        let (server, until) = (call.server_name().clone(), Instant::now() + self.lifetime);
        self.waiting.lock().insert(ticket, Waiting { wanted, server, until, _permit: permit });
        tokio::spawn(wait(call, asked_for));
        Ok(())
    }

    /// The call behind a ticket. It is there once.
    pub(crate) async fn take(&self, ticket: Ticket) -> Option<Box<Call>> {
        let found = self.waiting.lock().remove(&ticket)?;
        if found.until <= Instant::now() {
            return None;
        }
        let (taker, call) = oneshot::channel();
        found.wanted.send(taker).ok()?;
        call.await.ok()
    }

    /// Gives up the calls whose clients did not come back.
    pub(crate) fn sweep(&self) {
        let now = Instant::now();
        let late: Vec<Waiting> = {
            let mut waiting = self.waiting.lock();
            waiting.extract_if(|_, waiting| waiting.until <= now).map(|(_, waiting)| waiting).collect()
        };
        for Waiting { server, .. } in late {
            tracing::info!(%server, "a question was not answered in {:?}; its call is given up", self.lifetime);
        }
    }
}

/// Waits with a call until somebody wants it, or nobody can any more. Dropping a call tells its upstream.
async fn wait(mut call: Box<Call>, mut wanted: oneshot::Receiver<oneshot::Sender<Box<Call>>>) {
    let taker = tokio::select! {
        biased;
        taker = &mut wanted => taker,
        never = call.attend() => match never {},
    };
    if let Ok(taker) = taker {
        // Who came back may have left again.
        let _ = taker.send(call);
    }
}
