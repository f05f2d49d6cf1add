//! A queue that accepts items without waiting; a task takes batches from it. This module must not know what the
//! items are.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::ExporterSettings;

/// Items that wait to be sent, in the order in which they were accepted.
pub struct ExportQueue<T> {
    most: usize,
    batch: usize,
    waiting: Mutex<Vec<T>>,
    /// Signalled when there are enough items for a batch.
    is_full: Notify,
    dropped: AtomicU64,
}

impl<T> ExportQueue<T> {
    /// Creates an empty queue.
    pub(crate) fn new(settings: &ExporterSettings) -> Self {
        Self {
            most: settings.queue,
            batch: settings.batch,
            waiting: Mutex::default(),
            is_full: Notify::new(),
            dropped: AtomicU64::new(0),
        }
    }

    /// Accepts an item. If too many items are waiting, the item is dropped and counted.
    pub(crate) fn accept(&self, item: T) {
        let mut waiting = self.waiting.lock();
        if waiting.len() >= self.most {
            drop(waiting);
            self.note_dropped(1);
            return;
        }
        waiting.push(item);
        let is_full = waiting.len() == self.batch;
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
        let count = waiting.len().min(self.batch);
        let taken = waiting.drain(..count).collect();
        if waiting.len() >= self.batch {
            self.is_full.notify_one();
        }
        taken
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
