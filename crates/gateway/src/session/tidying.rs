//! Returns memory to the operating system: that of the start, of many ended sessions, of many connections that became idle,
//! or of large views that were built. The allocator would keep it, so that a gateway which once had a busy hour would look busy for ever.

use std::sync::atomic::{AtomicU64, Ordering};

/// The number of endings that makes a walk through the heap worth it.
const WORTH: u64 = 50;

/// Counts endings, and decides when it is quiet enough to return memory.
#[derive(Debug, Default)]
pub(crate) struct Tidying {
    ended: AtomicU64,
    seen: AtomicU64,
}

impl Tidying {
    /// Counts an ended session, or a connection that has released its buffers.
    pub(crate) fn count(&self) {
        self.ended.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a large view that was built, or lists that were fetched for one: worth a walk by itself.
    pub(crate) fn count_large(&self) {
        self.ended.fetch_add(WORTH, Ordering::Relaxed);
    }

    /// Called every second or so: returns memory once a rush of endings is over. The walk through the heap is for a thread
    /// without connections.
    pub(crate) fn tick(&self) {
        let ended = self.ended.load(Ordering::Relaxed);
        let before = self.seen.swap(ended, Ordering::Relaxed);
        if ended >= WORTH && ended == before {
            self.ended.fetch_sub(ended, Ordering::Relaxed);
            self.seen.store(0, Ordering::Relaxed);
            drop(tokio::task::spawn_blocking(transport::memory::give_back));
        }
    }
}

/// Releases the pages of the program itself, most of which only the start needed: it reads the configuration, the
/// commands, the schemas. They were mapped from the file, 16 at a time; those that are used are loaded again.
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
