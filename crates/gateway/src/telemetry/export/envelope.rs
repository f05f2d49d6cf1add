//! The parts of an export request that every signal has (OTLP 1: `ResourceSpans`, `ResourceLogs`). This module must
//! not know the content of a signal.

use std::mem;

use bytes::Bytes;

use super::protobuf::{FieldValue, Protobuf, close, fields};

/// The name of the instrumentation scope of spans and log records.
const SCOPE: &str = "dragoman";

/// The value of an attribute.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::telemetry) enum AttributeValue<'a> {
    Text(&'a str),
    /// A text that is not validated again: valid UTF-8 of at most a few hundred bytes.
    Utf8(&'a [u8]),
    Number(i64),
    Flag(bool),
}

/// The attributes that describe this program.
pub(crate) type ResourceAttributes = [(String, String)];

/// The body of an export request, at whose end spans or log records are added.
pub(in crate::telemetry) struct ExportBody {
    bytes: Vec<u8>,
    /// The position of the scope, which contains the spans or records.
    scope: usize,
    /// The position of the first span or record.
    items: usize,
}

impl ExportBody {
    /// Creates a body without spans or records; `resource` describes this program.
    pub(in crate::telemetry) fn new(resource: &ResourceAttributes) -> Self {
        let mut bytes = Vec::new();
        let mut of_resource = Protobuf::new(&mut bytes);
        of_resource.open(1);
        of_resource.message(1, |message| {
            for (name, value) in resource {
                attribute(message, 1, name, &AttributeValue::Text(value));
            }
        });
        let scope = bytes.len();
        let mut of_scope = Protobuf::new(&mut bytes);
        of_scope.open(2);
        of_scope.message(1, |message| {
            message.bytes(1, SCOPE.as_bytes());
            message.bytes(2, env!("CARGO_PKG_VERSION").as_bytes());
        });
        let items = bytes.len();
        Self { bytes, scope, items }
    }

    /// Returns the bytes to which spans or records are added, as field 2 of the scope.
    pub(in crate::telemetry) fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Returns the number of bytes.
    pub(in crate::telemetry) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Ends the body and takes its bytes, which [`ExportBody::reuse`] can return.
    pub(in crate::telemetry) fn take(&mut self) -> Bytes {
        close(&mut self.bytes, self.scope);
        close(&mut self.bytes, 0);
        mem::take(&mut self.bytes).into()
    }

    /// Returns a body without spans or records in the memory of its own earlier bytes; `None` if these bytes are still
    /// in use.
    pub(in crate::telemetry) fn reuse(self, bytes: Bytes) -> Option<Self> {
        let mut bytes = bytes.try_into_mut().ok()?;
        bytes.truncate(self.items);
        Some(Self { bytes: bytes.into(), ..self })
    }
}

/// Writes an attribute.
pub(in crate::telemetry) fn attribute(
    message: &mut Protobuf<'_>,
    field: u32,
    key: &str,
    value: &AttributeValue<'_>,
) {
    let text = match value {
        AttributeValue::Text(text) => Some(text.as_bytes()),
        AttributeValue::Utf8(text) => Some(*text),
        AttributeValue::Number(_) | AttributeValue::Flag(_) => None,
    };
    if text.is_some_and(|text| message.short_pair(field, key, text)) {
        return;
    }
    message.message(field, |pair| {
        pair.bytes(1, key.as_bytes());
        pair.message(2, |any| match value {
            AttributeValue::Text(text) => any.bytes(1, text.as_bytes()),
            AttributeValue::Utf8(text) => any.bytes(1, text),
            AttributeValue::Flag(flag) => any.number(2, u64::from(*flag)),
            AttributeValue::Number(number) => any.number(3, number.cast_unsigned()),
        });
    });
}

/// Returns the number of spans or records that a collector rejected, and its reason; `None` if it accepted all of
/// them.
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
