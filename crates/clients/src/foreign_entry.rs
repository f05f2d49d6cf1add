//! A client's entry while it is being converted to an entry of Dragoman. This module must not know any client.

use serde_json::{Map, Value};

/// An entry of a client that is being converted to an entry of Dragoman.
#[derive(Debug)]
pub(crate) struct ForeignEntry<'a> {
    pub(crate) name: &'a str,
    pub(crate) members: Map<String, Value>,
    /// The whole settings.
    pub(crate) document: &'a Value,
    /// The folder of the project, if the settings belong to one.
    pub(crate) project: Option<&'a str>,
    pub(crate) notes: Vec<String>,
}

impl ForeignEntry<'_> {
    pub(crate) fn text(&self, key: &str) -> Option<String> {
        self.members.get(key).and_then(Value::as_str).map(str::to_owned)
    }

    pub(crate) fn take_text(&mut self, key: &str) -> Option<String> {
        let text = self.text(key);
        self.members.shift_remove(key);
        text
    }

    pub(crate) fn put(&mut self, key: &str, value: Value) {
        self.members.insert(key.to_owned(), value);
    }

    /// Removes a key, and adds a note if the key existed.
    pub(crate) fn note_if(&mut self, key: &str, note: &str) {
        if self.members.shift_remove(key).is_some() {
            self.notes.push(note.to_owned());
        }
    }

    /// Turns a time in milliseconds into seconds, rounded up.
    pub(crate) fn milliseconds(&mut self, key: &str) {
        if let Some(time) = self.members.get(key).and_then(Value::as_u64) {
            self.put(key, time.div_ceil(1000).max(1).into());
        }
    }
}
