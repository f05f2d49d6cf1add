//! The decision about each request, and the queue of traced requests. This module must not know how requests are sent.

use std::sync::Arc;

use super::sampler::Sampler;
use super::{SpanBatch, TraceContext, TraceIds, TraceSettings, ids};
use crate::telemetry::export::ExportQueue;

/// The traces of this process.
pub struct Tracer {
    sampler: Sampler,
    /// The spans of requests that have ended, as bytes: a request leaves nothing that another thread would free, because
    /// such memory is not reused quickly.
    pub queue: Arc<ExportQueue<SpanBatch>>,
}

impl Tracer {
    /// Creates a tracer with an empty queue.
    pub(crate) fn new(settings: &TraceSettings) -> Self {
        Self { sampler: settings.sampler, queue: Arc::new(ExportQueue::new(&settings.exporter)) }
    }

    /// Decides whether a request is traced. `carried` is the context in the message, and `outer` the context in the
    /// transport's headers. Without `carried`, `outer` is the parent; with both, `outer` becomes a link.
    pub(crate) fn begin(
        &self,
        carried: Option<TraceContext>,
        outer: Option<TraceContext>,
    ) -> Option<TraceIds> {
        let parent = carried.or(outer);
        let trace = parent.map_or_else(ids::trace, |parent| parent.trace);
        if !self.sampler.takes(parent.as_ref(), trace) {
            return None;
        }
        let link = outer.filter(|outer| carried.is_some_and(|carried| carried != *outer));
        Some(TraceIds::new(trace, parent.map(|parent| parent.span), link))
    }
}
