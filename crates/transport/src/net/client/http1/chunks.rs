//! Frames a request's body whose length is unknown (RFC 9112, 7.1). This module must not know sockets.

use bytes::Bytes;

/// Writes the framing of chunks. Send the bytes that [`Self::before`] returns before each chunk, and those that
/// [`Self::last`] returns at the end; otherwise, the body is incomplete.
#[derive(Debug, Default)]
pub struct ChunkWriter {
    /// True if the line end after a chunk has not been sent yet.
    is_open: bool,
}

impl ChunkWriter {
    /// Returns the bytes to send before a chunk of `length` bytes; `length` must not be 0.
    pub fn before(&mut self, length: usize) -> Bytes {
        debug_assert!(length > 0, "an empty chunk would end the body");
        let line_end = if std::mem::replace(&mut self.is_open, true) { "\r\n" } else { "" };
        format!("{line_end}{length:x}\r\n").into()
    }

    /// Returns the bytes that complete the body.
    pub fn last(&self) -> Bytes {
        Bytes::from_static(if self.is_open { b"\r\n0\r\n\r\n" } else { b"0\r\n\r\n" })
    }
}
