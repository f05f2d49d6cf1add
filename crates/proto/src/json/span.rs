//! A place in a buffer.

use bytes::Bytes;

/// A half-open range of bytes in the buffer that it was made from. Half the size of a `Range<usize>`; buffers are
/// capped far below 4 GiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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

    /// Offset behind the last byte.
    pub fn end(self) -> usize {
        self.end as usize
    }

    /// Number of bytes.
    pub fn len(self) -> usize {
        self.end() - self.start()
    }

    /// Returns true if there is nothing in it.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The bytes at this place of `buffer`.
    pub fn of(self, buffer: &[u8]) -> &[u8] {
        &buffer[self.start()..self.end()]
    }

    /// The bytes at this place as a shared slice: no copy.
    pub fn share(self, buffer: &Bytes) -> Bytes {
        buffer.slice(self.start()..self.end())
    }
}
