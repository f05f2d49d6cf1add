//! Server-sent events, the framing of streams over HTTP (WHATWG HTML, section 9.2).
//!
//! This module works on bytes: the text of a field is passed on as received, including invalid UTF-8. It does not
//! interpret event types or ids, and does not decide when to reconnect.

mod decode;
mod encode;

#[cfg(test)]
mod tests;

use bytes::Bytes;

pub use decode::SseDecoder;
pub use encode::{KEEP_ALIVE, encode_comment, encode_event, message_event};

/// One event block of a stream.
///
/// Unlike a browser's `EventSource`, the decoder also reports blocks without data if they carry an id or a retry
/// time, since those control resumption.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SseEvent {
    /// The event type; `None` if absent or empty, which means `message`.
    pub event: Option<Bytes>,
    /// The data lines joined by LF; `None` if the block has no data field. Empty data is `Some` of an empty text.
    pub data: Option<Bytes>,
    /// The last valid id field of this block. An empty id clears the last event id. The decoder keeps no id from one
    /// block to the next.
    pub id: Option<Bytes>,
    /// The reconnection time in milliseconds, as sent (at most `u64::MAX`).
    pub retry: Option<u64>,
}

/// The reason why an event was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SseError {
    /// The lines of one event are longer than the decoder allows. The event is reported once; the rest of the event, up
    /// to its blank line, is dropped.
    #[error("an event is longer than the limit of {limit} bytes")]
    TooLong {
        /// The limit in bytes, without line endings and comments.
        limit: usize,
    },
}
