//! Reads HTTP/1.1 responses from the bytes of one connection. This module must not know sockets.

use bytes::{Buf, BytesMut};
use memchr::memmem;

/// The largest head of a response, in bytes.
const LONGEST_HEAD: usize = 64 << 10;
/// The largest body of a response, in bytes.
const LONGEST_BODY: usize = 64 << 20;

/// The bytes that have arrived over one connection and have not been used yet.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    /// The buffer to which new bytes are appended.
    pub(super) buffer: BytesMut,
    head: Option<Head>,
    /// The body so far, if it comes in chunks.
    unchunked: Vec<u8>,
    /// The position in `buffer` where the next chunk begins.
    chunk_at: usize,
}

/// The head of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) status: u16,
    /// True if the body is an event stream.
    pub(super) events: bool,
    /// True if the connection ends after this response.
    pub(super) close: bool,
    /// `Mcp-Session-Id`.
    pub(super) session: Option<Vec<u8>>,
    framing: Framing,
    length: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing {
    Length(usize),
    Chunked,
    UntilClose,
}

impl Inbox {
    /// Returns true if a whole response is there. `ended` is true if the connection delivers nothing more.
    ///
    /// # Errors Returns a message if the bytes are not a response, are too many, or end too early.
    pub(super) fn has_response(&mut self, ended: bool) -> Result<bool, String> {
        let whole = match self.has_head()? {
            None => false,
            Some((length, Framing::Length(body))) => self.buffer.len() >= length + body,
            Some((_, Framing::Chunked)) => self.read_chunks()?,
            Some(_) => ended,
        };
        if self.buffer.len() + self.unchunked.len() > LONGEST_BODY {
            return Err("the body is longer than 64 MiB".into());
        }
        if ended && !whole {
            return Err("the connection was closed before the answer was complete".into());
        }
        Ok(whole)
    }

    /// The head, once it has arrived completely.
    pub(super) fn head(&self) -> Option<&Head> {
        self.head.as_ref()
    }

    /// The body of the response that `has_response` found.
    pub(super) fn body(&self) -> &[u8] {
        match self.head.as_ref().map(|head| (head.length, head.framing)) {
            None => &[],
            Some((length, Framing::Length(body))) => &self.buffer[length..length + body],
            Some((_, Framing::Chunked)) => &self.unchunked,
            Some((length, Framing::UntilClose)) => &self.buffer[length..],
        }
    }

    /// The number of missing bytes, if it is known.
    pub(super) fn missing(&self) -> usize {
        match self.head.as_ref().map(|head| (head.length, head.framing)) {
            Some((length, Framing::Length(body))) => (length + body).saturating_sub(self.buffer.len()),
            _ => 0,
        }
    }

    /// Removes the response that `has_response` found.
    pub(super) fn release(&mut self) {
        let used = match self.head.take().map(|head| (head.length, head.framing)) {
            None => 0,
            Some((length, Framing::Length(body))) => length + body,
            Some((_, Framing::Chunked)) => self.chunk_at,
            Some((_, Framing::UntilClose)) => self.buffer.len(),
        };
        self.buffer.advance(used);
        self.unchunked.clear();
        self.chunk_at = 0;
    }

    /// Removes everything, for a new connection.
    pub(super) fn clear(&mut self) {
        self.release();
        self.buffer.clear();
    }

    fn has_head(&mut self) -> Result<Option<(usize, Framing)>, String> {
        if self.head.is_none() {
            loop {
                let Some(end) = memmem::find(&self.buffer, b"\r\n\r\n") else {
                    return if self.buffer.len() > LONGEST_HEAD {
                        Err("the head is longer than 64 KiB".into())
                    } else {
                        Ok(None)
                    };
                };
                let head = Head::read(&self.buffer[..end], end + 4)?;
                if head.status >= 200 {
                    self.chunk_at = head.length;
                    self.head = Some(head);
                    break;
                }
                self.buffer.advance(end + 4);
            }
        }
        Ok(self.head.as_ref().map(|head| (head.length, head.framing)))
    }

