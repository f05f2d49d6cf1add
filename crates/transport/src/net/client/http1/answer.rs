//! The answers on one connection, parsed from the bytes that are read: a head, the pieces of a body, and finally
//! the decision whether the connection can be used again. This module must not know sockets.

use bytes::Bytes;

use super::error::Http1Error;
use super::framing::{Framing, NextPiece};
use super::head::{self, AnswerContext, AnswerHead, HeadLimits};

/// The size of the buffer for one read, in bytes.
pub const READ: usize = 16 * 1024;

/// The maximum number of bytes that one read of a long body can return.
const PIECE: u64 = 128 * 1024;

/// Parses answers. Buffers at most one head of the allowed length and the bytes of one read, and nothing between
/// answers.
#[derive(Debug)]
pub struct AnswerReader {
    limits: HeadLimits,
    /// The incomplete head of an answer.
    partial: Vec<u8>,
    /// The number of bytes of the interim answers before this head.
    interim: usize,
    /// The part of the body that was read but not taken yet.
    inbox: Bytes,
    framing: Framing,
    keep_alive: bool,
    /// True if the connection must not be used again unless the answer promises to keep it open.
    is_wary: bool,
}

impl AnswerReader {
    /// Creates a reader for a new connection's answers.
    pub fn new(limits: HeadLimits) -> Self {
        Self {
            limits,
            partial: Vec::new(),
            interim: 0,
            inbox: Bytes::new(),
            framing: Framing::Length(0),
            keep_alive: true,
            is_wary: false,
        }
    }

    /// Prepares for the answer to the next request. `closes` is true if the request itself asks for the connection
    /// to be closed. `is_wary` is true if the connection may be used again only if the answer promises to keep it
    /// open: some proxies close connections without notice, although HTTP/1.1 keeps them open by default.
    pub fn begin(&mut self, closes: bool, is_wary: bool) {
        (self.keep_alive, self.is_wary) = (!closes, is_wary);
    }

    /// Parses the head from the bytes of a read; if there are none, the connection was closed.
    ///
    /// # Errors
    /// Returns [`Http1Error`] if the bytes are not a head, if the head is too long, or if the connection ended before
    /// the head was complete.
    pub fn head(&mut self, read: &[u8], asked: AnswerContext<'_>) -> Result<Option<AnswerHead>, Http1Error> {
        if read.is_empty() {
            return Err(Http1Error::Incomplete);
        }
        let before = self.partial.len();
        let mut bytes = read;
        if before > 0 {
            self.partial.extend_from_slice(read);
            bytes = &self.partial;
            // If a head arrives slowly, it is not parsed again from its beginning for each byte.
            let is_short = self.interim + bytes.len() < self.limits.bytes;
            if is_short && !head::may_end(&bytes[before.saturating_sub(3)..]) {
                return Ok(None);
            }
        }
        let (taken, head) = head::read(bytes, self.interim, asked, self.limits)?;
        let Some(mut head) = head else {
            self.interim += taken;
            let rest = &bytes[taken..];
            if before == 0 || taken > 0 {
                self.partial = rest.to_vec();
            }
            return Ok(None);
        };
        self.inbox = Bytes::copy_from_slice(&bytes[taken..]);
        (self.partial, self.interim) = (Vec::new(), 0);
        self.keep_alive &= head.keep_alive && (head.promised || !self.is_wary);
        self.framing = std::mem::replace(&mut head.framing, Framing::Length(0));
        Ok(Some(head))
    }

    /// Takes the next piece of the body, if one has been read.
    ///
    /// # Errors
    /// Returns [`Http1Error::Malformed`] if chunks are invalid.
    pub fn piece(&mut self) -> Result<NextPiece, Http1Error> {
        self.framing.take(&mut self.inbox)
    }

    /// Adds the next bytes of the body after [`Self::piece`] had nothing left; if there are none, the connection was
    /// closed.
    ///
    /// # Errors
    /// Returns [`Http1Error::Incomplete`] if the connection was closed before the body's end.
    pub fn feed(&mut self, read: Bytes) -> Result<(), Http1Error> {
        if read.is_empty() {
            return self.framing.close();
        }
        debug_assert!(self.inbox.is_empty(), "bytes of the body would be lost");
        self.inbox = read;
        Ok(())
    }

    /// Returns the buffer size for the next read, if the body is known to be longer than [`READ`].
    pub fn room(&self) -> Option<usize> {
        let left = self.framing.left().filter(|left| *left > READ as u64)?;
        // This is one byte more than expected, so that a read of the whole body leaves room and thereby shows that
        // nothing follows.
        usize::try_from(left.saturating_add(1).min(PIECE)).ok()
    }

    /// Returns the number of remaining bytes of the body, if it is known.
    pub fn left(&self) -> Option<u64> {
        self.framing.left()
    }

    /// Returns true once the body has been read to its end.
    pub fn is_over(&self) -> bool {
        self.framing.is_over()
    }

    /// Returns true if the answer is over, its end was unambiguous, and nothing followed it.
    pub fn may_serve_again(&self) -> bool {
        self.keep_alive && self.inbox.is_empty() && self.framing.is_over()
    }

    /// Returns the number of buffered bytes.
    pub fn held(&self) -> usize {
        self.partial.len() + self.inbox.len()
    }
}
