//! The facts about a traced request, noted while the request runs. They become spans when the request ends. This module
//! must not know the names that the conventions define.

use std::sync::Arc;
use std::time::Instant;

use engine::meters::OperationOutcome;
use smallvec::SmallVec;

use super::{TraceContext, TracedOperation, ids};

/// The ids of a traced request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TraceIds {
    pub(super) trace: [u8; 16],
    /// The gateway's own span for the client's request.
    pub(super) served: [u8; 8],
    /// The gateway's span for its request to the server.
    pub(super) sent: [u8; 8],
    /// The span of the client, if the client sent one.
    pub(super) parent: Option<[u8; 8]>,
    /// The span that the transport's headers name, if it differs from the parent.
    pub(super) link: Option<TraceContext>,
}

impl TraceIds {
    /// Creates the ids of a request in this trace.
    pub(super) fn new(trace: [u8; 16], parent: Option<[u8; 8]>, link: Option<TraceContext>) -> Self {
        let [served, sent] = ids::spans();
        Self { trace, served, sent, parent, link }
    }

    /// Returns the context of the gateway's own span for the client's request.
    pub(crate) fn served(&self) -> TraceContext {
        TraceContext { trace: self.trace, span: self.served, is_sampled: true }
    }

    /// Returns the context of the gateway's span for its request to the server.
    pub(crate) fn sent(&self) -> TraceContext {
        TraceContext { trace: self.trace, span: self.sent, is_sampled: true }
    }
}

/// The facts about a traced request that are known when it begins.
#[derive(Debug, Clone)]
pub(crate) struct TracedRequest {
    pub(crate) ids: TraceIds,
    /// The `tracestate` that the client sent along with its span.
    pub(crate) trace_state: Option<Box<str>>,
    /// The facts that the request has in common with many others.
    pub(crate) operation: Arc<TracedOperation>,
    /// The URI of a resource, without its query.
    pub(crate) resource: Option<Box<str>>,
    /// The request's id as text; empty if it is unknown.
    pub(crate) id: SmallVec<[u8; 24]>,
    /// A digest of the session's id, as hexadecimal digits.
    pub(crate) session: Option<[u8; 16]>,
}

/// The end of a traced request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TracedEnd {
    /// The time at which the whole request had arrived.
    pub(crate) started: Instant,
    /// The time at which the answer was handed to the transport.
    pub(crate) ended: Instant,
    /// The times at which the request was sent and at which the last message from its server arrived.
    pub(crate) sent: Option<(Instant, Instant)>,
    /// The outcome.
    pub(crate) outcome: OperationOutcome,
    /// The error code in the answer.
    pub(crate) code: Option<i64>,
    /// The number of times that the request was sent.
    pub(crate) tries: u32,
    /// True if the request was answered with a kept result.
    pub(crate) cached: bool,
}
