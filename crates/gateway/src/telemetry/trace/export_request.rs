//! Spans in the form in which collectors receive them: `ExportTraceServiceRequest` of OTLP 1. This module must not know what
//! a span says.

use super::spans::{SpanKind, SpanTexts, TracedSpan, spans};
use super::traced_request::TracedRequest;
use crate::telemetry::export::{Export, Protobuf, attribute, envelope};

/// Flags of a span: the trace is sampled, and it is known whether the parent is remote.
const SAMPLED: u32 = 1;
const KNOWS_REMOTE: u32 = 1 << 8;
const IS_REMOTE: u32 = 1 << 9;

impl Export for Box<TracedRequest> {
    fn request(resource: &[(String, String)], requests: &[Self]) -> Vec<u8> {
        envelope(resource, 1024 * requests.len(), |scope_spans| {
            for request in requests {
                let texts = SpanTexts::of(request);
                for one in spans(request, &texts) {
                    scope_spans.message(2, |message| span(message, &one));
                }
            }
        })
    }
}

fn span(message: &mut Protobuf<'_>, span: &TracedSpan<'_>) {
    message.bytes(1, &span.own.trace);
    message.bytes(2, &span.own.span);
    if let Some(state) = span.trace_state {
        message.bytes(3, state.as_bytes());
    }
    if let Some(parent) = &span.parent {
        message.bytes(4, parent);
    }
    match span.target {
        None => message.bytes(5, span.method.as_bytes()),
        Some(target) => {
            let target = &target[..target.floor_char_boundary(128)];
            message.bytes(5, [span.method, " ", target].concat().as_bytes());
        }
    }
    let (kind, remote) = match span.kind {
        SpanKind::Server => (2, if span.parent.is_some() { IS_REMOTE } else { 0 }),
        SpanKind::Client => (3, 0),
    };
    message.number(6, kind);
    message.fixed64(7, span.times.0);
    message.fixed64(8, span.times.1);
    for (key, value) in &span.attributes {
        attribute(message, 9, key, value);
    }
    if let Some(link) = &span.link {
        message.message(13, |message| {
            message.bytes(1, &link.trace);
            message.bytes(2, &link.span);
        });
    }
    if span.is_error {
        message.message(15, |status| status.number(3, 2));
    }
    message.fixed32(16, SAMPLED | KNOWS_REMOTE | remote);
}
