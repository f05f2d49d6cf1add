//! A queue that accepts items without waiting; a task takes them from it in batches. This module must not know what the
//! items are.

use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::sync::Notify;

use super::{ExporterSettings, ResourceAttributes};

/// Items that are sent together.
pub trait ExportBatch: Sized + Send + 'static {
    /// Creates an empty batch; `resource` describes this program.
    fn new(resource: &Arc<ResourceAttributes>) -> Self;

    /// Returns the number of items.
    fn len(&self) -> usize;

    /// Returns true if the batch has enough bytes for a request, however few items there are.
    fn is_large(&self) -> bool;

    /// Returns the body of a request with these items.
    fn body(&mut self) -> Bytes;

    /// Returns the batch without items, for other items. `body` is the body that is no longer needed. Returns `None` if
    /// a new batch costs as little.
    fn reuse(self, body: Bytes) -> Option<Self>;
}

/// Items that wait to be sent, in the order in which they were accepted.
pub struct ExportQueue<B> {
    most: usize,
    batch: usize,
    resource: Arc<ResourceAttributes>,
    waiting: Mutex<WaitingBatches<B>>,
    /// Signalled when there are enough items for a batch.
    is_full: Notify,
    dropped: AtomicU64,
}

/// The batches that wait to be sent.
struct WaitingBatches<B> {
    /// The batch to which items are added.
    open: B,
    /// Earlier batches, the oldest first.
    full: VecDeque<B>,
    /// The number of items in all batches.
    items: usize,
    /// A batch whose memory the next items use.
    spare: Option<B>,
}

impl<B: ExportBatch> ExportQueue<B> {
    /// Creates an empty queue.
    pub(crate) fn new(settings: &ExporterSettings) -> Self {
        let resource = settings.resource.clone();
        let (open, full) = (B::new(&resource), VecDeque::new());
        Self {
            most: settings.queue,
            batch: settings.batch,
            resource,
            waiting: Mutex::new(WaitingBatches { open, full, items: 0, spare: None }),
            is_full: Notify::new(),
            dropped: AtomicU64::new(0),
        }
    }

    /// Accepts an item, which `add` adds to a batch. If too many items are waiting, the item is dropped and counted.
    // Inlined, an item is copied once.
    #[inline]
    pub(crate) fn accept(&self, add: impl FnOnce(&mut B)) {
        let mut waiting = self.waiting.lock();
        if waiting.items >= self.most {
            drop(waiting);
            self.note_dropped(1);
            return;
        }
        waiting.items += 1;
        add(&mut waiting.open);
        if waiting.open.len() >= self.batch || waiting.open.is_large() {
            let full = self.close(&mut waiting);
            waiting.full.push_back(full);
            drop(waiting);
            self.is_full.notify_one();
        }
    }

    /// Replaces the open batch with an empty one, and returns it.
    #[inline(never)]
    fn close(&self, waiting: &mut WaitingBatches<B>) -> B {
        let next = waiting.spare.take().unwrap_or_else(|| B::new(&self.resource));
        mem::replace(&mut waiting.open, next)
    }

    /// Waits until there are enough items for a batch.
    pub(super) async fn filled(&self) {
        self.is_full.notified().await;
    }

    /// Takes the oldest batch; `None` if no item is waiting.
    pub(in crate::telemetry) fn take(&self) -> Option<B> {
        let mut waiting = self.waiting.lock();
        let taken = match waiting.full.pop_front() {
            Some(full) => full,
            None if waiting.open.len() > 0 => self.close(&mut waiting),
            None => return None,
        };
        waiting.items -= taken.len();
        if !waiting.full.is_empty() {
            self.is_full.notify_one();
        }
        Some(taken)
    }

    /// Takes back the memory of a batch that has been sent as `body`.
    pub(super) fn take_back(&self, batch: B, body: Bytes) {
        if let Some(batch) = batch.reuse(body) {
            self.waiting.lock().spare = Some(batch);
        }
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
