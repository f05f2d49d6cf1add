//! The spellings of values: how each value is read, and its form in the JSON Schema. This module must not know any key.

mod amounts;
mod lists;
mod nested;
mod patterns;
mod texts;

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use super::reader::Reader;
use crate::syntax::parse::Entry;
use crate::values::words::Words;

pub(crate) use amounts::{Bytes, Count, Number, Time};
pub(crate) use lists::{List, Mapping, Values, item, refuse_empty, shown_mapping, texts};
pub(crate) use nested::{
    CustomSpelling, MergedSection, ReplacedSection, SchemaOnly, SectionOrFlag, Sections,
};
pub(crate) use patterns::{KnownName, globs, some_globs};
pub(crate) use texts::{
    CheckedText, File, OrEmpty, Parsed, Secret, ServerText, SpellingWithSchema, any_text, path,
};

/// The way in which a value of type `T` is written.
pub(crate) trait Spelling<T> {
    /// Reads a value, or records its faults. `old` is the current value of the key.
    fn read(&self, reader: &mut Reader<'_>, entry: &Entry, old: Option<&T>) -> Option<T>;

    /// The schema of the allowed spellings.
    fn schema(&self, generator: &mut SchemaGenerator) -> Schema;

    /// A value as a user would write it; `null` for none.
    fn written(&self, _value: &T) -> Value {
        Value::Null
    }

    /// The value as operators see it: complete, but without secrets; `null` for none.
    fn shown(&self, value: &T) -> Value {
        self.written(value)
    }

    /// The minimum and the maximum, if there are any.
    fn bounds(&self) -> Option<(String, String)> {
        None
    }
}

/// The spelling of a value that may be absent.
pub(crate) struct Optional<S>(pub(crate) S);

impl<T, S: Spelling<T>> Spelling<Option<T>> for Optional<S> {
    fn read(&self, reader: &mut Reader<'_>, entry: &Entry, old: Option<&Option<T>>) -> Option<Option<T>> {
        self.0.read(reader, entry, old.and_then(Option::as_ref)).map(Some)
    }

    fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        self.0.schema(generator)
    }

    fn written(&self, value: &Option<T>) -> Value {
        value.as_ref().map_or(Value::Null, |value| self.0.written(value))
    }

    fn shown(&self, value: &Option<T>) -> Value {
        value.as_ref().map_or(Value::Null, |value| self.0.shown(value))
    }

    fn bounds(&self) -> Option<(String, String)> {
        self.0.bounds()
    }
}

/// The schema of one value, or of a list of them.
pub(crate) fn one_or_many(one: &Schema) -> Schema {
    json_schema!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] })
}

/// `true` or `false`.
pub(crate) struct Flag;

impl Spelling<bool> for Flag {
    fn read(&self, reader: &mut Reader<'_>, entry: &Entry, _: Option<&bool>) -> Option<bool> {
        reader.flag(&entry.value)
    }

    fn schema(&self, _: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "type": "boolean" }, { "type": "string", "pattern": "\\$\\{" }] })
    }

    fn written(&self, value: &bool) -> Value {
        json!(value)
    }
}

/// One of a few words.
pub(crate) struct Word;

impl<T: Words> Spelling<T> for Word {
    fn read(&self, reader: &mut Reader<'_>, entry: &Entry, _: Option<&T>) -> Option<T> {
        reader.word(&entry.value, T::ALL)
    }

    fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<T>()
    }

    fn written(&self, value: &T) -> Value {
        json!(value.word())
    }
}

/// A selection from a few words: a single word or a list.
pub(crate) struct WordList;

impl<T: Words> Spelling<Vec<T>> for WordList {
    fn read(&self, reader: &mut Reader<'_>, entry: &Entry, _: Option<&Vec<T>>) -> Option<Vec<T>> {
        let mut words = Vec::new();
        for item in reader.items(&entry.value, "a list of strings", true)? {
            let Some(word) = reader.word(item, T::ALL) else { continue };
            if words.contains(&word) {
                reader.fault(&item.at, "this occurs twice", "keep one of the two");
            } else {
                words.push(word);
            }
        }
        Some(words)
    }

    fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        one_or_many(&generator.subschema_for::<T>())
    }

    fn written(&self, words: &Vec<T>) -> Value {
        match &words[..] {
            [] => Value::Null,
            [one] => json!(one.word()),
            all => all.iter().map(|word| word.word()).collect(),
        }
    }
}
