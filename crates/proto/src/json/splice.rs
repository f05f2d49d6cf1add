//! Edits of JSON text as replaced ranges; every other byte stays as it is.

use bytes::Bytes;
use smallvec::SmallVec;

use super::{Members, Span};

/// A set of edits of one buffer, applied in one pass with one allocation.
#[derive(Debug)]
pub struct Splice<'a> {
    source: &'a [u8],
    edits: SmallVec<[(Span, SmallVec<[&'a [u8]; 3]>); 6]>,
}

impl<'a> Splice<'a> {
    /// No edits of `source` yet.
    pub fn new(source: &'a [u8]) -> Self {
        Self { source, edits: SmallVec::new() }
    }

    /// Puts `with` in the place of `span`. Ranges of different edits must not overlap.
    pub fn replace(&mut self, span: Span, with: &'a [u8]) -> &mut Self {
        self.edits.push((span, SmallVec::from_slice(&[with])));
        self
    }

    /// Sets the member `key` (a key that needs no escapes) of an object to `value`: in its place when it is there, else
    /// as the first member. Only one member may be added to the same object.
    pub fn set(&mut self, object: &Members, key: &'a [u8], value: &'a [u8]) -> &mut Self {
        let same = |written: &[u8]| written == key;
        if let Some(member) = object.iter().find(|m| same(m.key.of(self.source))) {
            return self.replace(member.value, value);
        }
        let inside = object.span().start() + 1;
        let comma: &[u8] = if object.is_empty() { b"" } else { b"," };
        self.edits
            .push((Span::new(inside, inside), SmallVec::from_vec(vec![b"\"", key, b"\":", value, comma])));
        self
    }

    /// Removes every member `key` of an object, with the comma that belongs to it.
    pub fn remove(&mut self, object: &Members, key: &[u8]) -> &mut Self {
        let members: SmallVec<[super::Member; 8]> = object.iter().collect();
        let gone = |i: usize| members[i].key.of(self.source) == key;
        let mut kept_before = false;
        let mut ranges: SmallVec<[Span; 2]> = SmallVec::new();
        for (i, member) in members.iter().enumerate() {
            if !gone(i) {
                kept_before = true;
                continue;
            }
            // With a kept member in front the comma before goes, otherwise the one behind.
            let range = if kept_before {
                Span::new(members[i - 1].value.end(), member.value.end())
            } else {
                let end = members.get(i + 1).map_or(member.value.end(), |next| next.key.start() - 1);
                Span::new(member.key.start() - 1, end)
            };
            ranges.push(range);
        }
        for range in ranges {
            self.replace(range, b"");
        }
        self
    }

    /// Whether there is nothing to change.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// The edited text.
    pub fn finish(mut self) -> Bytes {
        self.edits.sort_by_key(|(span, _)| span.start());
        let added: usize = self.edits.iter().flat_map(|(_, pieces)| pieces).map(|p| p.len()).sum();
        let removed: usize = self.edits.iter().map(|(span, _)| span.len()).sum();
        let mut out = Vec::with_capacity(self.source.len() + added - removed);
        let mut at = 0;
        for (span, pieces) in &self.edits {
            debug_assert!(span.start() >= at, "edits overlap");
            out.extend_from_slice(&self.source[at..span.start()]);
            for piece in pieces {
                out.extend_from_slice(piece);
            }
            at = span.end();
        }
        out.extend_from_slice(&self.source[at..]);
        Bytes::from(out)
    }
}
