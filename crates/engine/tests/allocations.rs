//! How often memory is asked for on the way of one call: few pieces, counted exactly.

#[path = "../benches/workload/mod.rs"]
#[expect(dead_code, reason = "the instruction budgets measure more")]
mod workload;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use workload::{Call, List};

thread_local! {
    static ASKED: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, counting what each thread asks it for.
struct Counting;

fn count() {
    // A thread that is ending has nothing to count with, and nothing that is counted.
    let _ = ASKED.try_with(|asked| asked.set(asked.get() + 1));
}

#[expect(
    unsafe_code,
    reason = "an allocator cannot be written otherwise; every call goes to the system's as it is"
)]
// SAFETY: all methods pass their arguments to `System`, which keeps the contract.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract of `GlobalAlloc::realloc`.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `GlobalAlloc::dealloc`.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How often `work` asks for memory.
fn allocations<T>(work: impl FnOnce() -> T) -> usize {
    let before = ASKED.get();
    let made = work();
    let after = ASKED.get();
    drop(made);
    after - before
}

#[test]
fn a_call_asks_for_memory_at_most_eight_times() {
    for (name, call) in [("in a session", Call::in_session()), ("stateless", Call::stateless())] {
        let count = allocations(|| call.make());
        assert!((1..=8).contains(&count), "a call {name} asks for memory {count} times");
    }
}

#[test]
fn a_list_is_copied_once() {
    let list = List::of_1000_tools();
    let count = allocations(|| list.answer());
    assert!((1..=4).contains(&count), "a list asks for memory {count} times");
}
