//! The queue of traced requests: requests enter it without waiting, and a task takes them out in batches. This module must not
//! know how requests are sent.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::sampler::Sampler;
use super::{TraceContext, TraceSettings, TracedRequest, ids};

/// Traced requests, in the order in which they ended.
pub(super) type TracedBatch = Vec<Box<TracedRequest>>;

/// The traces of this process.
pub(crate) struct Tracer {
    sampler: Sampler,
    most: usize,
    batch: usize,
    waiting: Mutex<TracedBatch>,
    /// Signalled when there are enough requests for a batch.
    is_full: Notify,
    dropped: AtomicU64,
}

impl Tracer {
    /// Creates an empty queue.
    pub(crate) fn new(settings: &TraceSettings) -> Self {
        Self {
            sampler: settings.sampler,
            most: settings.queue,
            batch: settings.batch,
            waiting: Mutex::default(),
            is_full: Notify::new(),
            dropped: AtomicU64::new(0),
        }
    }

    /// Decides whether a request is traced. `carried` is the context in the message itself, `outer` the one in the transport's
    /// headers: without the first, the second is the parent; with both, the second becomes a link.
    pub(crate) fn begin(
        &self,
        carried: Option<TraceContext>,
        outer: Option<TraceContext>,
    ) -> Option<Box<TracedRequest>> {
        let parent = carried.or(outer);
        let trace = parent.map_or_else(ids::trace, |parent| parent.trace);
        let link = outer.filter(|outer| carried.is_some_and(|carried| carried != *outer));
        self.sampler
            .takes(parent.as_ref(), trace)
            .then(|| Box::new(TracedRequest::begin(trace, parent, link)))
    }

    /// Accepts a request that has ended. If too many wait, the request is dropped and counted.
    pub(crate) fn accept(&self, request: Box<TracedRequest>) {
        let mut waiting = self.waiting.lock();
        if waiting.len() >= self.most {
            drop(waiting);
            self.note_dropped(1);
            return;
        }
        waiting.push(request);
        let is_full = waiting.len() == self.batch;
        drop(waiting);
        if is_full {
            self.is_full.notify_one();
        }
    }

    /// Waits until there are enough requests for a batch.
    pub(super) async fn filled(&self) {
        self.is_full.notified().await;
    }

    /// Takes the oldest requests out of the queue, at most a batch.
    pub(super) fn take(&self) -> TracedBatch {
        let mut waiting = self.waiting.lock();
        let count = waiting.len().min(self.batch);
        let taken = waiting.drain(..count).collect();
        if waiting.len() >= self.batch {
            self.is_full.notify_one();
        }
        taken
    }

    /// Counts requests whose spans were lost.
    pub(super) fn note_dropped(&self, count: usize) {
        self.dropped.fetch_add(count as u64, Relaxed);
    }

    /// Returns the number of requests whose spans were lost.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Relaxed)
    }
}
