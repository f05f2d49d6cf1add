//! Texts, and values derived from them.

use std::path::PathBuf;

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use super::Spelling;
use crate::config::check::{Flaw, no_nul};
use crate::config::parse::Entry;
use crate::config::read::Reader;
use crate::config::text::Text;

/// A check that returns the flaw of a text, if the text has one.
pub(in crate::config) type Check = fn(&Text) -> Result<(), Flaw>;

/// A text that must pass a check. The first field is the name of the text in messages.
pub(in crate::config) struct Sound(pub(in crate::config) &'static str, pub(in crate::config) Check);

impl Spelling<Text> for Sound {
    fn read(&self, reader: &mut Reader<'_>, entry: &Entry, _: Option<&Text>) -> Option<Text> {
        let text = reader.text(&entry.value, self.0)?;
        reader.sound_text(&entry.value.at, &text, (self.1)(&text)).map(|()| text)
    }

    fn schema(&self, _: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }

    fn written(&self, text: &Text) -> Value {
        if text.shown().is_empty() { Value::Null } else { json!(text.shown()) }
    }
}

/// Any text; `what` is its name in messages.
pub(in crate::config) fn any_text(what: &'static str) -> Sound {
    Sound(what, |_| Ok(()))
}

/// A text that names a file or a folder.
pub(in crate::config) fn path() -> Sound {
    Sound("a path", |path| match path.expose().trim() {
        "" => Err(Flaw::new("the path is empty", "write a path, or remove the key")),
        path => no_nul(path),
    })
}

/// A text whose literal parts must not be shown.
pub(in crate::config) struct Secret(pub(in crate::config) &'static str, pub(in crate::config) Check);

impl Spelling<Text> for Secret {
    fn read(&self, reader: &mut Reader<'_>, entry: &Entry, _: Option<&Text>) -> Option<Text> {
        let text = reader.secret_text(&entry.value, self.0)?;
        reader.sound(&entry.value.at, (self.1)(&text)).map(|()| text)
    }

    fn schema(&self, _: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }

    fn shown(&self, text: &Text) -> Value {
        json!(text.shown())
    }
}

/// A text for starting or reaching a server.
pub(in crate::config) struct ServerText {
    pub(in crate::config) what: &'static str,
    pub(in crate::config) secret: bool,
    pub(in crate::config) check: Check,
}

impl Spelling<Text> for ServerText {
    fn read(&self, reader: &mut Reader<'_>, entry: &Entry, _: Option<&Text>) -> Option<Text> {
        let text = reader.server_text(&entry.value, self.what, self.secret)?;
        reader.sound(&entry.value.at, (self.check)(&text)).map(|()| text)
    }

    fn schema(&self, _: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "number", "boolean"] })
    }

    fn shown(&self, text: &Text) -> Value {
        json!(text.shown())
    }
}

/// An optional text; an empty one counts as absent.
pub(in crate::config) struct OrEmpty {
    pub(in crate::config) secret: bool,
    pub(in crate::config) check: Check,
}

impl Spelling<Option<Text>> for OrEmpty {
    fn read(&self, reader: &mut Reader<'_>, entry: &Entry, _: Option<&Option<Text>>) -> Option<Option<Text>> {
        let read = if self.secret { Reader::secret_text } else { Reader::text };
        let text = read(reader, &entry.value, "a string")?;
        if text.expose().is_empty() {
            return Some(None);
        }
        reader.sound_text(&entry.value.at, &text, (self.check)(&text)).map(|()| Some(text))
    }

    fn schema(&self, _: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }

    fn shown(&self, text: &Option<Text>) -> Value {
        text.as_ref().map_or(Value::Null, |text| json!(text.shown()))
    }
}

/// A value that is derived from a text. The first field is the name of the text in messages.
pub(in crate::config) struct Parsed(
    pub(in crate::config) &'static str,
    pub(in crate::config) fn(&Text) -> Result<String, Flaw>,
);

impl Spelling<String> for Parsed {
    fn read(&self, reader: &mut Reader<'_>, entry: &Entry, _: Option<&String>) -> Option<String> {
        let text = reader.text(&entry.value, self.0)?;
        reader.sound_text(&entry.value.at, &text, (self.1)(&text))
    }

    fn schema(&self, _: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }

    fn written(&self, text: &String) -> Value {
        json!(text)
    }
}

/// The path of a file.
pub(in crate::config) struct File;

impl Spelling<PathBuf> for File {
    fn read(&self, reader: &mut Reader<'_>, entry: &Entry, _: Option<&PathBuf>) -> Option<PathBuf> {
        path().read(reader, entry, None).map(|path| path.expose().into())
    }

    fn schema(&self, _: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }

    fn shown(&self, path: &PathBuf) -> Value {
        json!(path.display().to_string())
    }
}

/// A value whose spelling the schema describes.
pub(in crate::config) struct Spelt<S> {
    pub(in crate::config) spelling: S,
    /// Members of the schema, a JSON object.
    pub(in crate::config) schema: fn() -> Schema,
}

impl<T, S: Spelling<T>> Spelling<T> for Spelt<S> {
    fn read(&self, reader: &mut Reader<'_>, entry: &Entry, old: Option<&T>) -> Option<T> {
        self.spelling.read(reader, entry, old)
    }

    fn schema(&self, _: &mut SchemaGenerator) -> Schema {
        (self.schema)()
    }

    fn written(&self, value: &T) -> Value {
        self.spelling.written(value)
    }

    fn shown(&self, value: &T) -> Value {
        self.spelling.shown(value)
    }
}
