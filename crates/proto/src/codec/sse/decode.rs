//! The decoder: chunks in, events out.

use std::collections::VecDeque;

use bytes::{Buf, Bytes};
use memchr::{memchr, memchr2};

use super::{SseError, SseEvent};

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Splits pushed chunks into events.
///
/// Lines may end with LF, CR or CRLF, in any mixture and split anywhere. A field within one chunk is a slice of that
/// chunk; a field that spans chunks or joins several data lines is copied. Every byte is searched once. Comments are
/// neither kept nor counted, so keep-alives may continue forever. A block that is cut off by the end of the stream is
/// never reported.
///
/// ```
/// # use dragoman_proto::codec::sse::SseDecoder;
/// let mut events = SseDecoder::new(1024);
/// events.push("id: 7\r\ndata: {\"a\":".into());
/// assert!(events.next_event().is_none());
/// events.push("1}\r\n\r\n".into());
/// let event = events.next_event().unwrap().unwrap();
/// assert_eq!(event.id.unwrap(), "7");
/// assert_eq!(event.data.unwrap(), "{\"a\":1}");
/// ```
#[derive(Debug)]
pub struct SseDecoder {
    limit: usize,
    /// Chunks that have not been searched yet.
    chunks: VecDeque<Bytes>,
    /// The number of bytes of a byte order mark that were seen so far; `None` after the beginning of the
    /// stream.
    bom: Option<usize>,
    /// True after a CR: an LF that follows immediately belongs to the same line ending.
    after_cr: bool,
    /// The beginning of a line whose end has not arrived.
    partial: Vec<u8>,
    /// True if the rest of the current line is dropped, because the line is a comment or part of an over-long
    /// event.
    dropping_line: bool,
    /// True after the current event was reported as too long: it is dropped up to its blank line.
    skipping: bool,
    /// The size of this event's complete lines, in bytes.
    used: usize,
    /// The fields of this event so far.
    pending: Pending,
}

#[derive(Debug, Default)]
struct Pending {
    event: Option<Bytes>,
    data: Data,
    id: Option<Bytes>,
    retry: Option<u64>,
}

#[derive(Debug, Default)]
enum Data {
    #[default]
    None,
    One(Bytes),
    Joined(Vec<u8>),
}

impl SseDecoder {
    /// Creates a decoder for events of at most `max_event_bytes` bytes: the sum of an event's lines, names included,
    /// without line endings and comments.
    pub fn new(max_event_bytes: usize) -> Self {
        Self {
            limit: max_event_bytes,
            chunks: VecDeque::new(),
            bom: Some(0),
            after_cr: false,
            partial: Vec::new(),
            dropping_line: false,
            skipping: false,
            used: 0,
            pending: Pending::default(),
        }
    }

    /// Adds a chunk. Before you push again, take all events with [`next_event`](Self::next_event); otherwise,
    /// chunks pile up, and the memory is no longer bounded by the limit and one chunk.
    pub fn push(&mut self, chunk: Bytes) {
        if !chunk.is_empty() {
            self.chunks.push_back(chunk);
        }
    }

