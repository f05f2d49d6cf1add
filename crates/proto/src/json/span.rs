//! A range of bytes in a buffer.

use bytes::Bytes;

/// A half-open range of bytes in the buffer that it was created from. A span has half the size of a `Range<usize>`;
/// buffers are capped far below 4 GiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// A span from `start` up to, not including, `end`.
    pub fn new(start: usize, end: usize) -> Self {
        debug_assert!(start <= end && u32::try_from(end).is_ok());
        #[expect(clippy::cast_possible_truncation, reason = "the scanner refuses buffers above 4 GiB")]
        Self { start: start as u32, end: end as u32 }
    }

    /// Offset of the first byte.
    pub fn start(self) -> usize {
        self.start as usize
    }

    /// Offset after the last byte.
    pub fn end(self) -> usize {
        self.end as usize
    }

    /// Number of bytes.
    pub fn len(self) -> usize {
        self.end() - self.start()
    }

    /// Returns true if it is empty.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The bytes of `buffer` in this range.
    pub fn of(self, buffer: &[u8]) -> &[u8] {
        &buffer[self.start()..self.end()]
    }

    /// The bytes of `buffer` in this range as a shared slice, without a copy.
    pub fn share(self, buffer: &Bytes) -> Bytes {
        buffer.slice(self.start()..self.end())
    }
}
