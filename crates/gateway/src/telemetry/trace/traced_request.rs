//! The facts about a traced request, noted while the request runs. They are converted to spans only when they are
//! sent. This module must not know the names that the conventions define.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use engine::meters::OperationOutcome;
use smallvec::SmallVec;

use super::{TraceContext, ids};

/// One side of a request, as seen from the gateway.
#[derive(Debug, Clone, Default)]
pub(crate) struct TracedPeer {
    /// The protocol version.
    pub(crate) version: &'static str,
    /// True if messages pass through a pipe.
    pub(crate) is_pipe: bool,
    /// The host and the port of a server that is reached over HTTP.
    pub(crate) address: Option<(Arc<str>, u16)>,
}

/// The facts about a traced request.
#[derive(Debug, Clone)]
pub struct TracedRequest {
    /// The gateway's own span for the client's request.
    pub(crate) served: TraceContext,
    /// The gateway's span for its request to the server.
    pub(crate) sent: TraceContext,
    /// The span of the client, if the client sent one.
    pub(crate) parent: Option<TraceContext>,
    /// The `tracestate` that the client sent along with its span.
    pub(crate) trace_state: Option<Box<str>>,
    /// The span that the transport's headers name, if it differs from the parent.
    pub(crate) link: Option<TraceContext>,
    /// The method.
    pub(crate) method: Cow<'static, str>,
    /// The name of the tool or prompt, as the client sees it.
    pub(crate) target: Option<Arc<str>>,
    /// True if the target is a tool.
    pub(crate) is_tool: bool,
    /// The name of the tool at its server.
    pub(crate) own_target: Option<Bytes>,
    /// The URI of a resource, without its query.
    pub(crate) resource: Option<Box<str>>,
    /// The request's id as text; empty if it is unknown.
    pub(crate) id: SmallVec<[u8; 24]>,
    /// A digest of the session's id.
    pub(crate) session: Option<u64>,
    /// The profile.
    pub(crate) profile: Arc<str>,
    /// The client.
    pub(crate) client: Option<TracedPeer>,
    /// The server.
    pub(crate) server: Option<TracedPeer>,
    /// The end; `None` while the request runs.
    pub(crate) end: Option<TracedEnd>,
}

/// The end of a traced request.
#[derive(Debug, Clone)]
pub(crate) struct TracedEnd {
    /// The server to which the request went.
    pub(crate) upstream: Option<Arc<str>>,
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

impl TracedRequest {
    /// Begins the facts about a request in this trace.
    pub(super) fn begin(trace: [u8; 16], parent: Option<TraceContext>, link: Option<TraceContext>) -> Self {
        let span = || TraceContext { trace, span: ids::span(), is_sampled: true };
        Self {
            served: span(),
            sent: span(),
            parent,
            trace_state: None,
            link,
            method: Cow::Borrowed(""),
            target: None,
            is_tool: false,
            own_target: None,
            resource: None,
            id: SmallVec::new(),
            session: None,
            profile: Arc::default(),
            client: None,
            server: None,
            end: None,
        }
    }
}
