//! Returns memory to the operating system: after startup, after many sessions have ended, after many connections
//! have become idle, or after large views were built. Otherwise the allocator would keep that memory, and a gateway
//! would seem busy forever after one busy hour.

use std::sync::atomic::{AtomicU64, Ordering};

/// The number of ended sessions and idle connections after which searching the heap for free memory is worthwhile.
const WORTH: u64 = 50;

/// Counts ended sessions and idle connections, and decides when the gateway is idle enough to return memory.
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

    /// Counts a large view that was built, or lists that were fetched for a large view. Each alone justifies
    /// searching the heap.
    pub(crate) fn count_large(&self) {
        self.ended.fetch_add(WORTH, Ordering::Relaxed);
    }

    /// Returns memory once the counts no longer grow; called about every second. The search for free memory must
    /// run on a thread without connections.
    pub(crate) fn tick(&self) {
        let ended = self.ended.load(Ordering::Relaxed);
        let before = self.seen.swap(ended, Ordering::Relaxed);
        if ended >= WORTH && ended == before {
            self.ended.fetch_sub(ended, Ordering::Relaxed);
            self.seen.store(0, Ordering::Relaxed);
            drop(transport::task::spawn_blocking(|| {
                transport::memory::give_back();
                release_program();
            }));
        }
    }
}

/// Releases the memory pages of the program's code and constants. Most of them were needed only for what has ended: the
/// startup, which reads the configuration and the schemas, or many sessions. This is cheap: the system loads pages that
/// are still needed from the program's file again, 16 at a time.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code, reason = "only the linker knows where the program is in memory")]
pub(crate) fn release_program() {
    unsafe extern "C" {
        static __executable_start: u8;
        static etext: u8;
    }
    // SAFETY: `sysconf` takes no pointers.
    let Ok(page) = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }) else { return };
    let start = (&raw const __executable_start).addr().next_multiple_of(page);
    let end = (&raw const etext).addr() / page * page;
    let from = (&raw const __executable_start).with_addr(start).cast_mut().cast();
    // SAFETY: linkers put only headers, constants and code before the end of the code. Nothing writes there, not even for
    // relocation, so the pages equal the file, and are read again from it.
    unsafe { libc::madvise(from, end.saturating_sub(start), libc::MADV_DONTNEED) };
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn release_program() {}
