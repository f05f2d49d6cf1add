//! The time until which sessions and streams may stay open, according to their credentials. This module must not know
//! how a credential is checked.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use engine::access::Principal;
use parking_lot::Mutex;
use transport::net::Stop;

use crate::admission::identity::Identity;

/// The value for a credential that does not expire.
const NEVER: u64 = u64::MAX;

/// The time until which a session or stream may stay open, in milliseconds since 1970. It is the latest expiry
/// among the credentials that were sent for the session or stream.
#[derive(Debug)]
pub(crate) struct StayExpiry(AtomicU64);

impl StayExpiry {
    pub(crate) fn of(principal: &Principal) -> Self {
        Self(AtomicU64::new(principal.until_ms.unwrap_or(NEVER)))
    }

    /// Extends the time to the expiry of this principal's credential.
    pub(crate) fn renew(&self, principal: &Principal) {
        let until = principal.until_ms.unwrap_or(NEVER);
        // Read the value first: it is nearly always unchanged, and many threads can read it at the same time.
        if self.0.load(Ordering::Relaxed) < until {
            self.0.fetch_max(until, Ordering::Relaxed);
        }
    }

    pub(crate) fn is_over(&self, now_ms: u64) -> bool {
        self.0.load(Ordering::Relaxed) <= now_ms
    }
}

/// An open event stream, with the credential that opened it.
#[derive(Debug)]
pub struct HeldOpen {
    /// The caller that opened the stream.
    pub principal: Arc<Principal>,
    /// The request that opened the stream: its method in HTTP or MCP.
    pub purpose: &'static str,
    /// The client's label, if it is known.
    pub program: Option<Arc<str>>,
    /// The time when the stream was opened.
    pub opened: Instant,
    pub(crate) until: StayExpiry,
    pub(crate) revoked: Stop,
}

impl HeldOpen {
    /// Waits until the credential that opened the stream is no longer valid.
    pub async fn revoked(&self) {
        self.revoked.stopped().await;
    }
}

/// All open event streams.
#[derive(Debug, Default)]
pub struct Holders {
    next: AtomicU64,
    /// The open streams, by their number.
    pub open: Mutex<HashMap<u64, Arc<HeldOpen>>>,
}

/// The entry of an open stream; dropping it removes the entry.
pub struct OpenStreamEntry {
    holders: Arc<Holders>,
    number: u64,
    /// The stream.
    pub held: Arc<HeldOpen>,
}

impl OpenStreamEntry {
    /// Adds a stream that `identity` opened with this request.
    pub fn new(holders: &Arc<Holders>, identity: &Identity, purpose: &'static str) -> Self {
        let principal = &identity.principal;
        let held = Arc::new(HeldOpen {
            principal: principal.clone(),
            purpose,
            program: identity.client_label.clone(),
            opened: Instant::now(),
            until: StayExpiry::of(principal),
            revoked: Stop::new(),
        });
        let number = holders.next.fetch_add(1, Ordering::Relaxed);
        holders.open.lock().insert(number, held.clone());
        Self { holders: holders.clone(), number, held }
    }
}

impl Drop for OpenStreamEntry {
    fn drop(&mut self) {
        let mut open = self.holders.open.lock();
        open.remove(&self.number);
        if open.capacity() > 64 && open.len() * 4 < open.capacity() {
            open.shrink_to_fit();
        }
    }
}
