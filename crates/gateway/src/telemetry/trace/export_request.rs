//! Spans in the form in which collectors receive them: `ExportTraceServiceRequest` of OTLP 1. This module must not know what
//! a span says.

use super::protobuf::{FieldValue, Protobuf, fields};
use super::spans::{AttributeValue, SpanKind, SpanTexts, TracedSpan, spans};
use super::traced_request::TracedRequest;

/// The name of the code that makes these spans.
const SCOPE: &str = "dragoman";

/// Flags of a span: the trace is sampled, and it is known whether the parent is remote.
const SAMPLED: u32 = 1;
const KNOWS_REMOTE: u32 = 1 << 8;
const IS_REMOTE: u32 = 1 << 9;

/// Returns the body of a post with these requests; `resource` describes this program.
pub(super) fn export_request(resource: &[(String, String)], requests: &[Box<TracedRequest>]) -> Vec<u8> {
    let mut body = Vec::with_capacity(1024 * requests.len());
    Protobuf(&mut body).message(1, |resource_spans| {
        resource_spans.message(1, |message| {
            for (name, value) in resource {
                attribute(message, 1, name, &AttributeValue::Text(value));
            }
        });
        resource_spans.message(2, |scope_spans| {
            scope_spans.message(1, |scope| {
                scope.bytes(1, SCOPE.as_bytes());
                scope.bytes(2, env!("CARGO_PKG_VERSION").as_bytes());
            });
            for request in requests {
                let texts = SpanTexts::of(request);
                for one in spans(request, &texts) {
                    scope_spans.message(2, |message| span(message, &one));
                }
            }
        });
    });
    body
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

fn attribute(message: &mut Protobuf<'_>, field: u32, key: &str, value: &AttributeValue<'_>) {
    message.message(field, |pair| {
        pair.bytes(1, key.as_bytes());
        pair.message(2, |any| match value {
            AttributeValue::Text(text) => any.bytes(1, text.as_bytes()),
            AttributeValue::Flag(flag) => any.number(2, u64::from(*flag)),
            AttributeValue::Number(number) => any.number(3, number.cast_unsigned()),
        });
    });
}

/// Returns the number of spans that a collector rejected, and its reason; `None` if it took all of them.
pub(super) fn rejected(response: &[u8]) -> Option<(u64, String)> {
    let (_, FieldValue::Bytes(partial)) = fields(response).find(|(field, _)| *field == 1)? else {
        return None;
    };
    let (mut count, mut reason) = (0, String::new());
    for field in fields(partial) {
        match field {
            (1, FieldValue::Number(number)) => count = number,
            (2, FieldValue::Bytes(text)) => reason = String::from_utf8_lossy(text).into_owned(),
            _ => {}
        }
    }
    (count > 0).then_some((count, reason))
}
