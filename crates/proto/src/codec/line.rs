//! Newline-delimited messages, the framing of the stdio transport.
//!
//! Splits a byte stream at LF. Knows nothing of what a line means: UTF-8 and JSON are judged by whoever reads it.

use std::collections::VecDeque;

use bytes::{Buf, Bytes};
use memchr::memchr;

/// The reason why a line was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// The line is longer than the decoder allows. It is reported once; its bytes are dropped up to its newline.
    #[error("a line is longer than the limit of {limit} bytes")]
    TooLong {
        /// The limit in bytes, line ending not counted.
        limit: usize,
    },
}

/// Splits pushed chunks into lines.
///
/// A line ends at `\n`; one `\r` before it belongs to the line ending. Empty lines are skipped. A line that lies within
/// one chunk is a slice of that chunk, only a line that spans chunks is copied. Every byte is searched once.
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
    /// Chunks that are not searched yet.
    chunks: VecDeque<Bytes>,
    /// The beginning of a line whose end has not arrived: at most `limit` bytes and perhaps one `\r`.
    partial: Vec<u8>,
    /// The current line was reported as too long: drop it up to its newline.
    skipping: bool,
}

impl LineDecoder {
    /// A decoder for lines of at most `max_line_bytes` bytes, line ending not counted.
    pub fn new(max_line_bytes: usize) -> Self {
        Self { limit: max_line_bytes, chunks: VecDeque::new(), partial: Vec::new(), skipping: false }
    }

    /// Adds a chunk. Take all lines with [`next_line`](Self::next_line) before pushing again: chunks that were not
    /// searched yet are kept, so only then is memory bounded by the limit and one chunk.
    pub fn push(&mut self, chunk: Bytes) {
        if !chunk.is_empty() {
            self.chunks.push_back(chunk);
        }
    }

    /// The next line that is complete, or the report of one that is too long; `None` when more bytes are needed.
    ///
    /// An over-long line is reported as soon as it passes the limit, whether or not its end has arrived.
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

    /// What is left once the stream has ended: lines that were not taken yet, then the last line if its newline is
    /// missing. Call it until it returns `None`; the decoder can then be used for another stream.
    pub fn finish(&mut self) -> Option<Result<Bytes, LineError>> {
        self.next_line().or_else(|| self.end_line(Bytes::new()))
    }

    /// The number of bytes that are held: the beginning of an unfinished line and the chunks that are not searched yet.
    pub fn buffered(&self) -> usize {
        self.partial.len() + self.chunks.iter().map(Bytes::len).sum::<usize>()
    }

    /// `piece` is the rest of the current line.
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
        Some(if line.len() > self.limit { Err(LineError::TooLong { limit: self.limit }) } else { Ok(line) })
    }

    /// `piece` belongs to a line that goes on in a later chunk: keep it, unless the line is too long already.
    fn keep(&mut self, piece: &[u8]) -> Option<Result<Bytes, LineError>> {
        if self.skipping {
            return None;
        }
        // A last `\r` may turn out to belong to the line ending, so it does not count yet.
        let total = self.partial.len().saturating_add(piece.len());
        let last = piece.last().or(self.partial.last());
        if total - usize::from(last == Some(&b'\r')) > self.limit {
            self.partial = Vec::new();
            self.skipping = true;
            return Some(Err(LineError::TooLong { limit: self.limit }));
        }
        self.partial.extend_from_slice(piece);
        None
    }
}

#[cfg(test)]
mod tests;
