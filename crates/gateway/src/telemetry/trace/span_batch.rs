//! The spans of requests that have ended, as the body of a request to a collector (`ExportTraceServiceRequest` of
//! OTLP 1). This module must not know the facts that requests have in common.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use engine::meters::OperationOutcome;
use proto::rpc::code;

use super::span_template::{LINK, OpenSpan, STATE, STATUS, SpanHead, UsualKey};
use super::traced_request::{TracedEnd, TracedRequest};
use crate::telemetry::export::{AttributeValue, ExportBatch, ExportBody, ResourceAttributes};

/// The error codes for mistakes of the client. They do not mark the span of the server side as an error.
const FAULTS_OF_CLIENTS: [i64; 5] = [-32700, -32600, -32601, -32602, -32002];

/// The number of bytes that are enough for a request, even if it contains few spans.
const LARGE: usize = 4 << 20;

/// The time after which the clock of the calendar is read again, because it may have been set.
const FRESH: Duration = Duration::from_secs(1);

/// The attributes of nearly every span of a client's request.
const SESSION: UsualKey<22> = UsualKey::new("mcp.session.id");
const REQUEST: UsualKey<26> = UsualKey::new("jsonrpc.request.id");

/// Spans that are sent together.
pub struct SpanBatch {
    body: ExportBody,
    /// The number of requests whose spans are in the body.
    requests: usize,
    clocks: ClockPair,
}

impl ExportBatch for SpanBatch {
    fn new(resource: &Arc<ResourceAttributes>) -> Self {
        Self { body: ExportBody::new(resource), requests: 0, clocks: ClockPair::now() }
    }

    fn len(&self) -> usize {
        self.requests
    }

    fn is_large(&self) -> bool {
        self.body.len() >= LARGE
    }

    fn body(&mut self) -> Bytes {
        self.body.take()
    }

    fn reuse(self, body: Bytes) -> Option<Self> {
        Some(Self { body: self.body.reuse(body)?, requests: 0, ..self })
    }
}

impl SpanBatch {
    /// Adds the spans of a request: one for the client's request and, if the request was sent to a server, one for the
    /// gateway's request.
    pub(crate) fn add(&mut self, request: &TracedRequest, end: &TracedEnd) {
        self.requests += 1;
        let ended = self.clocks.calendar(end.ended);
        let at = |time: Instant| ended.saturating_sub(nanoseconds(end.ended.saturating_duration_since(time)));
        let (ids, bytes) = (&request.ids, self.body.bytes());
        let code = end.code.map(|code| code.to_string());
        let head = SpanHead {
            trace: ids.trace,
            span: ids.served,
            parent: ids.parent,
            is_remote: ids.parent.is_some(),
            times: (at(end.started), ended),
        };
        let mut span = request.operation.served.open(bytes, &head);
        if let Some(digits) = &request.session {
            span.usual_text(&SESSION, digits);
        }
        if !request.id.is_empty() {
            span.usual_text(&REQUEST, &request.id);
        }
        if end.cached {
            span.attribute("dragoman.cache", &AttributeValue::Flag(true));
        }
        if let Some(link) = &ids.link {
            span.fields().message(LINK, |message| {
                message.bytes(1, &link.trace);
                message.bytes(2, &link.span);
            });
        }
        common_fields(&mut span, request, end, (code.as_deref(), end.is_own_error()));
        span.close();
        let Some((first, last)) = end.sent else { return };
        let head = SpanHead {
            span: ids.sent,
            parent: Some(ids.served),
            is_remote: false,
            times: (at(first), at(last)),
            ..head
        };
        let mut span = request.operation.sent.open(bytes, &head);
        if end.tries > 1 {
            span.attribute("dragoman.tries", &AttributeValue::Number(end.tries.into()));
        }
        common_fields(&mut span, request, end, (code.as_deref(), end.outcome != OperationOutcome::Ok));
        span.close();
    }
}

impl TracedEnd {
    /// Returns true if the span of the server side is an error: mistakes of the client are none.
    fn is_own_error(&self) -> bool {
        let is_of_client = self.code.is_some_and(|code| FAULTS_OF_CLIENTS.contains(&code))
            || matches!(self.outcome, OperationOutcome::Denied | OperationOutcome::NotFound);
        self.outcome != OperationOutcome::Ok && !is_of_client
    }
}

/// Writes the fields that both spans of a request can have. Most spans have none of them.
#[inline]
fn common_fields(
    span: &mut OpenSpan<'_>,
    request: &TracedRequest,
    end: &TracedEnd,
    (code, is_error): (Option<&str>, bool),
) {
    if let Some(state) = &request.trace_state {
        span.fields().bytes(STATE, state.as_bytes());
    }
    if let Some(uri) = &request.resource {
        span.text("mcp.resource.uri", uri);
    }
    if let Some(code) = code {
        span.text("rpc.response.status_code", code);
    }
    if is_error {
        let kind = match (end.outcome, code) {
            (OperationOutcome::ToolError, _) => "tool_error",
            (_, Some(code)) => code,
            (outcome, None) => outcome.name(),
        };
        span.text("error.type", kind);
        span.fields().message(STATUS, |status| status.number(3, 2));
    }
}

/// One moment on both clocks. Other moments are computed relative to it.
#[derive(Clone, Copy)]
struct ClockPair {
    /// The moment in nanoseconds since 1970.
    wall: u64,
    clock: Instant,
}

impl ClockPair {
    /// The current moment.
    fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { wall: nanoseconds(since), clock: Instant::now() }
    }

    /// Returns a moment of the last second in nanoseconds since 1970. For other moments, the clocks are read again.
    fn calendar(&mut self, at: Instant) -> u64 {
        match at.checked_duration_since(self.clock) {
            Some(since) if since < FRESH => self.wall.wrapping_add(nanoseconds(since)),
            _ => {
                *self = Self::now();
                self.wall.saturating_sub(nanoseconds(self.clock.saturating_duration_since(at)))
            }
        }
    }
}

fn nanoseconds(time: Duration) -> u64 {
    time.as_secs().wrapping_mul(1_000_000_000).wrapping_add(u64::from(time.subsec_nanos()))
}

const _: () = assert!(FAULTS_OF_CLIENTS[3] == code::INVALID_PARAMS as i64);
