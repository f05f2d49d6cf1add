//! Splices, compared with a model: a list of members to which the same edits are applied.

use proto::json::{MAX_DEPTH, Members, Splice};

use super::reference::Object;

/// The keys that edits concern.
pub const KEYS: [&str; 4] = ["a", "b", "name", "_meta"];
/// The values that edits insert.
pub const VALUES: [&str; 4] = ["1e2", "{}", "[1, 2]", "\"\\u0061\""];

/// One edit of an object.
#[derive(Clone, Copy, Debug)]
pub enum Edit {
    /// Sets a key (number in [`KEYS`]) to a value (number in [`VALUES`]).
    Set(usize, usize),
    /// Removes a key.
    Remove(usize),
    /// Replaces the value of one member, by its place in the object.
    Replace(usize, usize),
}

impl Edit {
    /// Returns the edit that a byte encodes.
    pub fn of_byte(byte: u8) -> Self {
        let (key, value) = (usize::from(byte >> 2 & 3), usize::from(byte >> 4 & 3));
        match byte & 3 {
            0 | 1 => Self::Set(key, value),
            2 => Self::Remove(key),
            _ => Self::Replace(usize::from(byte >> 2 & 7), value),
        }
    }
}

/// The fuzzer's entry.
pub fn fuzz(input: &[u8]) {
    let [count, rest @ ..] = input else { return };
    let (edits, text) = rest.split_at(rest.len().min(usize::from(count % 8)));
    let edits: Vec<Edit> = edits.iter().copied().map(Edit::of_byte).collect();
    check(text, &edits);
}

/// Checks that the edited text is an object with the same members as the model, in the same order, and that everything
/// that no edit concerns stays the same, byte for byte.
pub fn check(text: &[u8], edits: &[Edit]) {
    let (Ok(members), Some(object)) = (Members::of_document(text, MAX_DEPTH), Object::read(text)) else {
        return;
    };
    let mut splice = Splice::new(text);
    let mut model = Model::new(&object);
    for edit in edits {
        match *edit {
            Edit::Set(key, value) => {
                splice.set(&members, KEYS[key].as_bytes(), VALUES[value].as_bytes());
                model.set(KEYS[key], VALUES[value]);
            }
            Edit::Remove(key) => {
                splice.remove(&members, KEYS[key].as_bytes());
                model.remove(KEYS[key]);
            }
            Edit::Replace(at, value) => {
                let Some(member) = members.iter().nth(at) else { continue };
                splice.replace(member.value, VALUES[value].as_bytes());
                model.replace(at, VALUES[value]);
            }
        }
    }
    let edited = splice.finish();
    model.compare(&edited);
    let (before, behind) = (members.span().start(), text.len() - members.span().end());
    assert_eq!(edited[..before], text[..before]);
    assert_eq!(edited[edited.len() - behind..], text[text.len() - behind..]);
    if model.added.is_empty() && model.kept.iter().all(|member| member.value.is_some()) {
        assert_eq!(edited, model.substituted(text, &members));
    }
}

/// Checks an object with very many members of one name, all of which are edited together.
pub fn check_large(text: &[u8], key: &str) {
    let members = Members::of_document(text, MAX_DEPTH).expect("an object");
    let mut splice = Splice::new(text);
    splice.set(&members, key.as_bytes(), b"2").remove(&members, key.as_bytes());
    splice.set(&members, key.as_bytes(), b"3").remove(&members, key.as_bytes());
    splice.set(&members, b"new", b"4");
    let edited = splice.finish();
    let left = Object::read(&edited).expect("still an object");
    assert!(left.all(key).is_empty());
    assert_eq!(
        left.0.len(),
        members.iter().filter(|member| member.key.of(text) != key.as_bytes()).count() + 1
    );
}

struct Model<'a> {
    added: Vec<(&'a str, &'a str)>,
    kept: Vec<Kept<'a>>,
}

struct Kept<'a> {
    key: String,
    /// `None` if the member was removed.
    value: Option<&'a str>,
}

impl<'a> Model<'a> {
    fn new(object: &Object<'a>) -> Self {
        let kept = object.0.iter().map(|(key, value)| Kept { key: key.clone(), value: Some(value.get()) });
        Self { added: Vec::new(), kept: kept.collect() }
    }

    fn set(&mut self, key: &'a str, value: &'a str) {
        let mut found = false;
        for member in self.kept.iter_mut().filter(|member| member.key == key) {
            member.value = Some(value);
            found = true;
        }
        for (_, own) in self.added.iter_mut().filter(|(own, _)| *own == key) {
            *own = value;
            found = true;
        }
        if !found {
            self.added.push((key, value));
        }
    }

    fn remove(&mut self, key: &str) {
        self.kept.iter_mut().filter(|member| member.key == key).for_each(|member| member.value = None);
        self.added.retain(|(own, _)| *own != key);
    }

    fn replace(&mut self, at: usize, value: &'a str) {
        if let Some(own) = &mut self.kept[at].value {
            *own = value;
        }
    }

    fn compare(&self, edited: &[u8]) {
        let object = Object::read(edited);
        let object = object.unwrap_or_else(|| panic!("broken: {}", edited.escape_ascii()));
        let found: Vec<_> = object.0.iter().map(|(key, value)| (key.as_str(), value.get())).collect();
        let kept = self.kept.iter().filter_map(|member| Some((member.key.as_str(), member.value?)));
        let expected: Vec<_> = self.added.iter().copied().chain(kept).collect();
        assert_eq!(found, expected);
    }

    /// Returns the text in which only the values of members are replaced.
    fn substituted(&self, text: &[u8], members: &Members) -> Vec<u8> {
        let mut out = Vec::new();
        let mut at = 0;
        for (member, kept) in members.iter().zip(&self.kept) {
            out.extend_from_slice(&text[at..member.value.start()]);
            out.extend_from_slice(kept.value.unwrap_or_default().as_bytes());
            at = member.value.end();
        }
        out.extend_from_slice(&text[at..]);
        out
    }
}
