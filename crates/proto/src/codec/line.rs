//! Newline-delimited messages, the framing of the stdio transport.
//!
//! This module splits a byte stream at LF, and does not interpret a line: the reader checks UTF-8 and JSON.

use std::collections::VecDeque;

use bytes::{Buf, Bytes};
use memchr::memchr;

/// The number of bytes that are kept of an over-long line: enough to find the request that it answers.
const KEPT: usize = 128;

/// The reason why a line was dropped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// The line is longer than the decoder allows. The line is reported once; the bytes up to its newline are dropped.
    #[error("a line is longer than the limit of {limit} bytes")]
    TooLong {
        /// The limit in bytes, without the line ending.
        limit: usize,
        /// The first bytes of the line: 128, or the limit if that is less.
        beginning: Bytes,
    },
}

/// Splits pushed chunks into lines.
///
/// A line ends at `\n`; one `\r` before it belongs to the line ending. Empty lines are skipped. A line within one chunk
/// is a slice of that chunk; only a line that spans several chunks is copied. Every byte is searched once.
///
/// ```
/// # use dragoman_proto::codec::line::LineDecoder;
/// let mut lines = LineDecoder::new(1024);
/// lines.push("{\"id\":1}\r\n{\"i".into());
/// assert_eq!(lines.next_line().unwrap().unwrap(), "{\"id\":1}");
/// assert!(lines.next_line().is_none());
/// lines.push("d\":2}\n".into());
/// assert_eq!(lines.next_line().unwrap().unwrap(), "{\"id\":2}");
/// ```
#[derive(Debug)]
pub struct LineDecoder {
    limit: usize,
    /// Chunks that have not been searched yet.
    chunks: VecDeque<Bytes>,
    /// The beginning of a line whose end has not arrived: at most `limit` bytes, and possibly a `\r`.
    partial: Vec<u8>,
    /// True after the current line was reported as too long: the rest of it is dropped.
    skipping: bool,
}

impl LineDecoder {
    /// Creates a decoder for lines of at most `max_line_bytes` bytes, without the line ending.
    pub fn new(max_line_bytes: usize) -> Self {
        Self { limit: max_line_bytes, chunks: VecDeque::new(), partial: Vec::new(), skipping: false }
    }

    /// Adds a chunk. Before you push again, take all lines with [`next_line`](Self::next_line); otherwise, chunks
    /// pile up, and the memory is no longer bounded by the limit and one chunk.
    pub fn push(&mut self, chunk: Bytes) {
        if !chunk.is_empty() {
            self.chunks.push_back(chunk);
        }
    }

    /// The next complete line, or the report of one that is too long; `None` if more bytes are needed.
    ///
    /// An over-long line is reported as soon as it exceeds the limit, even if its end has not arrived.
    pub fn next_line(&mut self) -> Option<Result<Bytes, LineError>> {
        while let Some(chunk) = self.chunks.front_mut() {
            let found = if let Some(end) = memchr(b'\n', chunk) {
                let piece = chunk.split_to(end);
                chunk.advance(1);
                if chunk.is_empty() {
                    self.chunks.pop_front();
                }
                self.end_line(piece)
            } else {
                let piece = self.chunks.pop_front()?;
                self.keep(&piece)
            };
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// Returns the remaining data after the stream has ended: the lines that were not taken yet, then the
    /// last line if its newline is missing. Call this function until it returns `None`; the decoder can then be used for
    /// another stream.
    pub fn finish(&mut self) -> Option<Result<Bytes, LineError>> {
        self.next_line().or_else(|| self.end_line(Bytes::new()))
    }

    /// The number of buffered bytes: the beginning of an unfinished line, and the chunks that have not been searched
    /// yet.
    pub fn buffered(&self) -> usize {
        self.partial.len() + self.chunks.iter().map(Bytes::len).sum::<usize>()
    }

    /// Drops the current line, of which only a part has arrived, and its remaining bytes up to the newline. Returns its first
    /// bytes. Take all lines with [`next_line`](Self::next_line) first.
    pub fn skip(&mut self) -> Bytes {
        let partial = std::mem::take(&mut self.partial);
        self.skipping |= !partial.is_empty();
        Bytes::copy_from_slice(&partial[..partial.len().min(KEPT)])
    }

    /// Completes the current line with `piece`.
    fn end_line(&mut self, piece: Bytes) -> Option<Result<Bytes, LineError>> {
        if std::mem::take(&mut self.skipping) {
            return None;
        }
        let mut line = piece;
        if !self.partial.is_empty() {
            if let Some(error) = self.keep(&line) {
                self.skipping = false;
                return Some(error);
            }
            line = Bytes::from(std::mem::take(&mut self.partial));
        }
        if line.last() == Some(&b'\r') {
            line.truncate(line.len() - 1);
        }
        if line.is_empty() {
            return None;
        }
        Some(if line.len() > self.limit { Err(self.too_long(&line)) } else { Ok(line) })
    }

    fn too_long(&self, beginning: &[u8]) -> LineError {
        let kept = beginning.len().min(KEPT).min(self.limit);
        LineError::TooLong { limit: self.limit, beginning: Bytes::copy_from_slice(&beginning[..kept]) }
    }

    /// Keeps `piece`, part of a line that continues in a later chunk, unless the line is already too long.
    fn keep(&mut self, piece: &[u8]) -> Option<Result<Bytes, LineError>> {
        if self.skipping {
            return None;
        }
        // A final `\r` may turn out to belong to the line ending, so it is not counted yet.
        let total = self.partial.len().saturating_add(piece.len());
        let last = piece.last().or(self.partial.last());
        if total - usize::from(last == Some(&b'\r')) > self.limit {
            let mut beginning = std::mem::take(&mut self.partial);
            beginning.truncate(KEPT);
            beginning.extend_from_slice(&piece[..piece.len().min(KEPT)]);
            self.skipping = true;
            return Some(Err(self.too_long(&beginning)));
        }
        self.partial.extend_from_slice(piece);
        None
    }
}

#[cfg(test)]
mod tests;
