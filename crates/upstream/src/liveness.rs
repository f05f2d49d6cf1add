//! The times at which a server answered, failed, or made a client wait without success. This module must not know why.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// The time during which no client waits for a server, after another client has waited for it without success.
const UNRESPONSIVE: Duration = Duration::from_secs(30);

/// The time that a server that does not answer may take to restart. After this time, requests to the server fail
/// immediately.
const RESTART: Duration = Duration::from_mins(1);

/// The reference point of stored times.
static EPOCH: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The recent answers and failures of one server.
#[derive(Default)]
pub(crate) struct Liveness {
    /// The time of the first failure since the server last answered, in milliseconds since [`EPOCH`]; 0 as long as the
    /// server answers.
    down_since: AtomicU64,
    /// True if a request failed a short time ago, so successes have to be reported.
    is_watched: AtomicBool,
    /// The time at which a client last waited without success; `None` if the server has answered since.
    unresponsive_since: Mutex<Option<Instant>>,
}

impl Liveness {
    /// Records an answer. After a recent failure, also calls `report`; `report` returns true if further answers
    /// need not be reported.
    pub(crate) fn note_up(&self, report: impl FnOnce() -> bool) {
        if self.is_watched.load(Ordering::Relaxed) {
            self.is_watched.store(false, Ordering::Relaxed);
            self.down_since.store(0, Ordering::Relaxed);
            if !report() {
                self.is_watched.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Records that the server could not be reached, or disconnected before it answered.
    pub(crate) fn note_down(&self) {
        let now = u64::try_from(EPOCH.elapsed().as_millis()).unwrap_or(u64::MAX).max(1);
        let _ = self.down_since.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
        self.is_watched.store(true, Ordering::Relaxed);
    }

    /// Returns true unless the server has failed for longer than [`RESTART`].
    pub(crate) fn answered_lately(&self) -> bool {
        let since = self.down_since.load(Ordering::Relaxed);
        since == 0 || EPOCH.elapsed() < Duration::from_millis(since) + RESTART
    }

    /// Records that a client waited without success, or that the server answered.
    pub(crate) fn note_hang(&self, hangs: bool) {
        *self.unresponsive_since.lock() = hangs.then(Instant::now);
    }

    /// Returns true if a client waited without success a short time ago.
    pub(crate) fn hung_lately(&self) -> bool {
        self.unresponsive_since.lock().is_some_and(|at| at.elapsed() < UNRESPONSIVE)
    }
}
