//! The use of a view's ready pages, so that those that nobody lists can be dropped. It must not know what the pages hold.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// The number of looks without a list after which pages are dropped: ten minutes, with a look each ten seconds.
const UNUSED: u32 = 60;

/// The use of one view's pages. A list sets a flag, without a clock or a lock.
#[derive(Debug, Default)]
pub(crate) struct PageUse {
    /// True if the pages were listed since the last look.
    is_recent: AtomicBool,
    /// The looks since the pages were listed.
    looks: AtomicU32,
}

impl PageUse {
    /// Pages that were just made, because somebody lists them.
    pub(crate) fn new() -> Self {
        Self { is_recent: AtomicBool::new(true), looks: AtomicU32::new(0) }
    }

    /// Notes that a client lists them.
    pub(crate) fn note(&self) {
        // Threads that only read share the line of memory.
        if !self.is_recent.load(Ordering::Relaxed) {
            self.is_recent.store(true, Ordering::Relaxed);
        }
    }

    /// Returns true if they were listed since the last look.
    pub(super) fn is_recent(&self) -> bool {
        self.is_recent.load(Ordering::Relaxed)
    }

    /// The number of looks for which nobody has listed them.
    pub(super) fn unused_for(&self) -> u32 {
        self.looks.load(Ordering::Relaxed)
    }

    /// Looks, every ten seconds. Returns true if nobody has listed them for ten minutes.
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
