//! The storage of all counters: a map of limited size, split into parts. It drops only counters that are fully paid
//! back (see `quota`).
//!
//! A counter changes by compare-and-swap under a part's shared lock; cells are added and removed under its exclusive
//! lock. Therefore two requests can never both take the last slot, and no cell can disappear while a request is
//! counted in it.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::quota::{Quota, QuotaOutcome};

/// The maximum number of parts. More parts mean less contention.
const MOST_PARTS: usize = 64;
/// The minimum number of cells in a part, within the cap.
const PART: usize = 64;

/// A hasher for keys that are already hashes.
#[derive(Debug, Default)]
pub(super) struct Ready(u64);

impl Hasher for Ready {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

#[derive(Debug, Default)]
struct CellPart {
    cells: HashMap<u64, AtomicU64, BuildHasherDefault<Ready>>,
    /// The time of the last sweep: no request may be counted at an earlier time.
    floor: u64,
    /// The earliest time at which a cell is paid back.
    next: u64,
}

impl CellPart {
    /// Drops cells that are paid back.
    fn sweep(&mut self, now: u64) {
        self.floor = self.floor.max(now);
        let floor = self.floor;
        let mut next = u64::MAX;
        self.cells.retain(|_, paid| {
            let paid = *paid.get_mut();
            let stays = paid > floor;
            if stays {
                next = next.min(paid);
            }
            stays
        });
        self.next = next;
        if self.cells.len() < self.cells.capacity() / 4 {
            self.cells.shrink_to(self.cells.len() * 2);
        }
    }
}

/// A number of requests to take from one counter.
#[derive(Debug, Clone, Copy)]
pub(super) struct Take<'a> {
    pub(super) key: u64,
    pub(super) quota: &'a Quota,
    pub(super) count: u32,
}

impl CellPart {
    /// The outcome for requests; `room` is true if a new cell may be created for them.
    fn outcome(&self, take: &Take<'_>, now: u64, room: bool) -> QuotaOutcome {
        let now = now.max(self.floor);
        match self.cells.get(&take.key) {
            None if !room => self.no_room(now),
            cell => {
                let paid = cell.map_or(0, |paid| paid.load(Ordering::Acquire));
                take.quota.take_many(paid, now, take.count)
            }
        }
    }

    fn no_room(&self, now: u64) -> QuotaOutcome {
        QuotaOutcome::Refused { wait: self.next.saturating_sub(now).max(1), paid: self.next }
    }

    fn keep(&mut self, key: u64, paid: u64) {
        self.next = self.next.min(paid);
        self.cells.insert(key, AtomicU64::new(paid));
    }
}

/// The counters of all limits.
#[derive(Debug)]
pub(super) struct Cells {
    parts: Box<[RwLock<CellPart>]>,
    /// The maximum number of cells in a part.
    most: usize,
}

impl Cells {
    /// Creates the storage for at most `cap` cells, but at least one.
    pub(super) fn new(cap: usize) -> Self {
        let parts: Box<[RwLock<CellPart>]> = (0..parts_for(cap)).map(|_| RwLock::default()).collect();
        Self { most: (cap / parts.len()).max(1), parts }
    }

    /// The outcome that a request would have, without counting it.
    pub(super) fn peek(&self, key: u64, quota: &Quota, now: u64) -> QuotaOutcome {
        let part = read(self.part(key));
        let now = now.max(part.floor);
        let paid = part.cells.get(&key).map_or(0, |paid| paid.load(Ordering::Acquire));
        quota.take(paid, now)
    }

    /// Counts a request. If a new cell is needed and there is no room for it, the request is rejected until there is room.
    pub(super) fn take(&self, key: u64, quota: &Quota, now: u64) -> QuotaOutcome {
        let part = self.part(key);
        if let Some(outcome) = count(&read(part), key, quota, now) {
            return outcome;
        }
        let mut part = write(part);
        // Another thread may have been faster.
        if let Some(outcome) = count(&part, key, quota, now) {
            return outcome;
        }
        let now = now.max(part.floor);
        if part.cells.len() >= self.most && now >= part.next {
            part.sweep(now);
        }
        if part.cells.len() >= self.most {
            return part.no_room(now);
        }
        let outcome = quota.take(0, now);
        if let QuotaOutcome::Taken(paid) = outcome {
            part.keep(key, paid);
        }
        outcome
    }

