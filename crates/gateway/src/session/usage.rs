//! The times of a session's opening and last use. This module must not know what a session is.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The use of one session.
pub struct Usage {
    opened: Instant,
    /// The time of the session's last use, in milliseconds after `opened`.
    touched: AtomicU64,
    /// True once anything other than the client's introduction has arrived.
    is_used: AtomicBool,
}

impl Usage {
    /// Creates the usage of a session that is opened now.
    pub(crate) fn new() -> Self {
        Self { opened: Instant::now(), touched: AtomicU64::new(0), is_used: AtomicBool::new(false) }
    }

    /// Records a use.
    pub(crate) fn touch(&self) {
        let now = u64::try_from(self.age().as_millis()).unwrap_or(u64::MAX);
        self.touched.store(now, Ordering::Relaxed);
    }

    /// Records that a message after the introduction has arrived.
    pub(crate) fn note(&self) {
        self.is_used.store(true, Ordering::Relaxed);
    }

    /// Returns the time since the session's last use.
    pub fn idle(&self) -> Duration {
        self.age().saturating_sub(Duration::from_millis(self.touched.load(Ordering::Relaxed)))
    }

    /// Returns the time since the session was opened.
    pub fn age(&self) -> Duration {
        self.opened.elapsed()
    }

    /// Returns true if the session is older than `age`, and nothing has arrived after the client's introduction.
    pub(crate) fn is_unused_for(&self, age: Duration) -> bool {
        !self.is_used.load(Ordering::Relaxed) && self.age() >= age
    }
}
