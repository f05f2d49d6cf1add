//! Giving memory back to the operating system: what the start alone needed, and what many sessions had that have ended or many
//! connections that have become idle. The allocator keeps it otherwise, and a gateway that once had a busy hour would look busy
//! for ever.

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

/// Lets go of the pages of the program itself, most of which its start alone needed: it reads the configuration, the commands,
/// the schemas. They were mapped from the file, 16 at a time; those that are used come back by themselves.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code, reason = "where the program lies is known to the linker alone")]
pub(crate) fn forget_start() {
    unsafe extern "C" {
        static __executable_start: u8;
        static etext: u8;
    }
    // SAFETY: `sysconf` takes no pointers.
    let Ok(page) = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }) else { return };
    let start = (&raw const __executable_start).addr().next_multiple_of(page);
    let end = (&raw const etext).addr() / page * page;
    let from = (&raw const __executable_start).with_addr(start).cast_mut().cast();
    // SAFETY: linkers put nothing but headers, constants and code in front of the end of the code. Nobody writes there, also
    // not to relocate it, so the file has the same, and it is read again from there.
    unsafe { libc::madvise(from, end.saturating_sub(start), libc::MADV_DONTNEED) };
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn forget_start() {}
