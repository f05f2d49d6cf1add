//! The parts of an export request that every signal has (OTLP 1: `ResourceSpans`, `ResourceLogs`). This module must
//! not know the content of a signal.

use super::protobuf::{FieldValue, Protobuf, fields};

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

/// Returns the body of an export request. `resource` describes this program; `write` adds each span or record to
/// the scope, as field 2.
pub(in crate::telemetry) fn envelope(
    resource: &[(String, String)],
    capacity: usize,
    write: impl FnOnce(&mut Protobuf<'_>),
) -> Vec<u8> {
    let mut body = Vec::with_capacity(capacity);
    Protobuf::new(&mut body).message(1, |of_resource| {
        of_resource.message(1, |message| {
            for (name, value) in resource {
                attribute(message, 1, name, &AttributeValue::Text(value));
            }
        });
        of_resource.message(2, |of_scope| {
            of_scope.message(1, |scope| {
                scope.bytes(1, SCOPE.as_bytes());
                scope.bytes(2, env!("CARGO_PKG_VERSION").as_bytes());
            });
            write(of_scope);
        });
    });
    body
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
