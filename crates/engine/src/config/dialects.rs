//! `dialects`: dialects of one's own, as differences from others.

use indexmap::IndexMap;
use serde_json::Value;

use super::check;
use super::parse::{Entry, Kind, Node};
use super::pieces::{self, Known};
use super::read::Reader;

/// The built-in dialects.
const BUILT_IN: &[&str] = &[
    "standard",
    "bb",
    "bb-1.0",
    "buddyboss",
    "wordpress",
    "wordpress-v1",
    "wordpress-saas",
    "gateway",
    "kulturarv",
];

/// A dialect of one's own: another one, and what differs.
#[derive(Debug, Clone, PartialEq)]
pub struct DialectSpec {
    /// The dialect that it starts from: a built-in one, or one that stands further up.
    pub base: String,
    /// What differs, by column.
    pub columns: IndexMap<String, Value>,
}

/// All names that a profile or an endpoint may have: the built-in dialects and one's own.
pub(super) fn names(own: &IndexMap<String, DialectSpec>) -> Vec<&str> {
    BUILT_IN.iter().copied().chain(own.keys().map(String::as_str)).collect()
}

/// Reads the dialects on top of those that there are.
pub(super) fn read(reader: &mut Reader<'_>, entry: &Entry, dialects: &mut IndexMap<String, DialectSpec>) {
    let Some(fields) = reader.fields(&entry.value, "a mapping of dialects by name") else { return };
    for entry in fields.rest() {
        reader.within(&entry.key, |reader| {
            reader.sound(&entry.key_at, check::word(&entry.key));
            if BUILT_IN.contains(&entry.key.as_str()) {
                let message = format!("`{}` is a built-in dialect", entry.key);
                reader.fault(&entry.key_at, message, "write another name, and this one as its `base`");
            }
            let spec = read_one(reader, entry, dialects)?;
            dialects.insert(entry.key.clone(), spec)
        });
    }
}

fn read_one(
    reader: &mut Reader<'_>,
    entry: &Entry,
    others: &IndexMap<String, DialectSpec>,
) -> Option<DialectSpec> {
    let mut fields = reader.fields(&entry.value, "a mapping with `base` and what differs from it")?;
    let known = Known { what: "dialect", names: names(others) };
    let base = if fields.has("base") {
        pieces::known_name(reader, &mut fields, "base", &known)?
    } else {
        reader.fault(&entry.key_at, "this dialect has no `base`", "add it: base: standard");
        return None;
    };
    let mut columns = IndexMap::new();
    for column in fields.rest() {
        let value = reader.within(&column.key, |reader| value(reader, &column.value));
        columns.extend(value.map(|value| (column.key.clone(), value)));
    }
    Some(DialectSpec { base, columns })
}

/// A value as JSON has it: what is not quoted and looks like a number, `true`, `false` or `null` is that.
fn value(reader: &mut Reader<'_>, node: &Node) -> Option<Value> {
    match &node.kind {
        Kind::Null => Some(Value::Null),
        Kind::Scalar { quoted, .. } => {
            let text = reader.text(node, "a value")?;
            let plain = (!quoted || text.hides()).then(|| plain(text.expose())).flatten();
            Some(plain.unwrap_or_else(|| Value::String(text.expose().to_owned())))
        }
        Kind::List(items) => {
            let items: Vec<Option<Value>> = items.iter().map(|item| value(reader, item)).collect();
            items.into_iter().collect::<Option<Vec<Value>>>().map(Value::Array)
        }
        Kind::Map(_) => {
            let entries = reader.fields(node, "a mapping")?.rest();
            let members: Vec<Option<(String, Value)>> = entries
                .into_iter()
                .map(|entry| Some((entry.key.clone(), value(reader, &entry.value)?)))
                .collect();
            members.into_iter().collect::<Option<_>>().map(Value::Object)
        }
    }
}

fn plain(text: &str) -> Option<Value> {
    match text {
        "true" | "True" | "TRUE" => Some(Value::Bool(true)),
        "false" | "False" | "FALSE" => Some(Value::Bool(false)),
        _ => text.parse::<serde_json::Number>().ok().map(Value::Number),
    }
}
