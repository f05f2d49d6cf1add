//! When a session was opened, when it was last used, and whether it ever was. It must not know what a session is.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The use of one session.
pub(crate) struct Usage {
    opened: Instant,
    /// Milliseconds after `opened` at which it was last touched.
    touched: AtomicU64,
    /// Set once more than its introduction has come.
    is_used: AtomicBool,
}

impl Usage {
    /// That of a session that is opened now.
    pub(crate) fn new() -> Self {
        Self { opened: Instant::now(), touched: AtomicU64::new(0), is_used: AtomicBool::new(false) }
    }

    /// Keeps it from being idle.
    pub(crate) fn touch(&self) {
        let now = u64::try_from(self.age().as_millis()).unwrap_or(u64::MAX);
        self.touched.store(now, Ordering::Relaxed);
    }

    /// Notes that more than its introduction has come.
    pub(crate) fn note(&self) {
        self.is_used.store(true, Ordering::Relaxed);
    }

    /// For how long nobody has touched it.
    pub(crate) fn idle(&self) -> Duration {
        self.age().saturating_sub(Duration::from_millis(self.touched.load(Ordering::Relaxed)))
    }

    /// The time for which ago it was opened.
    pub(crate) fn age(&self) -> Duration {
        self.opened.elapsed()
    }

    /// Returns true if it is so old and nothing but its introduction has come.
    pub(crate) fn is_unused_for(&self, age: Duration) -> bool {
        !self.is_used.load(Ordering::Relaxed) && self.age() >= age
    }
}
