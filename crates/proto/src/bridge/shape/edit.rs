//! Changes to one JSON value: members of an object set and taken out, elements of an array rewritten.
//!
//! Every function takes the text of one value that was validated before. It must not know what the members mean.

use std::borrow::Cow;

use bytes::Bytes;
use smallvec::SmallVec;

use crate::json::{MAX_DEPTH, Members, Scanner, Span, Splice, unquote};

/// One object and what is to be changed in it.
#[derive(Debug)]
pub(super) struct Draft<'a> {
    text: &'a [u8],
    members: Members,
    changes: SmallVec<[Change; 4]>,
}

#[derive(Debug)]
enum Change {
    Set(&'static str, Bytes),
    Replace(Span, Bytes),
    Remove(&'static str),
}

impl<'a> Draft<'a> {
    /// The object that `text` is; `None` when it is something else.
    pub(super) fn of(text: &'a [u8]) -> Option<Self> {
        let scanner = Scanner::trusted(text, MAX_DEPTH);
        let members = Members::scan(scanner, scanner.space(0)).ok()?;
        Some(Self { text, members, changes: SmallVec::new() })
    }

    /// The value of a member as it came, changes aside.
    pub(super) fn get(&self, key: &str) -> Option<&'a [u8]> {
        self.members.get(self.text, key).map(|span| span.of(self.text))
    }

    /// The members: each key as written between its quotes, its value and where that stands.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8], Span)> {
        let text = self.text;
        self.members.iter().map(move |member| (member.key.of(text), member.value.of(text), member.value))
    }

    /// Sets a member to a JSON value.
    pub(super) fn set(&mut self, key: &'static str, value: impl Into<Bytes>) {
        self.changes.push(Change::Set(key, value.into()));
    }

    /// Puts a JSON value in the place of one that stands in the object.
    pub(super) fn replace(&mut self, place: Span, value: impl Into<Bytes>) {
        self.changes.push(Change::Replace(place, value.into()));
    }

    /// Takes a member out, where there is one.
    pub(super) fn remove(&mut self, key: &'static str) {
        if self.members.get(self.text, key).is_some() {
            self.changes.push(Change::Remove(key));
        }
    }

    /// Takes members out.
    pub(super) fn remove_all(&mut self, keys: &[&'static str]) {
        for key in keys {
            self.remove(key);
        }
    }

    /// Rewrites the value of a member, where there is one and `change` gives another.
    pub(super) fn rewrite(&mut self, key: &'static str, change: impl FnOnce(&'a [u8]) -> Option<Bytes>) {
        if let Some(value) = self.get(key).and_then(change) {
            self.set(key, value);
        }
    }

    /// Takes members out of the object that the member `key` is, and that one with the last of them.
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

    /// The changed object; `None` when nothing was changed.
    pub(super) fn finish(self) -> Option<Bytes> {
        if self.changes.is_empty() {
            return None;
        }
        let mut splice = Splice::new(self.text);
        for change in &self.changes {
            match change {
                Change::Set(key, value) => splice.set(&self.members, key.as_bytes(), value),
                Change::Replace(place, value) => splice.replace(*place, value),
                Change::Remove(key) => splice.remove(&self.members, key.as_bytes()),
            };
        }
        Some(splice.finish())
    }

    /// The changed object, or the text itself (which `whole` shares) when nothing was changed.
    pub(super) fn finish_or(self, whole: &Bytes) -> Bytes {
        self.finish().unwrap_or_else(|| whole.clone())
    }
}

/// What becomes of one element of an array.
#[derive(Debug)]
pub(super) enum Element {
    /// It stays as it is.
    Same,
    /// Something else stands in its place: one value, or several with commas between them.
    Changed(Bytes),
    /// It goes.
    Gone,
}

impl From<Option<Bytes>> for Element {
    fn from(changed: Option<Bytes>) -> Self {
        changed.map_or(Self::Same, Self::Changed)
    }
}

/// The elements of the array that `text` is; none when it is something else.
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

/// Rewrites the elements of an array one by one; `None` when nothing is changed (or `text` is no array).
pub(super) fn each(text: &[u8], mut change: impl FnMut(usize, &[u8]) -> Element) -> Option<Bytes> {
    let mut changed: Option<Vec<u8>> = None;
    // How much of the text stands before the first change: the elements up to there, the comma behind them not.
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

/// The text up to the end of the last element that was kept, or a bare opening bracket.
fn start_of(text: &[u8], kept: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 64);
    if kept == 0 {
        out.push(b'[');
    } else {
        out.extend_from_slice(&text[..kept]);
    }
    out
}

/// Where a part of `text` starts in it.
fn offset(text: &[u8], part: &[u8]) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}

/// The meaning of the string that `value` is; `None` for other values and for strings that no `str` can hold.
pub(super) fn string(value: &[u8]) -> Option<Cow<'_, str>> {
    unquote(inner(value)?)
}

/// The inside of the string that `value` is, as written.
pub(super) fn inner(value: &[u8]) -> Option<&[u8]> {
    value.strip_prefix(b"\"")?.strip_suffix(b"\"")
}

/// Returns true if `value` is this string.
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
