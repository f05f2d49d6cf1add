//! Where the body of an HTTP/1.1 answer ends, and its bytes without what frames them (RFC 9112, sections 6 and 7). It
//! must not know sockets.

use bytes::{Buf, Bytes};

use super::error::WireError;

/// Bytes of chunk extensions and trailers of one body at most; both are left out.
const OVERHEAD: usize = 16 * 1024;

/// How a body is framed, and how far it has been read.
#[derive(Debug)]
pub(super) enum Framing {
    /// So many bytes are to come; with 0 it is over.
    Length(u64),
    /// In chunks (RFC 9112, section 7.1).
    Chunked(Chunked),
    /// All that comes until the connection is closed.
    UntilClose,
}

/// How far a chunked body has been read.
#[derive(Debug, Default)]
pub(super) struct Chunked {
    place: Place,
    /// What is left of the chunk; while its size is read: as far as it is known.
    left: u64,
    digits: u8,
    overhead: usize,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Place {
    #[default]
    Size,
    Extension,
    SizeLf,
    Data,
    DataCr,
    DataLf,
    /// At the beginning of a trailer's line, or of the empty line that ends them.
    Line,
    Trailer,
    TrailerLf,
    LastLf,
}

/// What came out of what was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// Bytes of the body.
    Piece(Bytes),
    /// The body is complete.
    End,
    /// More has to be read.
    Nothing,
}

impl Framing {
    /// Whether the body is complete.
    pub(super) fn is_over(&self) -> bool {
        matches!(self, Self::Length(0))
    }

    /// How many bytes are still to come, when that is known.
    pub(super) fn left(&self) -> Option<u64> {
        if let Self::Length(left) = self { Some(*left) } else { None }
    }

    /// Takes what there is of the body out of `read`.
    ///
    /// # Errors
    /// [`WireError::Malformed`] for chunks that are none.
    pub(super) fn take(&mut self, read: &mut Bytes) -> Result<Taken, WireError> {
        match self {
            Self::Length(0) => Ok(Taken::End),
            _ if read.is_empty() => Ok(Taken::Nothing),
            Self::Length(left) => Ok(Taken::Piece(up_to(left, read))),
            Self::UntilClose => Ok(Taken::Piece(std::mem::take(read))),
            Self::Chunked(chunked) => {
                let taken = chunked.take(read)?;
                if taken == Taken::End {
                    *self = Self::Length(0);
                }
                Ok(taken)
            }
        }
    }

    /// The connection has been closed.
    ///
    /// # Errors
    /// [`WireError::Incomplete`] when that was too early.
    pub(super) fn close(&mut self) -> Result<(), WireError> {
        if !matches!(self, Self::UntilClose | Self::Length(0)) {
            return Err(WireError::Incomplete);
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
    fn take(&mut self, read: &mut Bytes) -> Result<Taken, WireError> {
        while let Some(&byte) = read.first() {
            if self.place == Place::Data {
                let piece = up_to(&mut self.left, read);
                if self.left == 0 {
                    self.place = Place::DataCr;
                }
                return Ok(Taken::Piece(piece));
            }
            read.advance(1);
            if self.place == Place::LastLf && byte == b'\n' {
                return Ok(Taken::End);
            }
            self.place = self.after(byte)?;
        }
        Ok(Taken::Nothing)
    }

    fn after(&mut self, byte: u8) -> Result<Place, WireError> {
        match (self.place, byte) {
            (Place::Size, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                self.digits += 1;
                if self.digits > 16 {
                    return Err(WireError::Malformed("a chunk is too long"));
                }
                let digit = char::from(byte).to_digit(16).unwrap_or_default();
                self.left = self.left << 4 | u64::from(digit);
                Ok(Place::Size)
            }
            (Place::Size, _) if self.digits == 0 => Err(WireError::Malformed("a chunk has no size")),
            (Place::Size, b';' | b' ' | b'\t') => Ok(Place::Extension),
            (Place::Size | Place::Extension, b'\r') => Ok(Place::SizeLf),
            (Place::SizeLf, b'\n') if self.left > 0 => Ok(Place::Data),
            (Place::SizeLf | Place::TrailerLf, b'\n') => Ok(Place::Line),
            (Place::DataCr, b'\r') => Ok(Place::DataLf),
            (Place::DataLf, b'\n') => {
                self.digits = 0;
                Ok(Place::Size)
            }
            (Place::Line, b'\r') => Ok(Place::LastLf),
            (Place::Trailer, b'\r') => Ok(Place::TrailerLf),
            (Place::Extension, 0x20.. | b'\t') => self.leave_out(Place::Extension),
            (Place::Line | Place::Trailer, 0x20.. | b'\t') => self.leave_out(Place::Trailer),
            _ => Err(WireError::Malformed("chunks are not as they should be")),
        }
    }

    fn leave_out(&mut self, place: Place) -> Result<Place, WireError> {
        self.overhead += 1;
        if self.overhead > OVERHEAD {
            return Err(WireError::Malformed("there is too much beside the chunks"));
        }
        Ok(place)
    }
}
