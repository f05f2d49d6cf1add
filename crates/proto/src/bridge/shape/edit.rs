//! Changes to one JSON value: set and removed members of an object, rewritten elements of an array.
//!
//! Every function takes the text of one value that was validated before. This module must not know what the members
//! mean.

use std::borrow::Cow;

use bytes::Bytes;
use smallvec::SmallVec;

use crate::json::{MAX_DEPTH, Members, Scanner, Span, Splice, unquote};

/// One object and the pending changes to it.
#[derive(Debug)]
pub(super) struct Draft<'a> {
    text: &'a [u8],
    members: Members,
    changes: SmallVec<[MemberChange; 4]>,
}

#[derive(Debug)]
enum MemberChange {
    Set(&'static str, Bytes),
    Replace(Span, Bytes),
    Remove(&'static str),
}

impl<'a> Draft<'a> {
    /// Reads `text` as an object; `None` if it is something else.
    pub(super) fn of(text: &'a [u8]) -> Option<Self> {
        Self::within(text, Scanner::trusted(text, MAX_DEPTH).space(0))
    }

    /// Reads the object that begins at `start` of a longer text; `None` if it is something else. The object's spans
    /// refer to the longer text.
    pub(super) fn within(text: &'a [u8], start: usize) -> Option<Self> {
        let members = Members::scan(Scanner::trusted(text, MAX_DEPTH), start).ok()?;
        Some(Self { text, members, changes: SmallVec::new() })
    }

    /// An object that is known to stay unchanged. Its members are not read.
    pub(super) fn unread(text: &'a [u8]) -> Self {
        Self { text, members: Members::default(), changes: SmallVec::new() }
    }

    /// The original value of a member, without the changes.
    pub(super) fn get(&self, key: &str) -> Option<&'a [u8]> {
        self.members.get(self.text, key).map(|span| span.of(self.text))
    }

    /// The members: each key as written between its quotes, its value, and the span of the value.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8], Span)> {
        let text = self.text;
        self.members.iter().map(move |member| (member.key.of(text), member.value.of(text), member.value))
    }

    /// Sets a member to a JSON value.
    pub(super) fn set(&mut self, key: &'static str, value: impl Into<Bytes>) {
        self.changes.push(MemberChange::Set(key, value.into()));
    }

    /// Replaces the JSON value at `place` in the object.
    pub(super) fn replace(&mut self, place: Span, value: impl Into<Bytes>) {
        self.changes.push(MemberChange::Replace(place, value.into()));
    }

    /// Removes a member, if there is one.
    pub(super) fn remove(&mut self, key: &'static str) {
        if self.members.get(self.text, key).is_some() {
            self.changes.push(MemberChange::Remove(key));
        }
    }

    /// Removes the members with these keys, if there are any.
    pub(super) fn remove_all(&mut self, keys: &[&'static str]) {
        for key in keys {
            self.remove(key);
        }
    }

    /// Rewrites the value of a member, if there is one and `change` returns another value.
    pub(super) fn rewrite(&mut self, key: &'static str, change: impl FnOnce(&'a [u8]) -> Option<Bytes>) {
        if let Some(value) = self.get(key).and_then(change) {
            self.set(key, value);
        }
    }

    /// Removes members from the object under `key`; removes that object, too, once it is empty.
    pub(super) fn remove_within(&mut self, key: &'static str, keys: &[&'static str]) {
        let Some(mut inside) = self.get(key).and_then(Draft::of) else { return };
        let all = inside.entries().all(|(name, ..)| unquote(name).is_some_and(|name| keys.contains(&&*name)));
        inside.remove_all(keys);
        if inside.changes.is_empty() {
            return;
        }
        match inside.finish() {
            Some(rest) if !all => self.set(key, rest),
            _ => self.remove(key),
        }
    }

    /// The changed object; `None` if nothing changed.
    pub(super) fn finish(self) -> Option<Bytes> {
        if self.changes.is_empty() {
            return None;
        }
        let mut splice = Splice::new(self.text);
        self.apply(&mut splice);
        Some(splice.finish())
    }

    /// Makes the changes in `splice`, which edits the text that this object was read from.
    pub(super) fn apply<'s>(&'s self, splice: &mut Splice<'s>) {
        for change in &self.changes {
            match change {
                MemberChange::Set(key, value) => splice.set(&self.members, key.as_bytes(), value),
                MemberChange::Replace(place, value) => splice.replace(*place, value),
                MemberChange::Remove(key) => splice.remove(&self.members, key.as_bytes()),
            };
        }
    }

    /// The changed object, or the text itself (shared with `whole`) if nothing changed.
    pub(super) fn finish_or(self, whole: &Bytes) -> Bytes {
        self.finish().unwrap_or_else(|| whole.clone())
    }
}

