//! An allocator that counts what each thread asks it for, and what of that is not freed.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static ASKED: Cell<Asked> = const { Cell::new(Asked { times: 0, bytes: 0 }) };
    static LIVE: Cell<isize> = const { Cell::new(0) };
}

/// What memory was asked for.
#[derive(Clone, Copy)]
pub(crate) struct Asked {
    pub(crate) times: usize,
    pub(crate) bytes: usize,
}

/// The system's allocator, counting.
struct Counting;

fn count(bytes: usize, freed: usize) {
    // A thread that is ending has nothing to count with, and nothing that is counted.
    let _ = ASKED.try_with(|asked| {
        let before = asked.get();
        asked.set(Asked { times: before.times + 1, bytes: before.bytes + bytes });
    });
    free(freed);
    let _ = LIVE.try_with(|live| live.set(live.get() + bytes.cast_signed()));
}

fn free(bytes: usize) {
    let _ = LIVE.try_with(|live| live.set(live.get() - bytes.cast_signed()));
}

#[expect(
    unsafe_code,
    reason = "an allocator cannot be written otherwise; every call goes to the system's as it is"
)]
// SAFETY: all methods pass their arguments to `System`, which keeps the contract.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size, layout.size());
        // SAFETY: the caller keeps the contract of `GlobalAlloc::realloc`.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        free(layout.size());
        // SAFETY: the caller keeps the contract of `GlobalAlloc::dealloc`.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What memory `work` asks for.
pub(crate) fn allocations<T>(work: impl FnOnce() -> T) -> Asked {
    let before = ASKED.get();
    let made = work();
    let after = ASKED.get();
    drop(made);
    Asked { times: after.times - before.times, bytes: after.bytes - before.bytes }
}

/// What `make` returns, and the bytes that it holds.
pub(crate) fn held<T>(make: impl FnOnce() -> T) -> (T, usize) {
    let before = LIVE.get();
    let whole = make();
    (whole, usize::try_from(LIVE.get() - before).expect("more than before"))
}
