//! All connections of one shard: what each is doing, and the orders to end that they are given. One sweep a tick over
//! plain counters replaces a timer per connection, so that neither an idle connection nor a request pays for one.
//! It must not know HTTP's syntax; connections report what they do.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::{Duration, Instant};

use tokio::sync::Notify;

/// What a connection is told, from mild to harsh; an order never becomes milder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Order {
    /// Go on.
    Serve = 0,
    /// Finish what has begun, take nothing new.
    Drain = 1,
    /// End now.
    Close = 2,
}

/// How far a connection has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// TLS handshake, or not enough bytes to tell the protocol.
    Opening = 0,
    /// HTTP/1.1.
    Http1 = 1,
    /// HTTP/2.
    Http2 = 2,
    /// HTTP/1.1, but nothing happens: only the stream is there.
    Resting = 3,
}

/// The time for which a connection may be in a state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// From the first byte of a request's head (or from the accept) to the end of that head.
    pub(super) header: Duration,
    /// Between requests.
    pub(super) idle: Duration,
    /// With bytes to write that the peer does not take.
    pub(super) write: Duration,
    /// Between requests, before it gives up its buffers.
    pub(super) rest: Duration,
}

/// What one connection reports. Written by its own task, read by the sweep; nothing is ordered by it, so all
/// accesses are relaxed.
#[derive(Debug)]
pub(super) struct Progress {
    phase: AtomicU8,
    order: AtomicU8,
    /// Bytes came in that belong to no request yet.
    head_begun: AtomicBool,
    /// The peer takes no more bytes.
    write_blocked: AtomicBool,
    writes: AtomicU32,
    requests: AtomicU32,
    in_flight: AtomicU32,
    /// It has been told to rest, and has not looked yet.
    told_to_rest: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

/// The counters at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sample {
    phase: u8,
    head_begun: bool,
    write_blocked: bool,
    writes: u32,
    requests: u32,
    in_flight: u32,
}

impl Progress {
    fn new() -> Self {
        Self {
            phase: AtomicU8::new(Phase::Opening as u8),
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

    /// The connection's task, to be woken by an order. A task's waker stays the same for its life.
    pub(super) fn wake_by(&self, waker: &Waker) {
        *lock(&self.waker) = Some(waker.clone());
    }

    pub(super) fn enter(&self, phase: Phase) {
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

    /// Returns true if it was told to rest, and still has nothing to do; asked by its own task.
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
    /// An HTTP/1.1 connection that has answered all that came, and nothing of the next request has come.
    fn is_unused(self) -> bool {
        self.phase == Phase::Http1 as u8
            && self.requests > 0
            && self.in_flight == 0
            && !self.head_begun
            && !self.write_blocked
    }
}

/// Only the connection's own task counts up, so two steps do instead of a locked one.
fn bump(counter: &AtomicU32, by: u32) {
    counter.store(counter.load(Relaxed).wrapping_add(by), Relaxed);
}

/// What to tell a connection that has shown the same `sample` for `quiet`.
fn judge(sample: Sample, quiet: Duration, patience: Patience) -> Order {
    if sample.write_blocked {
        return if quiet >= patience.write { Order::Close } else { Order::Serve };
    }
    if sample.in_flight > 0 {
        // The handler's own deadlines count.
        return Order::Serve;
    }
    let http2 = sample.phase == Phase::Http2 as u8;
    // On HTTP/2 pings and window updates come in between requests; they begin no head.
    let head_awaited = !http2 && (sample.head_begun || sample.requests == 0);
    match head_awaited {
        true if quiet >= patience.header => Order::Close,
        false if quiet >= patience.idle => Order::Drain,
        _ => Order::Serve,
    }
}

#[derive(Debug)]
struct Entry {
    progress: Arc<Progress>,
    last: Sample,
    since: Instant,
}

#[derive(Debug, Default)]
struct Entries {
    next: u64,
    by_id: HashMap<u64, Entry>,
}

/// The connections of one shard.
#[derive(Clone, Debug, Default)]
pub(super) struct Roster(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    entries: Mutex<Entries>,
    emptied: Notify,
}

/// A connection's place in the roster, given up on drop.
#[derive(Debug)]
pub(super) struct Place {
    id: u64,
    roster: Arc<Shared>,
    pub(super) progress: Arc<Progress>,
}

impl Roster {
    /// Enters a connection.
    pub(super) fn enter(&self, now: Instant) -> Place {
        let progress = Arc::new(Progress::new());
        let mut entries = lock(&self.0.entries);
        let id = entries.next;
        entries.next += 1;
        let entry = Entry { progress: progress.clone(), last: progress.sample(), since: now };
        entries.by_id.insert(id, entry);
        Place { id, roster: self.0.clone(), progress }
    }

    /// Looks at every connection and orders away those that have tried our patience.
    pub(super) fn sweep(&self, now: Instant, patience: Patience) {
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

impl Drop for Place {
    fn drop(&mut self) {
        let mut entries = lock(&self.roster.entries);
        entries.by_id.remove(&self.id);
        if entries.by_id.is_empty() {
            // After a rush the table must not stay as big as the rush.
            entries.by_id.shrink_to(64);
            self.roster.emptied.notify_waiters();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing under these locks can panic half-way, so a poisoned one holds sound data.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
