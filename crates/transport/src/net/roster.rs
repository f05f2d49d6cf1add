//! All connections of one shard: the state of each, and the orders that end connections. One sweep per tick over plain counters
//! replaces a timer per connection, so neither idle connections nor requests need a timer. This module must not know
//! the syntax of HTTP; connections report their state.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::{Duration, Instant};

use tokio::sync::Notify;

/// An order to a connection, from mild to harsh; orders only become harsher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Order {
    /// Continue.
    Serve = 0,
    /// Finish the requests that have begun, and take no new ones.
    Drain = 1,
    /// End immediately.
    Close = 2,
}

/// The phase of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConnectionPhase {
    /// The connection is in the TLS handshake, or has not sent enough bytes for the protocol to be detected.
    Opening = 0,
    /// The connection uses HTTP/1.1.
    Http1 = 1,
    /// The connection uses HTTP/2.
    Http2 = 2,
    /// The connection uses HTTP/1.1 and is at rest: only its stream is kept.
    Resting = 3,
}

/// The time that a connection may spend in each state.
#[derive(Clone, Copy, Debug)]
pub(super) struct StateTimeouts {
    /// The time from the first byte of a request's head to the end of the head; for the first request of a
    /// connection, the time begins when the connection is accepted.
    pub(super) header: Duration,
    /// The time between two requests.
    pub(super) idle: Duration,
    /// The time for which bytes may wait to be written while the peer accepts none.
    pub(super) write: Duration,
    /// The time between two requests after which the connection releases its buffers.
    pub(super) rest: Duration,
}

/// The state that one connection reports. The connection's own task writes the state, and the sweep reads it; nothing depends on
/// the order of these accesses, so all of them are relaxed.
#[derive(Debug)]
pub(super) struct ConnectionProgress {
    phase: AtomicU8,
    order: AtomicU8,
    /// True if bytes have arrived that do not belong to a request yet.
    head_begun: AtomicBool,
    /// True if the peer accepts no more bytes.
    write_blocked: AtomicBool,
    writes: AtomicU32,
    requests: AtomicU32,
    in_flight: AtomicU32,
    /// True if the connection was told to rest but has not reacted yet.
    told_to_rest: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

/// The counters at one point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sample {
    phase: u8,
    head_begun: bool,
    write_blocked: bool,
    writes: u32,
    requests: u32,
    in_flight: u32,
}

impl ConnectionProgress {
    fn new() -> Self {
        Self {
            phase: AtomicU8::new(ConnectionPhase::Opening as u8),
            order: AtomicU8::new(Order::Serve as u8),
            head_begun: AtomicBool::new(false),
            write_blocked: AtomicBool::new(false),
            writes: AtomicU32::new(0),
            requests: AtomicU32::new(0),
            in_flight: AtomicU32::new(0),
            told_to_rest: AtomicBool::new(false),
            waker: Mutex::new(None),
        }
    }

    pub(super) fn order(&self) -> Order {
        match self.order.load(Relaxed) {
            0 => Order::Serve,
            1 => Order::Drain,
            _ => Order::Close,
        }
    }

    /// Sets the waker with which an order wakes the connection's task. A task keeps the same waker for its lifetime.
    pub(super) fn wake_by(&self, waker: &Waker) {
        *lock(&self.waker) = Some(waker.clone());
    }

    pub(super) fn enter(&self, phase: ConnectionPhase) {
        self.phase.store(phase as u8, Relaxed);
    }

    pub(super) fn has_read(&self) {
        if self.in_flight.load(Relaxed) == 0 {
            self.head_begun.store(true, Relaxed);
        }
    }

    pub(super) fn has_written(&self, blocked: bool) {
        if !blocked {
            bump(&self.writes, 1);
        }
        self.write_blocked.store(blocked, Relaxed);
    }

    pub(super) fn request_begins(&self) {
        self.head_begun.store(false, Relaxed);
        bump(&self.requests, 1);
        self.in_flight.fetch_add(1, Relaxed);
    }

    pub(super) fn request_ends(&self) {
        self.in_flight.fetch_sub(1, Relaxed);
    }

    /// Returns true if the connection was told to rest and still has nothing to do; called by its own task.
    pub(super) fn may_rest(&self) -> bool {
        self.told_to_rest.load(Relaxed) && {
            self.told_to_rest.store(false, Relaxed);
            self.sample().is_unused()
        }
    }

    fn give(&self, order: Order) {
        if self.order.fetch_max(order as u8, Relaxed) < order as u8 {
            self.wake();
        }
    }

    fn tell_to_rest(&self) {
        self.told_to_rest.store(true, Relaxed);
        self.wake();
    }

    fn wake(&self) {
        if let Some(waker) = &*lock(&self.waker) {
            waker.wake_by_ref();
        }
    }

    fn sample(&self) -> Sample {
        Sample {
            phase: self.phase.load(Relaxed),
            head_begun: self.head_begun.load(Relaxed),
            write_blocked: self.write_blocked.load(Relaxed),
            writes: self.writes.load(Relaxed),
            requests: self.requests.load(Relaxed),
            in_flight: self.in_flight.load(Relaxed),
        }
    }
}

