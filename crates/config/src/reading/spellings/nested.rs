//! Sections inside sections.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use super::lists::item;
use super::{Flag, Spelling, one_or_many};
use crate::reading::reader::Reader;
use crate::reading::section::{self, Section};
use crate::syntax::parse::{Entry, NodeKind};

/// A section on top of the existing one: missing keys keep their values.
pub(crate) struct MergedSection;

impl<S: Section> Spelling<S> for MergedSection {
    fn read(&self, reader: &mut Reader<'_>, entry: &Entry, old: Option<&S>) -> Option<S> {
        section::read(reader, entry, old.cloned().unwrap_or_default())
    }

    fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<S>()
    }

    fn shown(&self, value: &S) -> Value {
        section::shown(value)
    }
}

/// A section that replaces the existing one.
pub(crate) struct ReplacedSection;

impl<S: Section> Spelling<S> for ReplacedSection {
    fn read(&self, reader: &mut Reader<'_>, entry: &Entry, _: Option<&S>) -> Option<S> {
        section::read(reader, entry, S::default())
    }

    fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<S>()
    }

    fn shown(&self, value: &S) -> Value {
        section::shown(value)
    }
}

/// `true`, `false`, or a section.
pub(crate) struct SectionOrFlag;

impl<S: Section> Spelling<Option<S>> for SectionOrFlag {
    fn read(&self, reader: &mut Reader<'_>, entry: &Entry, old: Option<&Option<S>>) -> Option<Option<S>> {
        let old = old.cloned().flatten().unwrap_or_default();
        if let NodeKind::Scalar { .. } = &entry.value.kind {
            return Some(reader.flag(&entry.value)?.then_some(old));
        }
        section::read(reader, entry, old).map(Some)
    }

    fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [Flag.schema(generator), generator.subschema_for::<S>()] })
    }

    fn shown(&self, value: &Option<S>) -> Value {
        value.as_ref().map_or(json!(false), section::shown)
    }
}

/// A list of sections, which replaces the existing one.
pub(crate) struct Sections {
    /// The list as messages describe it.
    pub(crate) what: &'static str,
    /// The items as messages describe them.
    pub(crate) items: &'static str,
    /// The minimum and the maximum number of items.
    pub(crate) least: usize,
    pub(crate) most: usize,
    /// Advice on the number of items.
    pub(crate) help: &'static str,
}

impl<S: Section> Spelling<Vec<S>> for Sections {
    fn read(&self, reader: &mut Reader<'_>, entry: &Entry, _: Option<&Vec<S>>) -> Option<Vec<S>> {
        let items = match &entry.value.kind {
            NodeKind::Map(_) => vec![&entry.value],
            _ => reader.items(&entry.value, self.what, false)?,
        };
        if !(self.least..=self.most).contains(&items.len()) {
            let message = format!("this list has {} {}", items.len(), self.items);
            reader.fault(&entry.value.at, message, self.help);
            return None;
        }
        let mut sections = Vec::new();
        for (index, node) in items.into_iter().enumerate() {
            let item = item(index, node);
            sections.extend(reader.within(&item.key, |reader| section::read(reader, &item, S::default())));
        }
        Some(sections)
    }

    fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<S>();
        if self.least > 0 { one_or_many(&one) } else { json_schema!({ "type": "array", "items": one }) }
    }

    fn shown(&self, values: &Vec<S>) -> Value {
        if values.is_empty() { Value::Null } else { values.iter().map(section::shown).collect() }
    }
}

/// Reads a value on top of the current value of the key.
type ValueReader<T> = fn(&mut Reader<'_>, &Entry, Option<&T>) -> Option<T>;

/// A value with its own reader and schema.
pub(crate) struct CustomSpelling<T>(pub(crate) ValueReader<T>, pub(crate) fn(&mut SchemaGenerator) -> Schema);

impl<T> Spelling<T> for CustomSpelling<T> {
    fn read(&self, reader: &mut Reader<'_>, entry: &Entry, old: Option<&T>) -> Option<T> {
        (self.0)(reader, entry, old)
    }

    fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        (self.1)(generator)
    }
}

/// A key whose value is read by other code, which knows the context.
pub(crate) struct SchemaOnly(pub(crate) fn(&mut SchemaGenerator) -> Schema);

impl<T: Clone> Spelling<T> for SchemaOnly {
    fn read(&self, _: &mut Reader<'_>, _: &Entry, old: Option<&T>) -> Option<T> {
        old.cloned()
    }

    fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        (self.0)(generator)
    }
}
