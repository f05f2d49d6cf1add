//! Tracks the use of a view's ready pages, so that unused pages can be dropped. This module must not know what the
//! pages contain.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// The number of checks without a list request after which pages are dropped. With a check every ten seconds, this
/// takes ten minutes.
const UNUSED: u32 = 60;

/// The use of one view's pages. A list request only sets a flag, which needs no clock and no lock.
#[derive(Debug, Default)]
pub(crate) struct PageUse {
    /// True if the pages were listed since the last check.
    is_recent: AtomicBool,
    /// The number of checks since the pages were last listed.
    looks: AtomicU32,
}

impl PageUse {
    /// Creates the state for new pages. New pages are treated as recently listed, because they were made for a list
    /// request.
    pub(crate) fn new() -> Self {
        Self { is_recent: AtomicBool::new(true), looks: AtomicU32::new(0) }
    }

    /// Records that a client lists the pages.
    pub(crate) fn note(&self) {
        // Threads that only read can share the cache line.
        if !self.is_recent.load(Ordering::Relaxed) {
            self.is_recent.store(true, Ordering::Relaxed);
        }
    }

    /// Returns true if the pages were listed since the last check.
    pub(super) fn is_recent(&self) -> bool {
        self.is_recent.load(Ordering::Relaxed)
    }

    /// Returns the number of checks since the pages were last listed.
    pub(super) fn unused_for(&self) -> u32 {
        self.looks.load(Ordering::Relaxed)
    }

    /// Performs a check; called every ten seconds. Returns true if the pages have not been listed for ten minutes.
    pub(super) fn look(&self) -> bool {
        if self.is_recent.swap(false, Ordering::Relaxed) {
            self.looks.store(0, Ordering::Relaxed);
            return false;
        }
        self.looks.fetch_add(1, Ordering::Relaxed) + 1 >= UNUSED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_unused_ten_minutes_after_the_last_list() {
        let pages = PageUse::new();
        assert!(!pages.look(), "they were made for somebody");
        assert!((1..UNUSED).all(|_| !pages.look()));
        pages.note();
        assert!(pages.is_recent() && !pages.look() && !pages.is_recent());
        assert!((1..UNUSED).all(|_| !pages.look()));
        assert!(pages.look());
    }
}