    /// Takes every complete chunk; returns true after the last one.
    fn read_chunks(&mut self) -> Result<bool, String> {
        loop {
            let rest = &self.buffer[self.chunk_at..];
            let Some(line) = memmem::find(rest, b"\r\n") else { return Ok(false) };
            let size = chunk_size(&rest[..line]).ok_or("a chunk has no size")?;
            if size > LONGEST_BODY {
                return Err("a chunk is longer than 64 MiB".into());
            }
            let start = line + 2;
            if size == 0 {
                return Ok(self.skip_trailers(start));
            }
            let Some(chunk) = rest.get(start..start + size + 2) else { return Ok(false) };
            if !chunk.ends_with(b"\r\n") {
                return Err("a chunk is longer than it says".into());
            }
            self.unchunked.extend_from_slice(&chunk[..size]);
            self.chunk_at += start + size + 2;
        }
    }

    fn skip_trailers(&mut self, start: usize) -> bool {
        let trailers = &self.buffer[self.chunk_at + start..];
        let length = if trailers.starts_with(b"\r\n") {
            Some(2)
        } else {
            memmem::find(trailers, b"\r\n\r\n").map(|end| end + 4)
        };
        self.chunk_at += length.map_or(0, |length| start + length);
        length.is_some()
    }
}

impl Head {
    /// Reads a head without its final blank line.
    fn read(text: &[u8], length: usize) -> Result<Self, String> {
        let mut lines = memmem::find_iter(text, b"\r\n").chain([text.len()]);
        let first = lines.next().map_or(text, |end| &text[..end]);
        let status = first.strip_prefix(b"HTTP/1.").and_then(|rest| number(rest.get(2..5)?));
        let status =
            status.and_then(|status| u16::try_from(status).ok()).ok_or("this is no HTTP/1 response")?;
        let empty = status < 200 || status == 204 || status == 304;
        let framing = if empty { Framing::Length(0) } else { Framing::UntilClose };
        let mut head = Self { status, events: false, close: false, session: None, framing, length };
        let mut at = first.len() + 2;
        for end in lines {
            let line = &text[at..end];
            at = end + 2;
            let colon = memchr::memchr(b':', line).ok_or("a header has no colon")?;
            head.note(&line[..colon], line[colon + 1..].trim_ascii())?;
        }
        head.close |= head.framing == Framing::UntilClose;
        Ok(head)
    }

    fn note(&mut self, name: &[u8], value: &[u8]) -> Result<(), String> {
        if name.eq_ignore_ascii_case(b"content-length") {
            let length = number(value).filter(|length| *length <= LONGEST_BODY);
            let length = length.ok_or("Content-Length is not a number up to 64 MiB")?;
            if self.framing == Framing::UntilClose {
                self.framing = Framing::Length(length);
            }
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            if !value.eq_ignore_ascii_case(b"chunked") {
                return Err("the only Transfer-Encoding read here is chunked".into());
            }
            self.framing = Framing::Chunked;
        } else if name.eq_ignore_ascii_case(b"content-type") {
            self.events =
                value.get(..17).is_some_and(|start| start.eq_ignore_ascii_case(b"text/event-stream"));
        } else if name.eq_ignore_ascii_case(b"mcp-session-id") {
            self.session = Some(value.to_vec());
        } else if name.eq_ignore_ascii_case(b"connection") {
            self.close = value.eq_ignore_ascii_case(b"close");
        }
        Ok(())
    }
}

fn number(digits: &[u8]) -> Option<usize> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// The number at the start of a chunk's first line, before any extension.
fn chunk_size(line: &[u8]) -> Option<usize> {
    let digits = line.split(|byte| *byte == b';').next()?.trim_ascii();
    usize::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
#[path = "inbox_tests.rs"]
mod tests;
