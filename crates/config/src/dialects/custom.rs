//! `dialects`: custom dialects, written as differences from other dialects.

use indexmap::IndexMap;
use serde_json::Value;

use super::dialect_rows::{Dialect, Streams};
use crate::reading::known::ReferenceKind;
use crate::reading::reader::Reader;
use crate::reading::spellings::{KnownName, Spelling};
use crate::syntax::parse::{Entry, Node, NodeKind};
use crate::values::check;
use crate::values::suggest;
use crate::values::wording::clip;

/// The maximum number of columns that are suggested for an unknown column.
const MOST_TOLD: usize = 5;

/// The members of columns that describe the answer to one kind of failure.
const FAULT_MEMBERS: [&str; 6] = ["code", "message", "status", "channel", "data", "body"];

/// The column that selects a set of changes to other columns.
const VARIANT: &str = "variant";

/// All names that a profile or an endpoint may use: the built-in and the custom dialects.
pub(crate) fn names(own: &IndexMap<String, Dialect>) -> Vec<String> {
    Dialect::names().iter().map(ToString::to_string).chain(own.keys().cloned()).collect()
}

/// Returns true if a dialect has its own event streams.
pub(crate) fn has_streams(name: &str, own: &IndexMap<String, Dialect>) -> bool {
    let row = own.get(name).cloned().or_else(|| Dialect::base(name)).filter(|row| row.interpreted);
    row.is_some_and(|row| row.events.streams != Streams::None)
}

/// Reads the custom dialects, and adds them to the existing dialects.
pub(crate) fn read(reader: &mut Reader<'_>, entry: &Entry, dialects: &mut IndexMap<String, Dialect>) {
    let Some(fields) = reader.fields(&entry.value, "a mapping of dialects by name") else { return };
    for entry in fields.rest() {
        reader.within(&entry.key, |reader| {
            reader.sound(&entry.key_at, check::word(&entry.key));
            if Dialect::base(&entry.key).is_some() {
                let message = format!("`{}` is a built-in dialect", entry.key);
                reader.fault(
                    &entry.key_at,
                    message,
                    "choose another name, and use the built-in dialect as the `base`",
                );
            }
            let row = read_one(reader, entry, dialects)?;
            dialects.insert(entry.key.clone(), row)
        });
    }
}

fn read_one(reader: &mut Reader<'_>, entry: &Entry, others: &IndexMap<String, Dialect>) -> Option<Dialect> {
    let mut fields = reader.fields(&entry.value, "a mapping with `base` and the differences from it")?;
    reader.known.add(ReferenceKind::Dialect, names(others));
    if !fields.has("base") {
        reader.fault(&entry.key_at, "this dialect has no `base`", "add it: base: standard");
        return None;
    }
    let base = fields.take("base")?;
    let base = reader.within("base", |reader| KnownName(ReferenceKind::Dialect).read(reader, base, None))?;
    let mut row = others.get(&base).cloned().or_else(|| Dialect::base(&base))?;
    // A column given together with a variant overrides the variant's value.
    let (variant, columns): (Vec<&Entry>, Vec<&Entry>) =
        fields.rest().into_iter().partition(|column| column.key == VARIANT);
    for column in variant.into_iter().chain(columns) {
        reader.within(&column.key, |reader| set(reader, column, &mut row));
    }
    row.name = entry.key.clone().into();
    Some(row)
}

fn set(reader: &mut Reader<'_>, entry: &Entry, row: &mut Dialect) -> Option<()> {
    let key = entry.key.split('.').next().unwrap_or_default();
    let column = Dialect::column(key);
    if column.is_none() && key != VARIANT {
        if let Some(renamed) = Dialect::COLUMNS.iter().find(|column| column.former == key && !key.is_empty())
        {
            reader.refuse_former(entry, renamed.name);
        } else {
            reader.fault(
                &entry.key_at,
                format!("a dialect has no column `{}`", clip(&entry.key)),
                meant(key),
            );
        }
        return None;
    }
    let value = value(reader, &entry.value)?;
    let Err(unfit) = row.set(&entry.key, &value) else { return Some(()) };
    // A value that looks like a number may be meant as a text.
    if let NodeKind::Scalar { text, .. } = &entry.value.kind
        && row.set(&entry.key, &Value::String(text.clone())).is_ok()
    {
        return Some(());
    }
    let of_kind = || match column {
        Some(column) if column.name == entry.key => format!("write {}", column.allowed()),
        _ => "correct it, or remove it".to_owned(),
    };
    reader.fault(&entry.value.at, unfit.reason, unfit.help.unwrap_or_else(of_kind));
    None
}

/// Suggests the column that was probably meant by an unknown name.
fn meant(key: &str) -> String {
    let names = || Dialect::COLUMNS.iter().map(|column| column.name).chain([VARIANT]);
    if let Some(near) = suggest::nearest(key, names()) {
        return format!("did you mean `{near}`?");
    }
    if let Some(member) = suggest::nearest(key, FAULT_MEMBERS) {
        return format!(
            "set it for one kind of failure: unknownTool: {{ {member}: … }}; `dragoman schema` lists all columns"
        );
    }
    let near = suggest::ranked(key, names(), MOST_TOLD).join(", ");
    format!("the closest names are {near}; `dragoman schema` lists all columns")
}

/// Reads a value as JSON; an unquoted text that looks like a number, `true`, `false` or `null` becomes a value of that type.
fn value(reader: &mut Reader<'_>, node: &Node) -> Option<Value> {
    match &node.kind {
        NodeKind::Null => Some(Value::Null),
        NodeKind::Scalar { quoted, .. } => {
            let text = reader.text(node, "a value")?;
            let plain = (!quoted || text.hides()).then(|| plain(text.expose())).flatten();
            Some(plain.unwrap_or_else(|| Value::String(text.expose().to_owned())))
        }
        NodeKind::List(items) => {
            let items: Vec<Option<Value>> = items.iter().map(|item| value(reader, item)).collect();
            items.into_iter().collect::<Option<Vec<Value>>>().map(Value::Array)
        }
        NodeKind::Map(_) => {
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