/// The result of rewriting one element of an array.
#[derive(Debug)]
pub(super) enum Element {
    /// The element stays unchanged.
    Same,
    /// Another text replaces the element: one value, or several separated by commas.
    Changed(Bytes),
    /// The element is removed.
    Gone,
}

impl From<Option<Bytes>> for Element {
    fn from(changed: Option<Bytes>) -> Self {
        changed.map_or(Self::Same, Self::Changed)
    }
}

/// The elements of the array `text`; none if it is something else.
pub(super) fn elements(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let scanner = Scanner::trusted(text, MAX_DEPTH);
    let open = scanner.space(0);
    let mut at = if text.get(open) == Some(&b'[') { scanner.space(open + 1) } else { text.len() };
    std::iter::from_fn(move || {
        if matches!(text.get(at), None | Some(b']')) {
            return None;
        }
        let start = at;
        let end = scanner.value(start).ok()?;
        at = scanner.space(end);
        if text.get(at) == Some(&b',') {
            at = scanner.space(at + 1);
        }
        Some(&text[start..end])
    })
}

/// Rewrites the elements of an array one by one; `None` if nothing changed (or `text` is not an array).
pub(super) fn each(text: &[u8], mut change: impl FnMut(usize, &[u8]) -> Element) -> Option<Bytes> {
    let mut changed: Option<Vec<u8>> = None;
    // The length of the text before the first change: all elements up to there, without the comma that follows them.
    let mut kept = 0;
    for (index, element) in elements(text).enumerate() {
        let becomes = change(index, element);
        if let (Element::Same, None) = (&becomes, &changed) {
            kept = offset(text, element) + element.len();
            continue;
        }
        let out = changed.get_or_insert_with(|| start_of(text, kept));
        let with: &[u8] = match &becomes {
            Element::Same => element,
            Element::Changed(with) => with,
            Element::Gone => continue,
        };
        if out.last() != Some(&b'[') {
            out.push(b',');
        }
        out.extend_from_slice(with);
    }
    changed.map(|mut out| {
        out.push(b']');
        Bytes::from(out)
    })
}

/// The text up to the end of the last element that was kept, or the opening bracket alone.
fn start_of(text: &[u8], kept: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 64);
    if kept == 0 {
        out.push(b'[');
    } else {
        out.extend_from_slice(&text[..kept]);
    }
    out
}

/// The offset of `part` in `text`, of which it is a slice.
fn offset(text: &[u8], part: &[u8]) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}

/// The decoded string `value`; `None` for other values and for strings that no `str` can hold.
pub(super) fn string(value: &[u8]) -> Option<Cow<'_, str>> {
    unquote(inner(value)?)
}

/// The text inside the string `value`, as written.
pub(super) fn inner(value: &[u8]) -> Option<&[u8]> {
    value.strip_prefix(b"\"")?.strip_suffix(b"\"")
}

/// Returns true if `value` is a JSON string that decodes to `meaning`.
pub(super) fn is(value: Option<&[u8]>, meaning: &str) -> bool {
    value.and_then(string).is_some_and(|text| text == meaning)
}

/// Returns true if `value` is an object.
pub(super) fn is_object(value: &[u8]) -> bool {
    value.first() == Some(&b'{')
}

/// Returns true if `value` is an array.
pub(super) fn is_array(value: &[u8]) -> bool {
    value.first() == Some(&b'[')
}
