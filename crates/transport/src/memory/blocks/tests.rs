//! The behavior of the cache, and its blocks in random order.

use proptest::prelude::*;

use super::*;

fn layout(size: usize) -> Layout {
    Layout::from_size_align(size, 8).unwrap()
}

fn allocate(size: usize) -> *mut u8 {
    // SAFETY: no test asks for an empty block.
    let block = unsafe { CachingAllocator.alloc(layout(size)) };
    assert!(!block.is_null() && block.addr().is_multiple_of(8));
    block
}

fn free(block: *mut u8, size: usize) {
    // SAFETY: the tests free each block once, with its size.
    unsafe { CachingAllocator.dealloc(block, layout(size)) }
}

fn kept_bytes() -> usize {
    KEPT.with(|kept| kept.bytes.get())
}

#[test]
fn a_freed_block_is_given_out_again_for_its_size_only() {
    let keeping = keep_blocks();
    let block = allocate(4_000);
    free(block, 4_000);
    assert_eq!(kept_bytes(), 4_008);
    let other = allocate(4_009);
    assert_ne!(other, block);
    // Sizes that need the same number of bytes from the C library share their blocks.
    let same = allocate(3_993);
    assert_eq!((same, kept_bytes()), (block, 0));
    free(other, 4_009);
    free(same, 3_993);
    assert_eq!(kept_bytes(), 4_024 + 4_008);
    drop(keeping);
    assert_eq!(kept_bytes(), 0);
}

#[test]
fn small_and_large_blocks_and_other_threads_are_left_to_the_system() {
    for size in [1, 1_032, LARGEST + 1] {
        let keeping = keep_blocks();
        free(allocate(size), size);
        assert_eq!(kept_bytes(), 0, "{size}");
        drop(keeping);
    }
    free(allocate(4_000), 4_000);
    assert_eq!(kept_bytes(), 0, "this thread does not keep blocks");
}

#[test]
fn blocks_with_a_large_alignment_keep_it_when_their_size_changes() {
    let keeping = keep_blocks();
    let page = |size| Layout::from_size_align(size, 4_096).unwrap();
    // SAFETY: the sizes are not zero; each block is used with its own layout and freed once.
    unsafe {
        let small = CachingAllocator.alloc_zeroed(page(2_000));
        assert!(small.addr().is_multiple_of(4_096) && small.add(1_999).read() == 0);
        small.write_bytes(7, 2_000);
        let large = CachingAllocator.realloc(small, page(2_000), 9_000);
        assert!(large.addr().is_multiple_of(4_096) && large.add(1_999).read() == 7);
        CachingAllocator.dealloc(large, page(9_000));
        assert_eq!(kept_bytes(), rounded(2_000) + rounded(9_000));
    }
    drop(keeping);
}

#[test]
fn a_thread_keeps_a_limited_number_of_blocks_and_bytes() {
    let keeping = keep_blocks();
    for size in [SMALLEST, 2_000, LARGEST] {
        let blocks: Vec<_> = (0..BLOCKS * 2).map(|_| allocate(size)).collect();
        let before = kept_bytes();
        for block in blocks {
            free(block, size);
        }
        assert_eq!(kept_bytes() - before, usize::from(BLOCKS) * rounded(size));
    }
    for size in (SMALLEST..LARGEST).step_by(STEP) {
        let blocks: Vec<_> = (0..BLOCKS).map(|_| allocate(size)).collect();
        for block in blocks {
            free(block, size);
        }
    }
    assert!(kept_bytes() <= BYTES && kept_bytes() > BYTES - LARGEST, "{}", kept_bytes());
    drop(keeping);
    assert_eq!(kept_bytes(), 0);
}

#[test]
fn a_block_may_be_freed_on_another_thread() {
    let keeping = keep_blocks();
    let block = allocate(2_000).expose_provenance();
    std::thread::spawn(move || {
        let keeping = keep_blocks();
        free(ptr::with_exposed_provenance_mut(block), 2_000);
        assert_eq!(kept_bytes(), rounded(2_000));
        drop(keeping);
    })
    .join()
    .unwrap();
    assert_eq!(kept_bytes(), 0);
    drop(keeping);
}

/// A block of a test, filled with one byte.
struct FilledBlock {
    block: *mut u8,
    size: usize,
    byte: u8,
}

impl FilledBlock {
    fn new(size: usize, byte: u8, is_zeroed: bool) -> Self {
        // SAFETY: the size is not zero, and the block has this size.
        let block = unsafe {
            if is_zeroed {
                let block = CachingAllocator.alloc_zeroed(layout(size));
                assert!(std::slice::from_raw_parts(block, size).iter().all(|byte| *byte == 0));
                block
            } else {
                allocate(size)
            }
        };
        // SAFETY: as above.
        unsafe { block.write_bytes(byte, size) };
        Self { block, size, byte }
    }

    fn check(&self, size: usize) {
        // SAFETY: the block has at least this size, and was filled.
        let bytes = unsafe { std::slice::from_raw_parts(self.block, size) };
        assert!(bytes.iter().all(|byte| *byte == self.byte), "something else wrote into a block");
    }

    fn resize(&mut self, size: usize) {
        // SAFETY: the block has its size, and the new size is not zero.
        self.block = unsafe { CachingAllocator.realloc(self.block, layout(self.size), size) };
        self.check(self.size.min(size));
        // SAFETY: the block has the new size.
        unsafe { self.block.write_bytes(self.byte, size) };
        self.size = size;
    }
}

proptest! {
    /// Blocks never overlap, and keep their content until they are freed, whatever their order is.
    #[test]
    fn blocks_keep_their_content(
        steps in prop::collection::vec((0_u8..4, 0_usize..40, prop_oneof![1_usize..80, 1_000_usize..1_100, 3_900_usize..4_100, 16_300_usize..16_500]), 1..200)
    ) {
        let keeping = keep_blocks();
        let mut blocks: Vec<FilledBlock> = Vec::new();
        for (number, (step, index, size)) in steps.into_iter().enumerate() {
            let byte = u8::try_from(number % 251).unwrap() + 1;
            if blocks.is_empty() || step < 2 {
                blocks.push(FilledBlock::new(size, byte, step == 1));
                continue;
            }
            let index = index % blocks.len();
            if step == 2 {
                blocks[index].resize(size);
            } else {
                let freed = blocks.swap_remove(index);
                freed.check(freed.size);
                free(freed.block, freed.size);
            }
        }
        for freed in blocks {
            freed.check(freed.size);
            free(freed.block, freed.size);
        }
        drop(keeping);
        prop_assert_eq!(kept_bytes(), 0);
    }
}