    /// Takes back one counted request. This never allows more requests than an idle period does.
    pub(super) fn give_back(&self, key: u64, quota: &Quota) {
        if let Some(cell) = read(self.part(key)).cells.get(&key) {
            let less = |paid| Some(quota.give_back(paid));
            let _ = cell.fetch_update(Ordering::AcqRel, Ordering::Acquire, less);
        }
    }

    /// Counts requests against several counters: either all requests, or none. Each counter occurs only once in
    /// `takes`. The outcomes are in the order of `takes`; if one is a rejection, nothing was counted.
    pub(super) fn take_all(&self, takes: &[Take<'_>], now: u64) -> Vec<QuotaOutcome> {
        let mut wanted: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
        for take in takes {
            wanted.entry(self.number(take.key)).or_default().push(take.key);
        }
        // All threads lock the parts in the same order, so a deadlock is impossible.
        let mut locked: BTreeMap<usize, (RwLockWriteGuard<'_, CellPart>, bool)> = BTreeMap::new();
        for (number, keys) in wanted {
            let mut part = write(&self.parts[number]);
            let lacks = |part: &CellPart| {
                let new = keys.iter().filter(|key| !part.cells.contains_key(key)).count();
                new > 0 && part.cells.len() + new > self.most
            };
            if lacks(&part) && now >= part.next {
                part.sweep(now);
            }
            let room = !lacks(&part);
            locked.insert(number, (part, room));
        }
        let part = |take: &Take<'_>| &locked[&self.number(take.key)];
        let outcomes: Vec<QuotaOutcome> =
            takes.iter().map(|take| part(take).0.outcome(take, now, part(take).1)).collect();
        if outcomes.iter().all(|outcome| matches!(outcome, QuotaOutcome::Taken(_))) {
            for (take, outcome) in takes.iter().zip(&outcomes) {
                if let (QuotaOutcome::Taken(paid), Some((part, _))) =
                    (outcome, locked.get_mut(&self.number(take.key)))
                {
                    part.keep(take.key, *paid);
                }
            }
        }
        outcomes
    }

    /// Drops cells that are paid back.
    pub(super) fn sweep(&self, now: u64) {
        for part in &self.parts {
            write(part).sweep(now);
        }
    }

    /// The number of cells.
    pub(super) fn len(&self) -> usize {
        self.parts.iter().map(|part| read(part).cells.len()).sum()
    }

    fn number(&self, key: u64) -> usize {
        part_of(key, self.parts.len())
    }

    fn part(&self, key: u64) -> &RwLock<CellPart> {
        &self.parts[self.number(key)]
    }
}

/// The number of parts for at most `cap` cells.
pub(super) fn parts_for(cap: usize) -> usize {
    (cap / PART).clamp(1, MOST_PARTS)
}

/// The part of a key. The map in a part uses a hash's lowest and highest bits; this function uses other bits.
pub(super) fn part_of(key: u64, parts: usize) -> usize {
    usize::try_from((key >> 24) & 0xffff).unwrap_or(0) % parts
}

/// Counts requests in an existing cell; `None` if there is no cell.
fn count(part: &CellPart, key: u64, quota: &Quota, now: u64) -> Option<QuotaOutcome> {
    let cell = part.cells.get(&key)?;
    let now = now.max(part.floor);
    let mut paid = cell.load(Ordering::Acquire);
    loop {
        let outcome = quota.take(paid, now);
        let QuotaOutcome::Taken(next) = outcome else { return Some(outcome) };
        match cell.compare_exchange_weak(paid, next, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return Some(outcome),
            Err(newer) => paid = newer,
        }
    }
}

/// Locks a part for reading. Nothing here can panic halfway, so the numbers under a poisoned lock are valid.
pub(super) fn read<T>(part: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    part.read().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn write<T>(part: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    part.write().unwrap_or_else(PoisonError::into_inner)
}
