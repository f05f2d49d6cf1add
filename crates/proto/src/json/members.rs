//! The members of an object and the elements of an array: only their spans.

use smallvec::SmallVec;

use super::{JsonError, Problem, Scanner, Span, unquote};

/// One member of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member {
    /// The key as written, between its quotes (escapes are not resolved).
    pub key: Span,
    /// The value as written.
    pub value: Span,
}

/// A key that occurs twice in one object. Two readers may then act on different values, so a member that determines
/// the gateway's behavior must be unique.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the member \"{0}\" occurs twice")]
pub struct Duplicate(pub &'static str);

/// The members of one object, in the order of the text.
#[derive(Debug, Clone, Default)]
pub struct Members {
    span: Span,
    list: SmallVec<[Member; 8]>,
    /// True if any key is written with escapes, which is rare and makes comparisons slower.
    escaped: bool,
}

impl Members {
    /// Scans `text` as one object, with nothing but white space around it.
    ///
    /// # Errors
    /// A fault in the text, or [`Problem::Unexpected`] if it is not an object.
    pub fn of_document(text: &[u8], max_depth: u32) -> Result<Self, JsonError> {
        let scanner = Scanner::new(text, max_depth)?;
        let members = Self::scan(scanner, scanner.space(0))?;
        scanner.finish(members.span.end())?;
        Ok(members)
    }

    /// The members of the object at `span` of validated text; `None` if it is not an object.
    pub fn of_value(text: &[u8], span: Span) -> Option<Self> {
        Self::scan(Scanner::trusted(text, super::LIST_DEPTH), span.start()).ok()
    }

    /// Scans and validates the object that starts at `at`.
    pub(crate) fn scan(scanner: Scanner<'_>, at: usize) -> Result<Self, JsonError> {
        let mut members = Self::default();
        members.scan_into(scanner, at, |_, _, at| scanner.deeper(1).value(at))?;
        Ok(members)
    }

    /// Scans the object at `open` into these members, which must be empty; returns the offset after the object.
    /// `value` validates each member's value (given key and offset) and returns its end; it can also inspect
    /// members in the same pass.
    pub(crate) fn scan_into(
        &mut self,
        scanner: Scanner<'_>,
        open: usize,
        mut value: impl FnMut(Scanner<'_>, Span, usize) -> Result<usize, JsonError>,
    ) -> Result<usize, JsonError> {
        if scanner.peek(open)? != b'{' {
            return Err(Scanner::unexpected(open));
        }
        if scanner.max_depth() == 0 {
            return Err(JsonError { at: open, problem: Problem::Depth });
        }
        let mut at = scanner.space(open + 1);
        if scanner.peek(at)? == b'}' {
            self.span = Span::new(open, at + 1);
            return Ok(at + 1);
        }
        loop {
            let (key_end, start) = scanner.key(at)?;
            let key = Span::new(at + 1, key_end - 1);
            // Keys are short, so a search that is optimized for long texts would take longer.
            self.escaped |= key.of(scanner.text()).contains(&b'\\');
            let end = value(scanner, key, start)?;
            self.list.push(Member { key, value: Span::new(start, end) });
            at = scanner.space(end);
            match scanner.peek(at)? {
                b',' => at = scanner.space(at + 1),
                b'}' => {
                    self.span = Span::new(open, at + 1);
                    return Ok(at + 1);
                }
                _ => return Err(Scanner::unexpected(at)),
            }
        }
    }

    /// Returns true if any key is written with escapes.
    pub(crate) fn is_escaped(&self) -> bool {
        self.escaped
    }

    /// The span of the object, braces included.
    pub fn span(&self) -> Span {
        self.span
    }

    /// The members in the order of the text.
    pub fn iter(&self) -> impl Iterator<Item = Member> + '_ {
        self.list.iter().copied()
    }

    /// The number of members; a repeated key counts each time.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns true if the object has no members.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The value of `key`; if the key occurs twice, the last value, as in most parsers. `text` is the scanned buffer. Use
    /// [`Members::unique`] for a value that a decision depends on.
    pub fn get(&self, text: &[u8], key: &str) -> Option<Span> {
        self.list.iter().rev().find(|m| self.key_is(m.key.of(text), key.as_bytes())).map(|m| m.value)
    }

    /// Returns true if a key as written means `name`; escapes are resolved only if there are any.
    pub(super) fn key_is(&self, written: &[u8], name: &[u8]) -> bool {
        written == name || (self.escaped && unquote(written).is_some_and(|key| key.as_bytes() == name))
    }

    /// The value of `key`; an error if the key occurs twice.
    pub fn unique(&self, text: &[u8], key: &'static str) -> Result<Option<Span>, Duplicate> {
        let mut found = None;
        for m in &self.list {
            // The length of a key is enough to rule out most members.
            if (m.key.len() != key.len() && !self.escaped) || !self.key_is(m.key.of(text), key.as_bytes()) {
                continue;
            }
            if found.replace(m.value).is_some() {
                return Err(Duplicate(key));
            }
        }
        Ok(found)
    }
}

/// The elements of one array, in the order of the text.
#[derive(Debug, Clone)]
pub struct Elements {
    list: Vec<Span>,
}

impl Elements {
    /// The elements of the array at `span` of validated text; `None` if it is not an array.
    pub fn of_value(text: &[u8], span: Span) -> Option<Self> {
        Self::scan(Scanner::trusted(text, super::LIST_DEPTH), span.start(), usize::MAX).ok().map(|(e, _)| e)
    }

    /// Scans and validates the array at `open`, of at most `max` elements; also returns the offset after it.
    pub(crate) fn scan(scanner: Scanner<'_>, open: usize, max: usize) -> Result<(Self, usize), JsonError> {
        if scanner.peek(open)? != b'[' {
            return Err(Scanner::unexpected(open));
        }
        if scanner.max_depth() == 0 {
            return Err(JsonError { at: open, problem: Problem::Depth });
        }
        let mut list = Vec::new();
        let mut at = scanner.space(open + 1);
        if scanner.peek(at)? == b']' {
            return Ok((Self { list }, at + 1));
        }
        loop {
            if list.len() == max {
                return Err(JsonError { at, problem: Problem::TooLarge });
            }
            let end = scanner.deeper(1).value(at)?;
            list.push(Span::new(at, end));
            at = scanner.space(end);
            match scanner.peek(at)? {
                b',' => at = scanner.space(at + 1),
                b']' => return Ok((Self { list }, at + 1)),
                _ => return Err(Scanner::unexpected(at)),
            }
        }
    }

    /// The elements in the order of the text.
    pub fn iter(&self) -> impl Iterator<Item = Span> + '_ {
        self.list.iter().copied()
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns true if the array has no elements.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}
