//! Giving memory back to the operating system after many sessions have ended or many connections have become idle: the
//! allocator keeps it otherwise, and a gateway that once had a busy hour would look busy for ever.

use std::sync::atomic::{AtomicU64, Ordering};

/// From how many endings on it is worth the walk through the heap.
const WORTH: u64 = 50;

/// Counts what has ended, and knows when it is quiet enough to tidy up.
#[derive(Debug, Default)]
pub(crate) struct Tidying {
    ended: AtomicU64,
    seen: AtomicU64,
}

impl Tidying {
    /// A session has ended, or a connection has given up its buffers.
    pub(crate) fn count(&self) {
        self.ended.fetch_add(1, Ordering::Relaxed);
    }

    /// Called every second or so: gives memory back once a rush of endings is over.
    pub(crate) fn tick(&self) {
        let ended = self.ended.load(Ordering::Relaxed);
        let before = self.seen.swap(ended, Ordering::Relaxed);
        if ended >= WORTH && ended == before {
            self.ended.fetch_sub(ended, Ordering::Relaxed);
            self.seen.store(0, Ordering::Relaxed);
            give_back();
        }
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code, reason = "glibc offers this only as a C function")]
fn give_back() {
    // SAFETY: `malloc_trim` takes no pointers, may be called at any time from any thread, and does its own locking.
    unsafe { libc::malloc_trim(0) };
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn give_back() {}
