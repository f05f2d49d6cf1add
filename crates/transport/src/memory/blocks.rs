//! The allocator: the C library's, with a cache of freed blocks on threads that serve calls.
//!
//! glibc keeps freed blocks of up to 1 032 bytes for each thread, and gives them out again in a few instructions. It can keep larger
//! blocks only if an environment variable says so before the program starts. A call needs about seven larger blocks, such as the
//! buffer that its request is read into, and each of them took several hundred instructions (docs/performance.md). This module must
//! not know what the blocks contain.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr;

/// The size, in bytes, of the smallest blocks that are kept: glibc's own cache keeps the smaller ones.
const SMALLEST: usize = 1_033;
/// The size, in bytes, of the largest blocks that are kept.
const LARGEST: usize = 16 << 10;
/// The difference between two sizes of kept blocks, in bytes.
const STEP: usize = 16;
/// The alignment of the C library's blocks, in bytes.
const ALIGNMENT: usize = if cfg!(target_pointer_width = "64") { 16 } else { 8 };
/// The bytes that glibc needs beside a block. The sizes of kept blocks leave room for them, so that no memory is lost.
const BESIDE: usize = 8;
/// The number of different sizes.
const SIZES: usize = (LARGEST + BESIDE).div_ceil(STEP) - (SMALLEST + BESIDE).div_ceil(STEP) + 1;
/// The maximum number of blocks of one size that a thread keeps.
const BLOCKS: u8 = 16;
/// The maximum number of bytes that a thread keeps.
const BYTES: usize = 512 << 10;

thread_local! {
    static KEPT: KeptBlocks = const { KeptBlocks::none() };
}

/// The C library's allocator, with a cache on each thread that called [`keep_blocks`].
#[derive(Clone, Copy, Debug)]
pub struct CachingAllocator;

/// The freed blocks of one thread. Each list goes through the first word of its blocks.
struct KeptBlocks {
    is_keeping: Cell<bool>,
    bytes: Cell<usize>,
    counts: [Cell<u8>; SIZES],
    lists: [Cell<*mut u8>; SIZES],
}

/// While this value exists, its thread keeps freed blocks. Drop it on the same thread.
#[must_use]
#[derive(Debug)]
pub struct KeepingBlocks {
    /// This value belongs to its thread.
    thread: PhantomData<*const ()>,
}

/// Lets this thread keep freed blocks until the returned value is dropped. Use this on threads that allocate and free blocks of the
/// same sizes again and again.
pub fn keep_blocks() -> KeepingBlocks {
    KEPT.with(|kept| kept.is_keeping.set(true));
    KeepingBlocks { thread: PhantomData }
}

impl Drop for KeepingBlocks {
    fn drop(&mut self) {
        KEPT.with(KeptBlocks::end);
    }
}

/// The size of a block that is kept once it is freed. The block was allocated with this size, and its user asked for at most as many
/// bytes.
#[derive(Clone, Copy)]
struct BlockSize(usize);

impl BlockSize {
    /// Returns the size of the block for `bytes`, if such blocks are kept.
    fn of(bytes: usize) -> Option<Self> {
        let is_kept = (SMALLEST..=LARGEST).contains(&bytes);
        is_kept.then_some(Self((bytes + BESIDE).next_multiple_of(STEP) - BESIDE))
    }

    const fn index(self) -> usize {
        (self.0 + BESIDE) / STEP - (SMALLEST + BESIDE).div_ceil(STEP)
    }
}

/// Returns the number of bytes to ask the C library for.
fn rounded(bytes: usize) -> usize {
    BlockSize::of(bytes).map_or(bytes, |size| size.0)
}

impl KeptBlocks {
    const fn none() -> Self {
        Self {
            is_keeping: Cell::new(false),
            bytes: Cell::new(0),
            counts: [const { Cell::new(0) }; SIZES],
            lists: [const { Cell::new(ptr::null_mut()) }; SIZES],
        }
    }

    /// Takes a block of this size, if there is one.
    fn take(&self, size: BlockSize) -> Option<*mut u8> {
        let (count, list) = (&self.counts[size.index()], &self.lists[size.index()]);
        let block = list.get();
        if block.is_null() {
            return None;
        }
        #[allow(unsafe_code, clippy::cast_ptr_alignment, reason = "an allocator cannot be written otherwise")]
        // SAFETY: the list contains only blocks that are free and larger than a word, and whose first word `keep` has written.
        let next = unsafe { block.cast::<*mut u8>().read() };
        list.set(next);
        count.set(count.get() - 1);
        self.bytes.set(self.bytes.get() - size.0);
        Some(block)
    }

