//! Calls that wait for a client which was asked by a result: it comes back with the answers, or it does not.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use engine::exchange::Ticket;
use parking_lot::Mutex;

use super::call::Call;

/// All parked calls.
pub(crate) struct Parked {
    max: usize,
    lifetime: Duration,
    waiting: Mutex<HashMap<Ticket, Waiting>>,
}

struct Waiting {
    call: Box<Call>,
    until: Instant,
}

impl Parked {
    pub(crate) fn new(max: usize, lifetime: Duration) -> Self {
        Self { max, lifetime, waiting: Mutex::default() }
    }

    /// Keeps a call until its client comes back; gives it back when too many wait.
    pub(crate) fn keep(&self, ticket: Ticket, call: Box<Call>) -> Result<(), Box<Call>> {
        let mut waiting = self.waiting.lock();
        if waiting.len() >= self.max {
            return Err(call);
        }
        waiting.insert(ticket, Waiting { call, until: Instant::now() + self.lifetime });
        Ok(())
    }

    /// The call behind a ticket. It is there once.
    pub(crate) fn take(&self, ticket: Ticket) -> Option<Box<Call>> {
        let mut waiting = self.waiting.lock();
        let found = waiting.remove(&ticket)?;
        (found.until > Instant::now()).then_some(found.call)
    }

    /// Gives up the calls whose clients did not come back. Dropping a call tells its upstream.
    pub(crate) fn sweep(&self) {
        let now = Instant::now();
        let late: Vec<Waiting> = {
            let mut waiting = self.waiting.lock();
            waiting.extract_if(|_, waiting| waiting.until <= now).map(|(_, waiting)| waiting).collect()
        };
        for Waiting { call, .. } in late {
            tracing::info!(server = %call.server_name(), "a question was not answered in {:?}; its call is given up", self.lifetime);
            drop(call);
        }
    }
}
