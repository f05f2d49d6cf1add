//! Finds the end of an HTTP/1.1 answer's body, and removes the framing from its bytes (RFC 9112, sections 6 and 7).
//! This module must not know sockets.

use bytes::{Buf, Bytes};

use super::error::Http1Error;

/// The maximum total size of one body's chunk extensions and trailers, in bytes; both are dropped.
const OVERHEAD: usize = 16 * 1024;

/// The framing of a body, and the reading position.
#[derive(Debug)]
pub(super) enum Framing {
    /// This number of bytes remains; at 0, the body is over.
    Length(u64),
    /// The body comes in chunks (RFC 9112, section 7.1).
    Chunked(Chunked),
    /// The body is everything until the connection is closed.
    UntilClose,
}

/// The state of a partly read chunked body.
#[derive(Debug, Default)]
pub(super) struct Chunked {
    place: ChunkPosition,
    /// The remaining bytes of the chunk. While the size is being read, this is the value of the digits read so far.
    left: u64,
    digits: u8,
    overhead: usize,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum ChunkPosition {
    #[default]
    Size,
    Extension,
    SizeLf,
    Data,
    DataCr,
    DataLf,
    /// The next byte begins a trailer line, or the empty line that ends the trailers.
    Line,
    Trailer,
    TrailerLf,
    LastLf,
}

/// The result of looking for the next piece of a body.
#[derive(Debug, PartialEq, Eq)]
pub enum NextPiece {
    /// Bytes of the body.
    Piece(Bytes),
    /// The body is complete.
    End,
    /// More bytes must be read first.
    Nothing,
}

impl Framing {
    /// Returns true once the body is complete.
    pub(super) fn is_over(&self) -> bool {
        matches!(self, Self::Length(0))
    }

    /// Returns the number of remaining bytes, if it is known.
    pub(super) fn left(&self) -> Option<u64> {
        if let Self::Length(left) = self { Some(*left) } else { None }
    }

    /// Takes the next piece of the body out of `read`.
    ///
    /// # Errors
    /// Returns [`Http1Error::Malformed`] if chunks are invalid.
    pub(super) fn take(&mut self, read: &mut Bytes) -> Result<NextPiece, Http1Error> {
        match self {
            Self::Length(0) => Ok(NextPiece::End),
            _ if read.is_empty() => Ok(NextPiece::Nothing),
            Self::Length(left) => Ok(NextPiece::Piece(up_to(left, read))),
            Self::UntilClose => Ok(NextPiece::Piece(std::mem::take(read))),
            Self::Chunked(chunked) => {
                let taken = chunked.take(read)?;
                if taken == NextPiece::End {
                    *self = Self::Length(0);
                }
                Ok(taken)
            }
        }
    }

    /// Ends the body because the connection was closed.
    ///
    /// # Errors
    /// Returns [`Http1Error::Incomplete`] if the connection was closed too early.
    pub(super) fn close(&mut self) -> Result<(), Http1Error> {
        if !matches!(self, Self::UntilClose | Self::Length(0)) {
            return Err(Http1Error::Incomplete);
        }
        *self = Self::Length(0);
        Ok(())
    }
}

fn up_to(left: &mut u64, read: &mut Bytes) -> Bytes {
    let length = usize::try_from(*left).unwrap_or(usize::MAX).min(read.len());
    *left -= length as u64;
    if length == read.len() { std::mem::take(read) } else { read.split_to(length) }
}

impl Chunked {
    fn take(&mut self, read: &mut Bytes) -> Result<NextPiece, Http1Error> {
        while let Some(&byte) = read.first() {
            if self.place == ChunkPosition::Data {
                let piece = up_to(&mut self.left, read);
                if self.left == 0 {
                    self.place = ChunkPosition::DataCr;
                }
                return Ok(NextPiece::Piece(piece));
            }
            read.advance(1);
            if self.place == ChunkPosition::LastLf && byte == b'\n' {
                return Ok(NextPiece::End);
            }
            self.place = self.after(byte)?;
        }
        Ok(NextPiece::Nothing)
    }

    fn after(&mut self, byte: u8) -> Result<ChunkPosition, Http1Error> {
        match (self.place, byte) {
            (ChunkPosition::Size, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                self.digits += 1;
                if self.digits > 16 {
                    return Err(Http1Error::Malformed("a chunk is too long"));
                }
                let digit = char::from(byte).to_digit(16).unwrap_or_default();
                self.left = self.left << 4 | u64::from(digit);
                Ok(ChunkPosition::Size)
            }
            (ChunkPosition::Size, _) if self.digits == 0 => Err(Http1Error::Malformed("a chunk has no size")),
            (ChunkPosition::Size, b';' | b' ' | b'\t') => Ok(ChunkPosition::Extension),
            (ChunkPosition::Size | ChunkPosition::Extension, b'\r') => Ok(ChunkPosition::SizeLf),
            (ChunkPosition::SizeLf, b'\n') if self.left > 0 => Ok(ChunkPosition::Data),
            (ChunkPosition::SizeLf | ChunkPosition::TrailerLf, b'\n') => Ok(ChunkPosition::Line),
            (ChunkPosition::DataCr, b'\r') => Ok(ChunkPosition::DataLf),
            (ChunkPosition::DataLf, b'\n') => {
                self.digits = 0;
                Ok(ChunkPosition::Size)
            }
            (ChunkPosition::Line, b'\r') => Ok(ChunkPosition::LastLf),
            (ChunkPosition::Trailer, b'\r') => Ok(ChunkPosition::TrailerLf),
            (ChunkPosition::Extension, 0x20.. | b'\t') => self.leave_out(ChunkPosition::Extension),
            (ChunkPosition::Line | ChunkPosition::Trailer, 0x20.. | b'\t') => {
                self.leave_out(ChunkPosition::Trailer)
            }
            _ => Err(Http1Error::Malformed("the chunks are malformed")),
        }
    }

    fn leave_out(&mut self, place: ChunkPosition) -> Result<ChunkPosition, Http1Error> {
        self.overhead += 1;
        if self.overhead > OVERHEAD {
            return Err(Http1Error::Malformed("the chunk extensions or trailers are too long"));
        }
        Ok(place)
    }
}
