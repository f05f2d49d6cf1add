//! The media type of a response, and the part of its body that is shown to people.

use http::header::{CONTENT_TYPE, HeaderMap};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Media {
    /// One message, or an array of messages, as JSON.
    Json,
    /// An event stream.
    Events,
}

pub(super) fn media_type(headers: &HeaderMap) -> Option<Media> {
    let value = headers.get(CONTENT_TYPE)?.as_bytes();
    let end = value.iter().position(|b| *b == b';').unwrap_or(value.len());
    let essence = value[..end].trim_ascii();
    if essence.eq_ignore_ascii_case(b"application/json") {
        Some(Media::Json)
    } else if essence.eq_ignore_ascii_case(b"text/event-stream") {
        Some(Media::Events)
    } else {
        None
    }
}

/// Returns the beginning of a body for an error message: printable text only.
pub(super) fn excerpt(text: &[u8]) -> String {
    let head: String =
        String::from_utf8_lossy(&text[..text.len().min(200)]).chars().filter(|c| !c.is_control()).collect();
    head.trim().to_owned()
}