impl Sample {
    /// Returns true for an HTTP/1.1 connection that has answered every request and has received no byte of the next
    /// one.
    fn is_unused(self) -> bool {
        self.phase == ConnectionPhase::Http1 as u8
            && self.requests > 0
            && self.in_flight == 0
            && !self.head_begun
            && !self.write_blocked
    }
}

/// Adds `by` to a counter. Only the connection's own task changes the counter, so a load and a store suffice.
fn bump(counter: &AtomicU32, by: u32) {
    counter.store(counter.load(Relaxed).wrapping_add(by), Relaxed);
}

/// Determines the order for a connection whose `sample` has not changed for `quiet`.
fn judge(sample: Sample, quiet: Duration, patience: StateTimeouts) -> Order {
    if sample.write_blocked {
        return if quiet >= patience.write { Order::Close } else { Order::Serve };
    }
    if sample.in_flight > 0 {
        // The handler has its own deadlines.
        return Order::Serve;
    }
    let http2 = sample.phase == ConnectionPhase::Http2 as u8;
    // On HTTP/2, pings and window updates arrive between requests. They do not start a head.
    let head_awaited = !http2 && (sample.head_begun || sample.requests == 0);
    match head_awaited {
        true if quiet >= patience.header => Order::Close,
        false if quiet >= patience.idle => Order::Drain,
        _ => Order::Serve,
    }
}

#[derive(Debug)]
struct RosterEntry {
    progress: Arc<ConnectionProgress>,
    last: Sample,
    since: Instant,
}

#[derive(Debug, Default)]
struct Entries {
    next: u64,
    by_id: HashMap<u64, RosterEntry>,
}

/// The connections of one shard.
#[derive(Clone, Debug, Default)]
pub(super) struct Roster(Arc<RosterShared>);

#[derive(Debug, Default)]
struct RosterShared {
    entries: Mutex<Entries>,
    emptied: Notify,
}

/// A connection's entry in the roster; dropping it removes the entry.
#[derive(Debug)]
pub(super) struct RosterPlace {
    id: u64,
    roster: Arc<RosterShared>,
    pub(super) progress: Arc<ConnectionProgress>,
}

impl Roster {
    /// Adds a connection.
    pub(super) fn enter(&self, now: Instant) -> RosterPlace {
        let progress = Arc::new(ConnectionProgress::new());
        let mut entries = lock(&self.0.entries);
        let id = entries.next;
        entries.next += 1;
        let entry = RosterEntry { progress: progress.clone(), last: progress.sample(), since: now };
        entries.by_id.insert(id, entry);
        RosterPlace { id, roster: self.0.clone(), progress }
    }

    /// Checks every connection, and gives orders to connections that have exceeded a time limit.
    pub(super) fn sweep(&self, now: Instant, patience: StateTimeouts) {
        for entry in lock(&self.0.entries).by_id.values_mut() {
            let sample = entry.progress.sample();
            if sample != entry.last {
                (entry.last, entry.since) = (sample, now);
            }
            let quiet = now.saturating_duration_since(entry.since);
            match judge(sample, quiet, patience) {
                Order::Serve if quiet >= patience.rest && sample.is_unused() => entry.progress.tell_to_rest(),
                Order::Serve => {}
                order => entry.progress.give(order),
            }
        }
    }

    /// Gives all connections the same order.
    pub(super) fn order_all(&self, order: Order) {
        for entry in lock(&self.0.entries).by_id.values() {
            entry.progress.give(order);
        }
    }

    /// Gives an order to the connections that have begun a request; returns the number of the others.
    pub(super) fn order_used(&self, order: Order) -> usize {
        let entries = lock(&self.0.entries);
        let (used, fresh): (Vec<_>, Vec<_>) =
            entries.by_id.values().partition(|entry| entry.progress.requests.load(Relaxed) > 0);
        for entry in used {
            entry.progress.give(order);
        }
        fresh.len()
    }

    pub(super) fn len(&self) -> usize {
        lock(&self.0.entries).by_id.len()
    }

    /// Waits until no connection is left.
    pub(super) async fn emptied(&self) {
        loop {
            let emptied = self.0.emptied.notified();
            if self.len() == 0 {
                return;
            }
            emptied.await;
        }
    }
}

impl Drop for RosterPlace {
    fn drop(&mut self) {
        let mut entries = lock(&self.roster.entries);
        entries.by_id.remove(&self.id);
        if entries.by_id.is_empty() {
            // After a peak, the table must not stay at the size of the peak.
            entries.by_id.shrink_to(64);
            self.roster.emptied.notify_waiters();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Code under these locks cannot panic halfway, so the data under a poisoned lock is valid.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_without_a_request_get_no_order_of_the_others() {
        let roster = Roster::default();
        let (used, fresh) = (roster.enter(Instant::now()), roster.enter(Instant::now()));
        used.progress.request_begins();
        used.progress.request_ends();
        assert_eq!(roster.order_used(Order::Drain), 1);
        assert_eq!((used.progress.order(), fresh.progress.order()), (Order::Drain, Order::Serve));
        fresh.progress.request_begins();
        assert_eq!(roster.order_used(Order::Drain), 0);
        assert_eq!(fresh.progress.order(), Order::Drain);
    }
}
