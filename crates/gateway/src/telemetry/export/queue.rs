//! A queue that accepts items without waiting; a task takes batches from it. This module must not know what the
//! items are.

use std::mem;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::ExporterSettings;

/// Items that wait to be sent, in the order in which they were accepted.
pub struct ExportQueue<T> {
    most: usize,
    batch: usize,
    waiting: Mutex<WaitingItems<T>>,
    /// Signalled when there are enough items for a batch.
    is_full: Notify,
    dropped: AtomicU64,
}

/// The items, and the memory of the last batch, which the next items use.
struct WaitingItems<T> {
    items: Vec<T>,
    spare: Vec<T>,
}

impl<T> ExportQueue<T> {
    /// Creates an empty queue.
    pub(crate) fn new(settings: &ExporterSettings) -> Self {
        Self {
            most: settings.queue,
            batch: settings.batch,
            waiting: Mutex::new(WaitingItems { items: Vec::new(), spare: Vec::new() }),
            is_full: Notify::new(),
            dropped: AtomicU64::new(0),
        }
    }

    /// Accepts an item. If too many items are waiting, the item is dropped and counted.
    // Inlined, an item is copied once.
    #[inline]
    pub(crate) fn accept(&self, item: T) {
        let mut waiting = self.waiting.lock();
        if waiting.items.len() >= self.most {
            drop(waiting);
            self.note_dropped(1);
            return;
        }
        waiting.items.push(item);
        let is_full = waiting.items.len() == self.batch;
        drop(waiting);
        if is_full {
            self.is_full.notify_one();
        }
    }

    /// Waits until there are enough items for a batch.
    pub(super) async fn filled(&self) {
        self.is_full.notified().await;
    }

    /// Takes the oldest items out of the queue, at most a batch.
    pub(in crate::telemetry) fn take(&self) -> Vec<T> {
        let mut waiting = self.waiting.lock();
        let WaitingItems { items, spare } = &mut *waiting;
        if items.len() <= self.batch {
            return mem::replace(items, mem::take(spare));
        }
        let taken = items.drain(..self.batch).collect();
        if items.len() >= self.batch {
            self.is_full.notify_one();
        }
        taken
    }

    /// Takes back the memory of a batch whose items are no longer needed.
    pub(super) fn take_back(&self, mut batch: Vec<T>) {
        batch.clear();
        self.waiting.lock().spare = batch;
    }

    /// Counts items that were lost.
    pub(super) fn note_dropped(&self, count: usize) {
        self.dropped.fetch_add(count as u64, Relaxed);
    }

    /// Returns the number of items that were lost.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Relaxed)
    }
}
