//! A strict validator of JSON text that reports where values end.
//!
//! It accepts exactly RFC 8259, up to a maximum depth, and never allocates. This module must not know what the text
//! means.

use super::{JsonError, Problem};

/// The greatest nesting depth of arrays and objects in a message.
pub const MAX_DEPTH: u32 = 128;

/// The greatest nesting depth in a list, whose items are checked one by one: an item that is nested too deeply is left
/// out, and the others stay.
pub const LIST_DEPTH: u32 = 1024;

/// A validator over one buffer of UTF-8 text.
#[derive(Debug, Clone, Copy)]
pub struct Scanner<'a> {
    text: &'a [u8],
    max_depth: u32,
}

impl<'a> Scanner<'a> {
    /// Creates a scanner over `text` that rejects more than `max_depth` (at most [`LIST_DEPTH`]) nested arrays and
    /// objects.
    ///
    /// # Errors
    /// [`Problem::Utf8`] or [`Problem::TooLarge`].
    pub fn new(text: &'a [u8], max_depth: u32) -> Result<Self, JsonError> {
        if u32::try_from(text.len()).is_err() {
            return Err(JsonError { at: 0, problem: Problem::TooLarge });
        }
        match std::str::from_utf8(text) {
            Ok(_) => Ok(Self::trusted(text, max_depth)),
            Err(e) => Err(JsonError { at: e.valid_up_to(), problem: Problem::Utf8 }),
        }
    }

    /// Creates a scanner over text that is known to be UTF-8, because it was scanned before or is a `str`.
    pub(crate) fn trusted(text: &'a [u8], max_depth: u32) -> Self {
        Self { text, max_depth: max_depth.min(LIST_DEPTH) }
    }

    /// The scanned buffer.
    pub fn text(&self) -> &'a [u8] {
        self.text
    }

    /// The same scanner for values that are already `levels` deep.
    pub(crate) fn deeper(self, levels: u32) -> Self {
        Self { max_depth: self.max_depth.saturating_sub(levels), ..self }
    }

    pub(crate) fn max_depth(self) -> u32 {
        self.max_depth
    }

    /// Validates the whole buffer as one value.
    ///
    /// # Errors
    /// The first fault, [`Problem::Trailing`] included.
    pub fn document(&self) -> Result<(), JsonError> {
        let end = self.value(self.space(0))?;
        self.finish(end)
    }

    /// Checks that only white space follows `at`.
    pub(crate) fn finish(&self, at: usize) -> Result<(), JsonError> {
        let at = self.space(at);
        if at == self.text.len() { Ok(()) } else { Err(JsonError { at, problem: Problem::Trailing }) }
    }

    /// The offset of the next byte that is not white space.
    pub(crate) fn space(&self, mut at: usize) -> usize {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.text.get(at) {
            at += 1;
        }
        at
    }

    pub(crate) fn peek(&self, at: usize) -> Result<u8, JsonError> {
        self.text.get(at).copied().ok_or(JsonError { at, problem: Problem::Truncated })
    }

    pub(crate) fn unexpected(at: usize) -> JsonError {
        JsonError { at, problem: Problem::Unexpected }
    }

    /// Validates the value that starts at `at` and returns the offset after it. A value that is nested deeper than
    /// [`MAX_DEPTH`] is validated by a recursive call; the maximum depth allows only a few such calls.
    pub(crate) fn value(&self, at: usize) -> Result<usize, JsonError> {
        let mut nest = Nesting { kinds: 0, depth: 0, max: self.max_depth.min(MAX_DEPTH) };
        let mut at = at;
        loop {
            at = match self.peek(at)? {
                b'{' | b'[' if nest.is_full() => self.beyond(at)?,
                b'{' => {
                    nest.open(true);
                    let inside = self.space(at + 1);
                    if self.peek(inside)? != b'}' {
                        at = self.key(inside)?.1;
                        continue;
                    }
                    nest.close();
                    inside + 1
                }
                b'[' => {
                    nest.open(false);
                    let inside = self.space(at + 1);
                    if self.peek(inside)? != b']' {
                        at = inside;
                        continue;
                    }
                    nest.close();
                    inside + 1
                }
                _ => self.scalar(at)?,
            };
            // A value has ended. Close the arrays and objects that end with it, or continue with its sibling.
            loop {
                if nest.depth == 0 {
                    return Ok(at);
                }
                at = self.space(at);
                match (self.peek(at)?, nest.in_object()) {
                    (b'}', true) | (b']', false) => {
                        nest.close();
                        at += 1;
                    }
                    (b',', true) => {
                        at = self.key(self.space(at + 1))?.1;
                        break;
                    }
                    (b',', false) => {
                        at = self.space(at + 1);
                        break;
                    }
                    _ => return Err(Self::unexpected(at)),
                }
            }
        }
    }

    /// Validates the array or object at `at`, whose depth exceeds the capacity of [`Nesting`].
    #[cold]
    fn beyond(&self, at: usize) -> Result<usize, JsonError> {
        if self.max_depth <= MAX_DEPTH {
            return Err(JsonError { at, problem: Problem::Depth });
        }
        self.deeper(MAX_DEPTH).value(at)
    }

    /// Validates `"key" :` at `at`; returns the offset after the key's closing quote and the offset of the value.
    pub(crate) fn key(&self, at: usize) -> Result<(usize, usize), JsonError> {
        if self.peek(at)? != b'"' {
            return Err(Self::unexpected(at));
        }
        let end = self.string(at)?;
        let colon = self.space(end);
        if self.peek(colon)? != b':' {
            return Err(Self::unexpected(colon));
        }
        Ok((end, self.space(colon + 1)))
    }

    fn scalar(&self, at: usize) -> Result<usize, JsonError> {
        match self.peek(at)? {
            b'"' => self.string(at),
            b'-' | b'0'..=b'9' => self.number(at),
            b't' => self.literal(at, b"true"),
            b'f' => self.literal(at, b"false"),
            b'n' => self.literal(at, b"null"),
            _ => Err(Self::unexpected(at)),
        }
    }

    fn literal(&self, at: usize, word: &[u8]) -> Result<usize, JsonError> {
        let end = at + word.len();
        match self.text.get(at..end) {
            Some(found) if found == word => Ok(end),
            Some(_) => Err(Self::unexpected(at)),
            None => Err(JsonError { at: self.text.len(), problem: Problem::Truncated }),
        }
    }

    fn number(&self, start: usize) -> Result<usize, JsonError> {
        let bad = |at| JsonError { at, problem: Problem::Number };
        let mut at = start + usize::from(self.text[start] == b'-');
        let digits = |mut at: usize| {
            let from = at;
            while let Some(b'0'..=b'9') = self.text.get(at) {
                at += 1;
            }
            (at, at > from)
        };
        if self.text.get(at) == Some(&b'0') {
            at += 1;
        } else {
            let (end, some) = digits(at);
            if !some {
                return Err(bad(end));
            }
            at = end;
        }
        if self.text.get(at) == Some(&b'.') {
            let (end, some) = digits(at + 1);
            if !some {
                return Err(bad(end));
            }
            at = end;
        }
        if let Some(b'e' | b'E') = self.text.get(at) {
            let sign = usize::from(matches!(self.text.get(at + 1), Some(b'+' | b'-')));
            let (end, some) = digits(at + 1 + sign);
            if !some {
                return Err(bad(end));
            }
            at = end;
        }
        Ok(at)
    }

    /// Validates the string whose opening quote is at `open`; returns the offset after its closing quote.
    fn string(&self, open: usize) -> Result<usize, JsonError> {
        let mut at = open + 1;
        loop {
            at = plain_run(self.text, at);
            match self.peek(at)? {
                b'"' => return Ok(at + 1),
                b'\\' => at = self.escape(at)?,
                _ => return Err(JsonError { at, problem: Problem::Control }),
            }
        }
    }

    fn escape(&self, backslash: usize) -> Result<usize, JsonError> {
        match self.peek(backslash + 1)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Ok(backslash + 2),
            b'u' => {
                for at in backslash + 2..backslash + 6 {
                    if !self.peek(at)?.is_ascii_hexdigit() {
                        return Err(JsonError { at, problem: Problem::Escape });
                    }
                }
                Ok(backslash + 6)
            }
            _ => Err(JsonError { at: backslash + 1, problem: Problem::Escape }),
        }
    }
}

