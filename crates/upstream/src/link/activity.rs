//! The use of a link over time, which decides when the link may be closed. This module must not know the link's users.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The requests over a link, and the calls and tasks that need it.
pub struct LinkActivity {
    opened: Instant,
    /// The time of the last request, in milliseconds after the link was opened; 0 before the first request.
    last_request: AtomicU64,
    /// The number of calls and tasks that need the link to stay open.
    needed: AtomicUsize,
}

impl LinkActivity {
    pub(super) fn new(opened: Instant) -> Self {
        Self { opened, last_request: AtomicU64::new(0), needed: AtomicUsize::new(0) }
    }

    /// Returns the time at which the link was opened.
    pub fn opened(&self) -> Instant {
        self.opened
    }

    /// Records that a request uses the link.
    pub fn touch(&self) {
        let now = u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last_request.store(now.max(1), Ordering::Relaxed);
    }

    /// Returns the time since the last request.
    pub fn idle(&self) -> Duration {
        let last_request = Duration::from_millis(self.last_request.load(Ordering::Relaxed));
        self.opened.elapsed().saturating_sub(last_request)
    }

    /// Returns true if the link has ever carried a call.
    pub fn carried_calls(&self) -> bool {
        self.last_request.load(Ordering::Relaxed) > 0
    }

    /// Returns true if a call or a task needs the link to stay open.
    pub fn is_needed(&self) -> bool {
        self.needed.load(Ordering::Relaxed) > 0
    }

    pub(super) fn need(&self) {
        self.needed.fetch_add(1, Ordering::Relaxed);
    }

    /// Records that a call or a task no longer needs the link; returns true if no other needs it.
    pub(super) fn need_no_more(&self) -> bool {
        self.needed.fetch_sub(1, Ordering::Relaxed) == 1
    }
}
