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
/// The key of the field 16, which contains a four-byte number.
const FLAGS_KEY: [u8; 2] = [0x85, 0x01];

/// The field of a scope that contains a span.
const SPANS: u32 = 2;

/// The number of operations whose encoded fields are kept while a batch is encoded.
const OPERATIONS: usize = 32;

/// The usual number of bytes of a request in a batch.
const USUAL: usize = 1280;

impl Export for TracedRequest {
    fn request(resource: &[(String, String)], requests: &[Self]) -> Vec<u8> {
        let (clocks, mut operations, mut rest) = (ClockPair::now(), EncodedOperations::default(), Vec::new());
        envelope(resource, USUAL * requests.len(), |scope_spans| {
            for request in requests {
                let texts = SpanTexts::of(request);
                for one in spans(request, &texts) {
                    let operation = operations.fields(one.operation);
                    span(scope_spans, &one, operation, clocks, &mut rest);
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

/// Writes a span as field 2 of the scope. Nearly all bytes of a span are in two blocks of known sizes, so its length is
/// known before it is written.
fn span(
    spans: &mut Protobuf<'_>,
    span: &TracedSpan<'_, '_>,
    operation: &[u8],
    clocks: ClockPair,
    rest: &mut Vec<u8>,
) {
    rest.clear();
    own_fields(&mut Protobuf::new(rest), span);
    let fixed = fixed_fields(span, clocks);
    let parent = span.parent.map(parent_field);
    let parent = parent.as_ref().map_or(&[][..], |field| field);
    spans.message_of(SPANS, [&fixed, parent, operation, rest]);
}

/// Writes the fields of a span whose sizes vary.
fn own_fields(message: &mut Protobuf<'_>, span: &TracedSpan<'_, '_>) {
    if let Some(state) = span.trace_state {
        message.bytes(STATE, state.as_bytes());
    }
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

/// The ids, the times and the flags of a span.
fn fixed_fields(span: &TracedSpan<'_, '_>, clocks: ClockPair) -> [u8; 52] {
    let is_remote = span.operation.kind == SpanKind::Server && span.parent.is_some();
    let flags = SAMPLED | KNOWS_REMOTE | if is_remote { IS_REMOTE } else { 0 };
    let mut fields = [0; 52];
    fields[..2].copy_from_slice(&[bytes_key(TRACE), 16]);
    fields[2..18].copy_from_slice(&span.own.trace);
    fields[18..20].copy_from_slice(&[bytes_key(SPAN), 8]);
    fields[20..28].copy_from_slice(&span.own.span);
    fields[28] = fixed64_key(START);
    fields[29..37].copy_from_slice(&clocks.nanoseconds(span.times.0).to_le_bytes());
    fields[37] = fixed64_key(END);
    fields[38..46].copy_from_slice(&clocks.nanoseconds(span.times.1).to_le_bytes());
    fields[46..48].copy_from_slice(&FLAGS_KEY);
    fields[48..52].copy_from_slice(&flags.to_le_bytes());
    fields
}

fn parent_field(parent: [u8; 8]) -> [u8; 10] {
    let mut field = [0; 10];
    field[..2].copy_from_slice(&[bytes_key(PARENT), 8]);
    field[2..].copy_from_slice(&parent);
    field
}
