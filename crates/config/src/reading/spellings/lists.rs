//! Lists and mappings whose values share one spelling.

use std::hash::Hash;
use std::rc::Rc;

use indexmap::{IndexMap, IndexSet};
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::Value;

use super::texts::Parsed;
use super::{Spelling, one_or_many};
use crate::reading::reader::Reader;
use crate::syntax::parse::{Entry, Node, NodeKind};
use crate::values::check::Flaw;
use crate::values::text::Text;

/// An item of a list as a separate entry.
pub(crate) fn item(index: usize, node: &Rc<Node>) -> Entry {
    let key_at = node.at.start..node.at.start;
    Entry { key: format!("[{index}]"), key_at, value: Rc::clone(node), repeated: false }
}

/// Rejects an empty list or mapping, because at least one entry is required.
pub(crate) fn refuse_empty(reader: &mut Reader<'_>, node: &Node) {
    if matches!(&node.kind, NodeKind::List(items) if items.is_empty())
        || matches!(&node.kind, NodeKind::Map(entries) if entries.is_empty())
    {
        reader.fault(&node.at, "this is empty", "add an entry, or remove the key");
    }
}

/// A single value, or a list of values that share one spelling.
pub(crate) struct Values<S> {
    /// The list as messages describe it.
    pub(crate) what: &'static str,
    pub(crate) item: S,
    /// True to reject an empty list.
    pub(crate) some: bool,
}

impl<T, S: Spelling<T>> Spelling<Vec<T>> for Values<S> {
    fn read(&self, reader: &mut Reader<'_>, entry: &Entry, _: Option<&Vec<T>>) -> Option<Vec<T>> {
        if self.some {
            refuse_empty(reader, &entry.value);
        }
        read_items(reader, entry, self.what, true, &self.item)
    }

    fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        one_or_many(&self.item.schema(generator))
    }

    fn written(&self, values: &Vec<T>) -> Value {
        if values.is_empty() {
            return Value::Null;
        }
        values.iter().map(|value| self.item.written(value)).collect()
    }

    fn shown(&self, values: &Vec<T>) -> Value {
        shown_items(values, &self.item)
    }
}

fn shown_items<T>(values: &[T], spelling: &impl Spelling<T>) -> Value {
    if values.is_empty() { Value::Null } else { values.iter().map(|value| spelling.shown(value)).collect() }
}

/// A single text without secrets, or a list of such texts.
pub(crate) fn texts(parse: fn(&Text) -> Result<String, Flaw>) -> Values<Parsed> {
    Values { what: "a list", item: Parsed("a string", parse), some: false }
}

/// A list of values with one spelling. The schema does not allow a single value, even if the reader accepts
/// one.
pub(crate) struct List<S> {
    /// The list as messages describe it.
    pub(crate) what: &'static str,
    pub(crate) item: S,
    pub(crate) or_one: bool,
}

impl<T, S: Spelling<T>> Spelling<Vec<T>> for List<S> {
    fn read(&self, reader: &mut Reader<'_>, entry: &Entry, _: Option<&Vec<T>>) -> Option<Vec<T>> {
        read_items(reader, entry, self.what, self.or_one, &self.item)
    }

    fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "array", "items": self.item.schema(generator) })
    }

    fn shown(&self, values: &Vec<T>) -> Value {
        shown_items(values, &self.item)
    }
}

/// Reads all items, even after a fault, so that all faults are reported.
fn read_items<T>(
    reader: &mut Reader<'_>,
    entry: &Entry,
    what: &str,
    or_one: bool,
    spelling: &impl Spelling<T>,
) -> Option<Vec<T>> {
    let mut values = Vec::new();
    for (index, node) in reader.items(&entry.value, what, or_one)?.into_iter().enumerate() {
        let item = item(index, node);
        let mut read = |reader: &mut Reader<'_>| values.extend(spelling.read(reader, &item, None));
        if matches!(entry.value.kind, NodeKind::List(_)) {
            reader.within(&item.key, read);
        } else {
            read(reader);
        }
    }
    Some(values)
}

/// A mapping from names to values that share one spelling, merged into the existing mapping.
pub(crate) struct Mapping<K, S> {
    /// The mapping as messages describe it.
    pub(crate) what: &'static str,
    pub(crate) key: fn(&str) -> Result<K, Flaw>,
    pub(crate) value: S,
}

impl<K: Clone + Eq + Hash + AsRef<str>, V: Clone, S: Spelling<V>> Spelling<IndexMap<K, V>> for Mapping<K, S> {
    fn read(
        &self,
        reader: &mut Reader<'_>,
        entry: &Entry,
        old: Option<&IndexMap<K, V>>,
    ) -> Option<IndexMap<K, V>> {
        let mut all = old.cloned().unwrap_or_default();
        let mut seen = IndexSet::new();
        for entry in reader.fields(&entry.value, self.what)?.rest() {
            reader.within(&entry.key, |reader| {
                let key = reader.sound(&entry.key_at, (self.key)(&entry.key));
                if key.as_ref().is_some_and(|key| !seen.insert(key.clone())) {
                    let message = format!("`{}` occurs twice; case does not matter", entry.key);
                    reader.fault(&entry.key_at, message, "keep one of the two");
                }
                let value = self.value.read(reader, entry, None)?;
                all.insert(key?, value)
            });
        }
        Some(all)
    }

    fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "additionalProperties": self.value.schema(generator) })
    }

    fn shown(&self, values: &IndexMap<K, V>) -> Value {
        shown_mapping(values, |key| key.as_ref().to_owned(), |value| self.value.shown(value))
    }
}

/// A mapping as operators see it; `null` if it is empty.
pub(crate) fn shown_mapping<K, V>(
    values: &IndexMap<K, V>,
    key: impl Fn(&K) -> String,
    show: impl Fn(&V) -> Value,
) -> Value {
    if values.is_empty() {
        return Value::Null;
    }
    Value::Object(values.iter().map(|(name, value)| (key(name), show(value))).collect())
}
