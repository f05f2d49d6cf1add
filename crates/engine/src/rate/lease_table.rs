//! The leases of all counters, in a map of limited size, split into parts. A cell is dropped only when nothing in it matters any more.
//! This module must not know the limits.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::RwLock;

use super::cells::{Ready, part_of, parts_for, read, write};
use super::lease_cell::LeaseCell;

/// The minimum time between two searches for idle cells in a full part, in nanoseconds.
const SEARCH: u64 = 100_000_000;

/// The leases of all counters.
#[derive(Debug)]
pub(super) struct LeaseTable {
    parts: Box<[RwLock<LeasePart>]>,
    /// The maximum number of cells in a part.
    most: usize,
}

#[derive(Debug, Default)]
struct LeasePart {
    cells: HashMap<u64, LeaseCell, BuildHasherDefault<Ready>>,
    /// The time of the next search for idle cells, if the part is full.
    next_search: u64,
}

impl LeasePart {
    fn sweep(&mut self, now: u64) {
        self.next_search = now.saturating_add(SEARCH);
        self.cells.retain(|_, cell| !cell.is_idle(now));
        if self.cells.len() < self.cells.capacity() / 4 {
            self.cells.shrink_to(self.cells.len() * 2);
        }
    }
}

impl LeaseTable {
    /// Creates a table for at most `cap` cells, but at least one.
    pub(super) fn new(cap: usize) -> Self {
        let parts: Box<[RwLock<LeasePart>]> = (0..parts_for(cap)).map(|_| RwLock::default()).collect();
        Self { most: (cap / parts.len()).max(1), parts }
    }

    /// Calls `visit` with the cell of a counter, if there is one.
    pub(super) fn with<T>(&self, key: u64, visit: impl FnOnce(&LeaseCell) -> T) -> Option<T> {
        read(&self.parts[part_of(key, self.parts.len())]).cells.get(&key).map(visit)
    }

    /// Calls `visit` with the cell of a counter, which is created if necessary; `None` if there is no room for it.
    pub(super) fn with_new<T>(&self, key: u64, now: u64, visit: impl FnOnce(&LeaseCell) -> T) -> Option<T> {
        let part = &self.parts[part_of(key, self.parts.len())];
        if let Some(cell) = read(part).cells.get(&key) {
            return Some(visit(cell));
        }
        let mut part = write(part);
        if !part.cells.contains_key(&key) && part.cells.len() >= self.most {
            if now >= part.next_search {
                part.sweep(now);
            }
            if part.cells.len() >= self.most {
                return None;
            }
        }
        Some(visit(part.cells.entry(key).or_default()))
    }

    /// Drops idle cells.
    pub(super) fn sweep(&self, now: u64) {
        for part in &self.parts {
            write(part).sweep(now);
        }
    }

    /// The number of cells.
    pub(super) fn len(&self) -> usize {
        self.parts.iter().map(|part| read(part).cells.len()).sum()
    }
}