    /// The next complete event, or the report of one that is too long; `None` if more bytes are needed.
    ///
    /// An over-long event is reported as soon as it exceeds the limit, even if its end has not arrived.
    pub fn next_event(&mut self) -> Option<Result<SseEvent, SseError>> {
        while self.has_bytes() {
            let found = self.step();
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// Drops the current event, of which only a part has arrived, and its remaining bytes up to its blank line. Take all
    /// events with [`next_event`](Self::next_event) first.
    pub fn skip(&mut self) {
        if self.buffered() > 0 {
            self.dropping_line |= !self.partial.is_empty();
            let _ = self.too_long();
        }
    }

    /// The number of buffered bytes: the unfinished event, and the chunks that have not been searched yet. (A short
    /// slice may keep its whole chunk alive.)
    pub fn buffered(&self) -> usize {
        let chunks: usize = self.chunks.iter().map(Bytes::len).sum();
        chunks + self.partial.len() + self.pending.len()
    }

    /// Returns true if there are bytes to search; the first chunk is then not empty.
    fn has_bytes(&mut self) -> bool {
        if self.chunks.front().is_some_and(Bytes::is_empty) {
            self.chunks.pop_front();
        }
        !self.chunks.is_empty()
    }

    /// Takes one line, or one piece of it, from the first chunk.
    fn step(&mut self) -> Option<Result<SseEvent, SseError>> {
        let chunk = self.chunks.front_mut()?;
        if std::mem::take(&mut self.after_cr) && chunk[0] == b'\n' {
            chunk.advance(1);
            return None;
        }
        if let Some(seen) = self.bom {
            return self.beginning(seen);
        }
        if let Some(end) = memchr2(b'\r', b'\n', chunk) {
            let line = chunk.split_to(end);
            self.after_cr = chunk[0] == b'\r';
            chunk.advance(1);
            self.end_line(line)
        } else {
            let piece = self.chunks.pop_front()?;
            self.keep(&piece)
        }
    }

    /// Drops a byte order mark at the very beginning of the stream.
    fn beginning(&mut self, seen: usize) -> Option<Result<SseEvent, SseError>> {
        let chunk = self.chunks.front_mut()?;
        if chunk[0] == BOM[seen] {
            chunk.advance(1);
            self.bom = Some(seen + 1).filter(|&seen| seen < BOM.len());
            return None;
        }
        self.bom = None;
        if seen > 0 { self.keep(&BOM[..seen]) } else { None }
    }

    /// Keeps `piece`, part of a line that continues later.
    fn keep(&mut self, piece: &[u8]) -> Option<Result<SseEvent, SseError>> {
        if self.dropping_line {
            return None;
        }
        if self.skipping || (self.partial.is_empty() && piece.first() == Some(&b':')) {
            self.dropping_line = true;
            return None;
        }
        if self.used.saturating_add(self.partial.len()).saturating_add(piece.len()) > self.limit {
            self.dropping_line = true;
            return Some(self.too_long());
        }
        self.partial.extend_from_slice(piece);
        None
    }

    /// Completes the current line with `rest`.
    fn end_line(&mut self, rest: Bytes) -> Option<Result<SseEvent, SseError>> {
        if std::mem::take(&mut self.dropping_line) {
            return None;
        }
        if self.partial.is_empty() && rest.is_empty() {
            return self.end_event();
        }
        if self.skipping {
            return None;
        }
        if self.partial.is_empty() && rest[0] == b':' {
            return None;
        }
        let length = self.partial.len().saturating_add(rest.len());
        if self.used.saturating_add(length) > self.limit {
            return Some(self.too_long());
        }
        self.used += length;
        let line = if self.partial.is_empty() {
            rest
        } else {
            self.partial.extend_from_slice(&rest);
            Bytes::from(std::mem::take(&mut self.partial))
        };
        self.pending.field(line);
        None
    }

    /// Completes the event at a blank line.
    fn end_event(&mut self) -> Option<Result<SseEvent, SseError>> {
        self.used = 0;
        if std::mem::take(&mut self.skipping) {
            return None;
        }
        std::mem::take(&mut self.pending).into_event().map(Ok)
    }

    fn too_long(&mut self) -> Result<SseEvent, SseError> {
        self.skipping = true;
        self.partial = Vec::new();
        self.pending = Pending::default();
        Err(SseError::TooLong { limit: self.limit })
    }
}

impl Pending {
    /// Reads one line that is neither blank nor a comment.
    fn field(&mut self, mut line: Bytes) {
        let (name_end, value_start) = match memchr(b':', &line) {
            Some(colon) => (colon, colon + 1 + usize::from(line.get(colon + 1) == Some(&b' '))),
            None => (line.len(), line.len()),
        };
        match &line[..name_end] {
            b"data" => {
                line.advance(value_start);
                self.data.add(line);
            }
            b"event" => {
                line.advance(value_start);
                self.event = Some(line);
            }
            b"id" => {
                line.advance(value_start);
                if memchr(0, &line).is_none() {
                    self.id = Some(line);
                }
            }
            b"retry" => self.retry = milliseconds(&line[value_start..]).or(self.retry),
            _ => {}
        }
    }

    fn into_event(self) -> Option<SseEvent> {
        let data = match self.data {
            Data::None => None,
            Data::One(line) => Some(line),
            Data::Joined(lines) => Some(Bytes::from(lines)),
        };
        if data.is_none() && self.id.is_none() && self.retry.is_none() {
            return None;
        }
        let event = self.event.filter(|name| !name.is_empty());
        Some(SseEvent { event, data, id: self.id, retry: self.retry })
    }

    fn len(&self) -> usize {
        let data = match &self.data {
            Data::None => 0,
            Data::One(line) => line.len(),
            Data::Joined(lines) => lines.len(),
        };
        data + self.event.as_ref().map_or(0, Bytes::len) + self.id.as_ref().map_or(0, Bytes::len)
    }
}

impl Data {
    fn add(&mut self, line: Bytes) {
        match self {
            Self::None => *self = Self::One(line),
            Self::One(first) => {
                let mut lines = Vec::with_capacity(first.len() + 1 + line.len());
                lines.extend_from_slice(first);
                lines.push(b'\n');
                lines.extend_from_slice(&line);
                *self = Self::Joined(lines);
            }
            Self::Joined(lines) => {
                lines.push(b'\n');
                lines.extend_from_slice(&line);
            }
        }
    }
}

/// Parses a retry value: ASCII digits only. A value above the range of `u64` is clamped to the maximum.
fn milliseconds(value: &[u8]) -> Option<u64> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(
        value
            .iter()
            .fold(0, |sum: u64, digit| sum.saturating_mul(10).saturating_add(u64::from(digit - b'0'))),
    )
}