/// The arrays and objects that are open around a value, as a stack of bits: one for an object, zero for an
/// array.
struct Nesting {
    kinds: u128,
    depth: u32,
    max: u32,
}

impl Nesting {
    fn open(&mut self, object: bool) {
        self.depth += 1;
        self.kinds = (self.kinds << 1) | u128::from(object);
    }

    fn is_full(&self) -> bool {
        self.depth == self.max
    }

    fn close(&mut self) {
        self.depth -= 1;
        self.kinds >>= 1;
    }

    fn in_object(&self) -> bool {
        self.kinds & 1 == 1
    }
}

/// The offset of the next quote, backslash or control character. Most strings are short, so the search starts with
/// words of eight bytes; for long strings, the search continues with blocks that compile to vector instructions.
fn plain_run(text: &[u8], start: usize) -> usize {
    let mut at = start;
    let mut words = 0;
    while let Some(word) = text.get(at..at + 8) {
        let hit = special(u64::from_le_bytes(word.try_into().unwrap_or_default()));
        if hit != 0 {
            return at + (hit.trailing_zeros() / 8) as usize;
        }
        at += 8;
        words += 1;
        if words == SHORT {
            at = plain_blocks(text, at);
        }
    }
    while let Some(&b) = text.get(at) {
        if b == b'"' || b == b'\\' || b < 0x20 {
            break;
        }
        at += 1;
    }
    at
}

/// The number of words after which a string is treated as long.
const SHORT: u32 = 6;

/// Sets the high bit of the first byte of a word that is a quote, a backslash or a control character. Higher bytes
/// may be marked wrongly; lower bytes are not.
fn special(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let zero = |x: u64| x.wrapping_sub(ONES) & !x & HIGH;
    let control = word.wrapping_sub(ONES * 0x20) & !word & HIGH;
    control | zero(word ^ (ONES * u64::from(b'"'))) | zero(word ^ (ONES * u64::from(b'\\')))
}

/// The start of the first block of 64 bytes, from `at` on, that is incomplete or contains a special character.
fn plain_blocks(text: &[u8], mut at: usize) -> usize {
    while let Some(block) = text.get(at..at + 64) {
        let special = block
            .iter()
            .fold(0_u8, |any, &b| any | u8::from(b < 0x20) | u8::from(b == b'"') | u8::from(b == b'\\'));
        if special != 0 {
            break;
        }
        at += 64;
    }
    at
}