    /// Keeps a freed block; returns false if this thread keeps enough blocks already, or none at all.
    fn keep(&self, block: *mut u8, size: BlockSize) -> bool {
        let (count, list) = (&self.counts[size.index()], &self.lists[size.index()]);
        if !self.is_keeping.get() || count.get() >= BLOCKS || self.bytes.get() + size.0 > BYTES {
            return false;
        }
        #[allow(unsafe_code, clippy::cast_ptr_alignment, reason = "an allocator cannot be written otherwise")]
        // SAFETY: the block is freed, so nothing else uses it; it is larger than a word and aligned for one.
        unsafe {
            block.cast::<*mut u8>().write(list.get());
        }
        list.set(block);
        count.set(count.get() + 1);
        self.bytes.set(self.bytes.get() + size.0);
        true
    }

    /// Keeps no more blocks, and frees those that are kept.
    fn end(&self) {
        self.is_keeping.set(false);
        for size in (SMALLEST..=LARGEST + STEP).step_by(STEP).filter_map(BlockSize::of) {
            while let Some(block) = self.take(size) {
                #[allow(unsafe_code, reason = "an allocator cannot be written otherwise")]
                // SAFETY: the C library allocated the block, and nothing uses it any more.
                unsafe {
                    libc::free(block.cast());
                }
            }
        }
    }
}

/// Allocates a block. This function and the two after it are not inlined: nearly every function of the program allocates, so the
/// copies would take half a megabyte.
#[inline(never)]
fn allocated(bytes: usize) -> *mut u8 {
    let kept = BlockSize::of(bytes).and_then(|size| KEPT.with(|kept| kept.take(size)));
    #[allow(unsafe_code, reason = "an allocator cannot be written otherwise")]
    // SAFETY: `malloc` accepts every number of bytes.
    kept.unwrap_or_else(|| unsafe { libc::malloc(rounded(bytes)).cast() })
}

/// Frees a block of `bytes`, or keeps it.
///
/// # Safety
/// The allocator allocated the block for this number of bytes, and nothing uses it any more.
#[inline(never)]
#[allow(unsafe_code, reason = "an allocator cannot be written otherwise")]
unsafe fn freed(block: *mut u8, bytes: usize) {
    if !BlockSize::of(bytes).is_some_and(|size| KEPT.with(|kept| kept.keep(block, size))) {
        // SAFETY: the C library allocated the block, because the caller keeps the contract.
        unsafe { libc::free(block.cast()) }
    }
}

/// Changes the size of a block whose alignment is at most [`ALIGNMENT`].
///
/// # Safety
/// The allocator allocated the block, and the new number of bytes is not zero.
#[inline(never)]
#[allow(unsafe_code, reason = "an allocator cannot be written otherwise")]
unsafe fn resized(block: *mut u8, bytes: usize) -> *mut u8 {
    // SAFETY: the C library allocated the block, because the caller keeps the contract.
    unsafe { libc::realloc(block.cast(), rounded(bytes)).cast() }
}

/// Allocates a block with a greater alignment than [`ALIGNMENT`].
#[cold]
fn aligned(layout: Layout) -> *mut u8 {
    let mut block: *mut c_void = ptr::null_mut();
    #[allow(unsafe_code, reason = "an allocator cannot be written otherwise")]
    // SAFETY: the alignment is a power of two and larger than a word. On failure, the pointer stays null.
    unsafe {
        libc::posix_memalign(&raw mut block, layout.align(), rounded(layout.size()));
    }
    block.cast()
}

#[allow(unsafe_code, reason = "an allocator cannot be written otherwise")]
// SAFETY: each block comes from the C library, which aligns it to `ALIGNMENT` at least, with as many bytes as `rounded` returns, and so
// with at least as many as its user asked for. A kept block is in one list only, and `take` removes it from the list before it is
// given out again, for the same rounded number of bytes.
unsafe impl GlobalAlloc for CachingAllocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() > ALIGNMENT { aligned(layout) } else { allocated(layout.size()) }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `GlobalAlloc::dealloc`.
        unsafe { freed(block, layout.size()) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= ALIGNMENT {
            // SAFETY: `calloc` accepts every number of bytes.
            return unsafe { libc::calloc(rounded(layout.size()), 1).cast() };
        }
        let block = aligned(layout);
        if !block.is_null() {
            // SAFETY: the block has this size.
            unsafe { block.write_bytes(0, layout.size()) };
        }
        block
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        if layout.align() <= ALIGNMENT {
            // SAFETY: the caller keeps the contract of `GlobalAlloc::realloc`.
            return unsafe { resized(block, bytes) };
        }
        // SAFETY: the new layout is valid, the blocks are different, and both have at least the bytes that are copied, because
        // the caller keeps the contract of `GlobalAlloc::realloc`.
        unsafe {
            let new = aligned(Layout::from_size_align_unchecked(bytes, layout.align()));
            if !new.is_null() {
                ptr::copy_nonoverlapping(block, new, layout.size().min(bytes));
                freed(block, layout.size());
            }
            new
        }
    }
}

#[cfg(test)]
#[allow(unsafe_code, reason = "the methods of an allocator are unsafe")]
mod tests;
