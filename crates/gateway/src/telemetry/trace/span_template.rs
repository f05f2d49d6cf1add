//! A span as bytes: the fields of its operation are encoded in advance, and ids, times and lengths are written into a copy.
//! Names are those of the OpenTelemetry conventions for MCP (semantic-conventions-genai 0.1.0). This module must not know
//! how requests end.

use super::operation::{OperationFacts, TracedPeer};
use crate::telemetry::export::{AttributeValue, LENGTH, Protobuf, attribute, bytes_key, close, fixed64_key};

/// Flags of a span: the trace is sampled, and it is known whether the parent is remote.
const SAMPLED: u32 = 1;
const KNOWS_REMOTE: u32 = 1 << 8;
const IS_REMOTE: u32 = 1 << 9;

/// The fields of a span.
const TRACE: u32 = 1;
const SPAN: u32 = 2;
pub(super) const STATE: u32 = 3;
const PARENT: u32 = 4;
const NAME: u32 = 5;
const KIND: u32 = 6;
const START: u32 = 7;
const END: u32 = 8;
pub(super) const ATTRIBUTE: u32 = 9;
pub(super) const LINK: u32 = 13;
pub(super) const STATUS: u32 = 15;
/// The key of the field 16, which contains a four-byte number.
const FLAGS_KEY: [u8; 2] = [0x85, 0x01];

/// The field of a scope that contains a span.
const SPANS: u32 = 2;

/// The maximum length of a span's name after the method, in bytes.
const LONGEST_NAME: usize = 128;

/// The maximum length of an attribute's text, in bytes.
const LONGEST: usize = 1024;

/// The number of bytes in front of a span's fields: a key and a padded length.
const FRONT: usize = 1 + LENGTH;

/// The number of bytes of the fields whose sizes are fixed: ids, times and flags.
const FIXED: usize = 52;

/// A side of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SpanKind {
    /// The gateway serves a client.
    Server,
    /// The gateway is the client of a server.
    Client,
}

/// The fields of a span that differ between all requests.
pub(super) struct SpanHead {
    pub(super) trace: [u8; 16],
    pub(super) span: [u8; 8],
    pub(super) parent: Option<[u8; 8]>,
    /// True if the parent belongs to another program.
    pub(super) is_remote: bool,
    /// Start and end in nanoseconds since 1970.
    pub(super) times: (u64, u64),
}

/// A span of an operation, with zeros in place of the length and of the fields that differ.
#[derive(Debug)]
pub(super) struct SpanTemplate(Box<[u8]>);

impl SpanTemplate {
    /// Encodes the fields of an operation.
    pub(super) fn new(kind: SpanKind, facts: &OperationFacts<'_>) -> Self {
        let mut bytes = Vec::with_capacity(512);
        let mut span = Protobuf::new(&mut bytes);
        span.open(SPANS);
        span.raw(&[0; FIXED]);
        let (number, target, peer) = match kind {
            SpanKind::Server => (2, facts.target.map(|name| name.as_bytes()), facts.client),
            SpanKind::Client => {
                let target = facts.own_target.or(facts.target.map(|name| name.as_bytes()));
                (3, target, facts.server)
            }
        };
        let target = target.and_then(|name| std::str::from_utf8(name).ok());
        match target {
            None => span.bytes(NAME, facts.method.as_bytes()),
            Some(name) => {
                span.bytes(NAME, [facts.method, " ", clipped(name, LONGEST_NAME)].concat().as_bytes());
            }
        }
        span.number(KIND, number);
        attributes(&mut span, facts, (target, peer));
        match kind {
            SpanKind::Server => put_text(&mut span, "dragoman.profile", Some(facts.profile)),
            SpanKind::Client => {
                if let Some((host, port)) = facts.address {
                    put_text(&mut span, "server.address", Some(host));
                    attribute(&mut span, ATTRIBUTE, "server.port", &AttributeValue::Number((*port).into()));
                }
            }
        }
        Self(bytes.into())
    }

    /// Appends the span to `bytes`. More fields can be added until the span is closed.
    #[inline]
    pub(super) fn open<'b>(&self, bytes: &'b mut Vec<u8>, head: &SpanHead) -> OpenSpan<'b> {
        let at = bytes.len();
        bytes.extend_from_slice(&self.0);
        if let Some(fields) = bytes[at + FRONT..].first_chunk_mut() {
            fixed_fields(fields, head);
        }
        if let Some(parent) = head.parent {
            let mut field = [0; 10];
            field[..2].copy_from_slice(&[bytes_key(PARENT), 8]);
            field[2..].copy_from_slice(&parent);
            bytes.extend_from_slice(&field);
        }
        OpenSpan { bytes, at }
    }
}

