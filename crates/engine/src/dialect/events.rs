//! The events of a stream, apart from answers, as ready bytes. This module must not know sessions.

use bytes::{Bytes, BytesMut};
use config::dialect_rows::fault_text::Words;
use config::dialect_rows::row::Dialect;
use proto::codec::sse::{KEEP_ALIVE, encode_comment, encode_event};

use super::dialect_fault::text_for;
use crate::fault::Condition;

/// The bytes before the first event of a stream; often empty.
pub fn opening(row: &Dialect) -> Bytes {
    let mut out = BytesMut::new();
    if !row.events.opening_comment.is_empty() {
        encode_comment(&mut out, row.events.opening_comment.as_bytes());
    }
    out.freeze()
}

/// The first event, which names the address to post to. `path` is that address, and `session` identifies the stream.
pub fn endpoint_event(row: &Dialect, path: &str, session: &str, profile: &str) -> Bytes {
    let mut words = Words::default();
    words.text("path", path).text("session", session).text("profile", profile);
    event("endpoint", words.fill(&row.events.endpoint_data).as_bytes())
}

/// The event that keeps a stream open.
pub fn ping_event(row: &Dialect) -> Bytes {
    match &row.events.ping_event {
        None => Bytes::from_static(KEEP_ALIVE),
        Some(name) => event(name, b""),
    }
}

/// The event that reports a failure of the stream itself.
pub fn error_event(row: &Dialect, condition: Condition) -> Bytes {
    let fault_text = text_for(&row.errors, condition);
    let mut words = Words::default();
    words.json("code", fault_text.code.to_string().into_bytes());
    let text = words.fill(&fault_text.message);
    words.text("text", text);
    let data = row.events.error_data.as_ref().and_then(|data| words.render(data)).unwrap_or_default();
    event(&row.events.error_event, &data)
}

fn event(name: &str, data: &[u8]) -> Bytes {
    let mut out = BytesMut::with_capacity(name.len() + data.len() + 24);
    encode_event(&mut out, Some(name), None, None, data);
    out.freeze()
}
