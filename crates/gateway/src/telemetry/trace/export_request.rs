//! Spans in the form in which collectors receive them: `ExportTraceServiceRequest` of OTLP 1. This module must not
//! know what a span contains.

use super::spans::{ClockPair, SpanKind, SpanOperation, SpanTexts, TracedSpan, spans};
use super::traced_request::TracedRequest;
use crate::telemetry::export::{Export, Protobuf, attribute, bytes_key, envelope, fixed64_key};

/// Flags of a span: the trace is sampled, and it is known whether the parent is remote.
const SAMPLED: u32 = 1;
const KNOWS_REMOTE: u32 = 1 << 8;
const IS_REMOTE: u32 = 1 << 9;

/// The fields of a span.
const TRACE: u32 = 1;
const SPAN: u32 = 2;
const STATE: u32 = 3;
const PARENT: u32 = 4;
const NAME: u32 = 5;
const KIND: u32 = 6;
const START: u32 = 7;
const END: u32 = 8;
const ATTRIBUTE: u32 = 9;
const LINK: u32 = 13;
const STATUS: u32 = 15;
const FLAGS: u32 = 16;

/// The number of operations whose encoded fields are kept while a batch is encoded.
const OPERATIONS: usize = 32;

/// The usual number of bytes of a request in a batch.
const USUAL: usize = 1280;

impl Export for TracedRequest {
    fn request(resource: &[(String, String)], requests: &[Self]) -> Vec<u8> {
        let (clocks, mut operations) = (ClockPair::now(), EncodedOperations::default());
        envelope(resource, USUAL * requests.len(), |scope_spans| {
            for request in requests {
                let texts = SpanTexts::of(request);
                for one in spans(request, &texts) {
                    let operation = operations.fields(one.operation);
                    scope_spans.message(2, |message| span(message, &one, operation, clocks));
                }
            }
        })
    }
}

/// The encoded fields of operations. Most requests of a batch call a few tools, so their common fields are encoded
/// only once.
#[derive(Default)]
struct EncodedOperations<'a> {
    known: Vec<(SpanOperation<'a>, Vec<u8>)>,
    /// The index of the operation that is replaced next.
    oldest: usize,
}

impl<'a> EncodedOperations<'a> {
    /// Returns the fields of an operation.
    fn fields(&mut self, operation: SpanOperation<'a>) -> &[u8] {
        let at = self.known.iter().position(|(known, _)| *known == operation).unwrap_or_else(|| {
            let entry = (operation, encoded(&operation));
            if self.known.len() < OPERATIONS {
                self.known.push(entry);
                return self.known.len() - 1;
            }
            let at = self.oldest;
            self.oldest = (at + 1) % OPERATIONS;
            self.known[at] = entry;
            at
        });
        &self.known[at].1
    }
}

/// Encodes the fields of a span that belong to its operation.
fn encoded(operation: &SpanOperation<'_>) -> Vec<u8> {
    let mut fields = Vec::with_capacity(512);
    let mut message = Protobuf::new(&mut fields);
    match operation.target.and_then(|name| std::str::from_utf8(name).ok()) {
        None => message.bytes(NAME, operation.method.as_bytes()),
        Some(target) => {
            let target = &target[..target.floor_char_boundary(128)];
            message.bytes(NAME, [operation.method, " ", target].concat().as_bytes());
        }
    }
    let kind = match operation.kind {
        SpanKind::Server => 2,
        SpanKind::Client => 3,
    };
    message.number(KIND, kind);
    operation.attributes(|key, value| attribute(&mut message, ATTRIBUTE, key, &value));
    fields
}

fn span(message: &mut Protobuf<'_>, span: &TracedSpan<'_, '_>, operation: &[u8], clocks: ClockPair) {
    let is_remote = span.operation.kind == SpanKind::Server && span.parent.is_some();
    let flags = SAMPLED | KNOWS_REMOTE | if is_remote { IS_REMOTE } else { 0 };
    message.fields(&ids(span));
    if let Some(state) = span.trace_state {
        message.bytes(STATE, state.as_bytes());
    }
    if let Some(parent) = &span.parent {
        message.bytes(PARENT, parent);
    }
    message.fields(operation);
    message.fields(&times(span, clocks));
    message.fixed32(FLAGS, flags);
    span.attributes(|key, value| attribute(message, ATTRIBUTE, key, &value));
    if let Some(link) = &span.link {
        message.message(LINK, |message| {
            message.bytes(1, &link.trace);
            message.bytes(2, &link.span);
        });
    }
    if span.is_error {
        message.message(STATUS, |status| status.number(3, 2));
    }
}

/// The fields with the ids of a span. Their size is constant, so they are written as one block.
fn ids(span: &TracedSpan<'_, '_>) -> [u8; 28] {
    let mut fields = [0; 28];
    fields[..2].copy_from_slice(&[bytes_key(TRACE), 16]);
    fields[2..18].copy_from_slice(&span.own.trace);
    fields[18..20].copy_from_slice(&[bytes_key(SPAN), 8]);
    fields[20..].copy_from_slice(&span.own.span);
    fields
}

/// The fields with the times of a span.
fn times(span: &TracedSpan<'_, '_>, clocks: ClockPair) -> [u8; 18] {
    let mut fields = [0; 18];
    fields[0] = fixed64_key(START);
    fields[1..9].copy_from_slice(&clocks.nanoseconds(span.times.0).to_le_bytes());
    fields[9] = fixed64_key(END);
    fields[10..].copy_from_slice(&clocks.nanoseconds(span.times.1).to_le_bytes());
    fields
}