/// The bytes of an attribute in front of its value, a text, with zeros in place of the lengths.
pub(super) struct UsualKey<const N: usize>([u8; N]);

impl<const N: usize> UsualKey<N> {
    /// Encodes a key of `N - 8` bytes.
    pub(super) const fn new(key: &str) -> Self {
        let mut front = [0; N];
        let (field, key) = (bytes_key(ATTRIBUTE), key.as_bytes());
        assert!(key.len() + 8 == N && N < 0x80, "the length of the key is 8 less than that of the front");
        (front[0], front[2], front[3]) = (field, bytes_key(1), key.len().to_le_bytes()[0]);
        let mut at = 0;
        while at < key.len() {
            front[4 + at] = key[at];
            at += 1;
        }
        (front[N - 4], front[N - 2]) = (bytes_key(2), bytes_key(1));
        Self(front)
    }
}

/// A span to which fields are added.
pub(super) struct OpenSpan<'b> {
    bytes: &'b mut Vec<u8>,
    at: usize,
}

impl OpenSpan<'_> {
    /// Returns the message to which fields are added.
    pub(super) fn fields(&mut self) -> Protobuf<'_> {
        Protobuf::new(self.bytes)
    }

    /// Adds an attribute whose value is a text.
    pub(super) fn text(&mut self, key: &str, value: &str) {
        put_text(&mut self.fields(), key, Some(value));
    }

    /// Adds an attribute that nearly every span has; its value is a text.
    #[inline]
    pub(super) fn usual_text<const N: usize>(&mut self, key: &UsualKey<N>, value: &[u8]) {
        let mut front = key.0;
        if let Ok(length @ 0..0x80) = u8::try_from(front.len() + value.len()) {
            let of_value = length - front.len().to_le_bytes()[0];
            (front[1], front[N - 3], front[N - 1]) = (length - 2, of_value + 2, of_value);
            self.bytes.extend_from_slice(&front);
            self.bytes.extend_from_slice(value);
        } else {
            let key = std::str::from_utf8(&front[4..N - 4]).unwrap_or_default();
            self.attribute(key, &AttributeValue::Utf8(value));
        }
    }

    /// Adds an attribute.
    pub(super) fn attribute(&mut self, key: &str, value: &AttributeValue<'_>) {
        attribute(&mut self.fields(), ATTRIBUTE, key, value);
    }

    /// Ends the span.
    pub(super) fn close(self) {
        close(self.bytes, self.at);
    }
}

/// Writes the ids, the times and the flags of a span.
#[inline]
fn fixed_fields(fields: &mut [u8; FIXED], head: &SpanHead) {
    let remote = if head.is_remote { IS_REMOTE } else { 0 };
    fields[..2].copy_from_slice(&[bytes_key(TRACE), 16]);
    fields[2..18].copy_from_slice(&head.trace);
    fields[18..20].copy_from_slice(&[bytes_key(SPAN), 8]);
    fields[20..28].copy_from_slice(&head.span);
    fields[28] = fixed64_key(START);
    fields[29..37].copy_from_slice(&head.times.0.to_le_bytes());
    fields[37] = fixed64_key(END);
    fields[38..46].copy_from_slice(&head.times.1.to_le_bytes());
    fields[46..48].copy_from_slice(&FLAGS_KEY);
    fields[48..52].copy_from_slice(&(SAMPLED | KNOWS_REMOTE | remote).to_le_bytes());
}

/// Writes the attributes that both sides of an operation have.
fn attributes(
    span: &mut Protobuf<'_>,
    facts: &OperationFacts<'_>,
    (target, peer): (Option<&str>, Option<TracedPeer>),
) {
    put_text(span, "mcp.method.name", Some(facts.method));
    if let Some(TracedPeer { version, is_pipe }) = peer {
        put_text(span, "mcp.protocol.version", Some(version));
        put_text(span, "network.transport", Some(if is_pipe { "pipe" } else { "tcp" }));
        put_text(span, "network.protocol.name", (!is_pipe).then_some("http"));
    }
    put_text(span, "dragoman.upstream", facts.upstream.map(|name| &**name));
    let key = if facts.is_tool { "gen_ai.tool.name" } else { "gen_ai.prompt.name" };
    put_text(span, key, target);
    put_text(span, "gen_ai.operation.name", target.filter(|_| facts.is_tool).map(|_| "execute_tool"));
}

fn put_text(span: &mut Protobuf<'_>, key: &str, value: Option<&str>) {
    if let Some(value) = value {
        attribute(span, ATTRIBUTE, key, &AttributeValue::Text(clipped(value, LONGEST)));
    }
}

fn clipped(text: &str, longest: usize) -> &str {
    &text[..text.floor_char_boundary(longest)]
}
