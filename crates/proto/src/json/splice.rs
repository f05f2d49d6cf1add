//! Edits of JSON text as replaced ranges; all other bytes stay unchanged.

use std::cmp::Reverse;

use bytes::Bytes;
use smallvec::SmallVec;

use super::{Member, Members, Span};

/// A set of edits of one buffer, applied in one pass with one allocation.
///
/// Edits may be given in any order. If two concern the same value or member, the later one wins; an edit inside a
/// range that another edit replaces or removes has no effect.
#[derive(Debug)]
pub struct Splice<'a> {
    source: &'a [u8],
    edits: SmallVec<[Edit<'a>; 6]>,
}

#[derive(Debug)]
struct Edit<'a> {
    /// The edited range: a value, a whole member, or the empty range after an opening brace.
    span: Span,
    what: EditAction<'a>,
}

#[derive(Debug, Clone, Copy)]
enum EditAction<'a> {
    Replace(&'a [u8]),
    /// Keeps a member although it was to be removed.
    Keep,
    /// Adds a member to an object that already has `members` members.
    Add {
        key: &'a [u8],
        value: &'a [u8],
        members: usize,
    },
    /// Removes a member and one comma with it; the other removed members determine which comma.
    Remove {
        /// The start of the object.
        object: usize,
        /// The end of the previous member.
        before: Option<usize>,
        /// The start of the next member.
        behind: Option<usize>,
    },
}

impl<'a> Splice<'a> {
    /// Starts without edits of `source`.
    pub fn new(source: &'a [u8]) -> Self {
        Self { source, edits: SmallVec::new() }
    }

    /// Replaces `span` with `with`. Replaced ranges must be identical or must not overlap, unless one lies within the
    /// other.
    pub fn replace(&mut self, span: Span, with: &'a [u8]) -> &mut Self {
        self.edits.push(Edit { span, what: EditAction::Replace(with) });
        self
    }

    /// Sets the member `key` (a key that needs no escapes) of an object to `value`. This replaces every existing
    /// member of that name, regardless of the spelling of its key. If there is none, the new member comes first.
    pub fn set(&mut self, object: &Members, key: &'a [u8], value: &'a [u8]) -> &mut Self {
        let removes = self.edits.iter().any(|edit| matches!(edit.what, EditAction::Remove { .. }));
        let mut found = false;
        for member in object.iter().filter(|member| object.key_is(member.key.of(self.source), key)) {
            if removes {
                self.edits.push(Edit { span: whole(member), what: EditAction::Keep });
            }
            self.replace(member.value, value);
            found = true;
        }
        if found {
            return self;
        }
        let inside = object.span().start() + 1;
        let span = Span::new(inside, inside);
        let same = |edit: &&mut Edit<'a>| edit.span == span && edit.adds(key);
        let what = EditAction::Add { key, value, members: object.len() };
        match self.edits.iter_mut().find(same) {
            Some(edit) => edit.what = what,
            None => self.edits.push(Edit { span, what }),
        }
        self
    }

    /// Removes every member `key` of an object, regardless of the spelling of its key, with the comma that
    /// belongs to it.
    pub fn remove(&mut self, object: &Members, key: &[u8]) -> &mut Self {
        let start = object.span().start();
        self.edits.retain(|edit| edit.span.start() != start + 1 || !edit.adds(key));
        let members: SmallVec<[Member; 8]> = object.iter().collect();
        for (i, member) in members.iter().enumerate() {
            let span = whole(*member);
            if object.key_is(member.key.of(self.source), key) {
                let before = i.checked_sub(1).map(|i| members[i].value.end());
                let behind = members.get(i + 1).map(|next| whole(*next).start());
                self.edits.push(Edit { span, what: EditAction::Remove { object: start, before, behind } });
            }
        }
        self
    }

    /// Returns true if there is nothing to change.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// The edited text.
    pub fn finish(mut self) -> Bytes {
        self.order();
        let mut out = Vec::with_capacity(self.capacity());
        let mut at = 0;
        // The end of the last member that was removed together with all members before it.
        let mut cleared = None;
        for (i, edit) in self.edits.iter().enumerate() {
            if edit.span.start() < at || matches!(edit.what, EditAction::Keep) {
                continue;
            }
            let mut range = edit.span.start()..edit.span.end();
            if let EditAction::Remove { before, behind, .. } = edit.what {
                if let Some(before) = before.filter(|before| cleared != Some(*before)) {
                    range.start = before;
                } else {
                    cleared = Some(range.end);
                    range.end = behind.unwrap_or(range.end);
                }
            }
            out.extend_from_slice(&self.source[at..range.start]);
            at = range.end;
            match edit.what {
                EditAction::Replace(with) => out.extend_from_slice(with),
                EditAction::Add { key, value, members } => {
                    let comma: &[u8] = if self.comma_behind(i, members) { b"," } else { b"" };
                    for piece in [b"\"", key, b"\":", value, comma] {
                        out.extend_from_slice(piece);
                    }
                }
                EditAction::Remove { .. } | EditAction::Keep => {}
            }
        }
        out.extend_from_slice(&self.source[at..]);
        Bytes::from(out)
    }

    /// Sorts the edits by position and keeps one for each range.
    fn order(&mut self) {
        // An added member precedes edits that start at the same position. Of two other edits, the one with
        // the wider range is first.
        self.edits.sort_by_key(|edit| {
            (edit.span.start(), !matches!(edit.what, EditAction::Add { .. }), Reverse(edit.span.end()))
        });
        self.edits.dedup_by(|later, earlier| {
            let same = later.span == earlier.span && !matches!(later.what, EditAction::Add { .. });
            if same {
                earlier.what = later.what;
            }
            same
        });
    }

    /// Returns true if another member follows the member that edit `i` adds to its object. `members` is the number
    /// of members that the object already has.
    fn comma_behind(&self, i: usize, members: usize) -> bool {
        let span = self.edits[i].span;
        let another = |edit: &Edit<'_>| edit.span == span && matches!(edit.what, EditAction::Add { .. });
        let removed = |edit: &&Edit<'_>| matches!(edit.what, EditAction::Remove { object, .. } if object + 1 == span.start());
        self.edits.get(i + 1).is_some_and(another) || self.edits.iter().filter(removed).count() < members
    }

    /// The capacity for the edited text; larger than needed if something is removed.
    fn capacity(&self) -> usize {
        let (mut added, mut replaced) = (0, 0);
        for (i, edit) in self.edits.iter().enumerate() {
            match edit.what {
                EditAction::Replace(with) => {
                    added += with.len();
                    replaced += edit.span.len();
                }
                EditAction::Add { key, value, members } => {
                    added += key.len() + value.len() + 3 + usize::from(self.comma_behind(i, members));
                }
                EditAction::Remove { .. } | EditAction::Keep => {}
            }
        }
        // Ineffective edits may replace more bytes than there are.
        (self.source.len() + added).saturating_sub(replaced)
    }
}

impl Edit<'_> {
    fn adds(&self, wanted: &[u8]) -> bool {
        matches!(self.what, EditAction::Add { key, .. } if key == wanted)
    }
}

/// The span of a member, including its key.
fn whole(member: Member) -> Span {
    Span::new(member.key.start() - 1, member.value.end())
}
