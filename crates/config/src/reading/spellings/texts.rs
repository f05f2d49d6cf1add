//! Texts, and values derived from them.

use std::path::PathBuf;

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use super::Spelling;
use crate::reading::reader::Reader;
use crate::syntax::parse::Entry;
use crate::values::check::{Flaw, no_nul};
use crate::values::text::Text;

/// A check that returns the flaw of a text, if the text has one.
pub(crate) type Check = fn(&Text) -> Result<(), Flaw>;

/// A text that must pass a check. The first field is the name of the text in messages.
pub(crate) struct CheckedText(pub(crate) &'static str, pub(crate) Check);

impl Spelling<Text> for CheckedText {
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
pub(crate) fn any_text(what: &'static str) -> CheckedText {
    CheckedText(what, |_| Ok(()))
}

/// A text that names a file or a folder.
pub(crate) fn path() -> CheckedText {
    CheckedText("a path", |path| match path.expose().trim() {
        "" => Err(Flaw::new("the path is empty", "write a path, or remove the key")),
        path => no_nul(path),
    })
}

/// A text whose literal parts must not be shown.
pub(crate) struct Secret(pub(crate) &'static str, pub(crate) Check);

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
pub(crate) struct ServerText {
    pub(crate) what: &'static str,
    pub(crate) secret: bool,
    pub(crate) check: Check,
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

/// An optional text; an empty text is treated as absent.
pub(crate) struct OrEmpty {
    pub(crate) secret: bool,
    pub(crate) check: Check,
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
pub(crate) struct Parsed(pub(crate) &'static str, pub(crate) fn(&Text) -> Result<String, Flaw>);

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
pub(crate) struct File;

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

/// A spelling whose schema is given separately.
pub(crate) struct SpellingWithSchema<S> {
    pub(crate) spelling: S,
    /// Returns the schema.
    pub(crate) schema: fn() -> Schema,
}

impl<T, S: Spelling<T>> Spelling<T> for SpellingWithSchema<S> {
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
