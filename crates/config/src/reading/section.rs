//! The mechanism of sections: reading a section by its rows, its JSON Schema, and its table in the documentation. This
//! module must not know any key, or how a value is written.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use super::reader::{Fields, Reader};
use crate::syntax::parse::Entry;

/// A mapping of the configuration whose keys are rows of a table.
pub(crate) trait Section: Clone + Default + JsonSchema + 'static {
    /// The mapping as messages describe it: "a mapping with `url`".
    const WHAT: &'static str;
    /// The purpose of the section.
    const ABOUT: &'static str;
    /// The table of the section's keys.
    const ROWS: &'static [SectionKey<Self>];

    /// Describes the value of each row, in the same order. Only the published schema and the documentation need
    /// this. It is not part of the table, so the program does not contain it.
    fn described() -> Vec<DescribedValue>;

    /// Checks the combination of the keys. `sound` is false if one of them could not be read.
    fn check(&mut self, _reader: &mut Reader<'_>, _entry: &Entry, _sound: bool) {}

    /// Handles the entries without a row: by default, they are faults.
    fn rest(reader: &mut Reader<'_>, rest: &[&Entry]) {
        reader.refuse(rest, &keys::<Self>());
    }

    /// Adds values that no row contains to the form of the section that operators see.
    fn show_rest(&self, _shown: &mut Map<String, Value>) {}

    /// Changes the schema of a section that accepts more than its rows.
    fn adapt(_schema: &mut Schema, _generator: &mut SchemaGenerator) {}
}

/// The value of a key, for people and editors.
pub(crate) struct DescribedValue {
    pub(crate) schema: fn(&mut SchemaGenerator) -> Schema,
    /// The minimum and the maximum, if there are any.
    pub(crate) bounds: Option<(String, String)>,
}

/// One key of a section.
pub(crate) struct SectionKey<S: 'static> {
    pub(crate) key: &'static str,
    /// The meaning of the key.
    pub(crate) about: &'static str,
    /// The default in words; empty if the default value needs no words.
    pub(crate) absent: &'static str,
    /// An example of a required key.
    pub(crate) needed: Option<&'static str>,
    /// The former name of the key; empty if there is none.
    pub(crate) former: &'static str,
    /// The page of the documentation with more information.
    pub(crate) see: &'static str,
    /// Reads the written value into the section, or records its faults.
    pub(crate) read: fn(&mut Reader<'_>, &Entry, &mut S) -> Option<()>,
    /// The value in a section as a user would write it; `null` for none.
    pub(crate) written: fn(&S) -> Value,
    /// The value in a section as operators see it, without secrets; `null` for none.
    pub(crate) shown: fn(&S) -> Value,
}

impl<S: Section> SectionKey<S> {
    /// Returns true if the key is present, under its current or former name.
    fn is_in(&self, fields: &Fields<'_>) -> bool {
        fields.has(self.key) || (!self.former.is_empty() && fields.has(self.former))
    }

    fn default_value(&self) -> Value {
        if self.needed.is_some() || !self.absent.is_empty() {
            Value::Null
        } else {
            (self.written)(&S::default())
        }
    }

    fn property(&self, described: &DescribedValue, generator: &mut SchemaGenerator) -> Schema {
        let mut schema = (described.schema)(generator);
        if self.needed.is_none() {
            allow_null(&mut schema);
        }
        let mut about = plain(self.about);
        if !self.absent.is_empty() {
            about = format!("{about} Default: {}.", self.absent);
        }
        if let Some((least, most)) = &described.bounds {
            about = format!("{about} From {least} to {most}.");
        }
        schema.insert("description".to_owned(), about.into());
        if !self.default_value().is_null() {
            schema.insert("default".to_owned(), self.default_value());
        }
        schema
    }
}

/// A row of a section's table in the documentation.
#[derive(Debug, Clone)]
pub struct KeyRow {
    /// The name of the key.
    pub key: &'static str,
    /// The meaning of the key, as Markdown.
    pub about: String,
    /// The default, as Markdown; empty for none.
    pub default: String,
    /// The minimum and the maximum, if there are any.
    pub bounds: Option<(String, String)>,
}

/// The rows of a section for its table in the documentation.
pub(crate) fn documented<S: Section>() -> Vec<KeyRow> {
    let row = |(row, described): (&SectionKey<S>, DescribedValue)| {
        let about = plain(row.about);
        let about = about.trim_end_matches('.');
        let see = if row.see.is_empty() { String::new() } else { format!(" ({})", row.see) };
        let default =
            if row.absent.is_empty() { marked(&row.default_value()) } else { row.absent.to_owned() };
        KeyRow {
            key: row.key,
            about: format!("{}{see}", about.replace('|', "\\|")),
            default,
            bounds: described.bounds,
        }
    };
    S::ROWS.iter().zip(S::described()).map(row).collect()
}

fn marked(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => format!("`{text}`"),
        Value::Array(items) => items.iter().map(marked).collect::<Vec<_>>().join(", "),
        other => format!("`{other}`"),
    }
}

/// The lines of a comment as one text.
fn plain(comment: &str) -> String {
    comment.trim().to_owned()
}

/// The names of a section's keys.
pub(crate) fn keys<S: Section>() -> Vec<&'static str> {
    S::ROWS.iter().map(|row| row.key).collect()
}

/// A section as operators see it: all values in force, defaults included, without secrets.
pub(crate) fn shown<S: Section>(section: &S) -> Value {
    let mut shown = Map::new();
    for row in S::ROWS {
        let value = (row.shown)(section);
        if !value.is_null() {
            shown.insert(row.key.to_owned(), value);
        }
    }
    section.show_rest(&mut shown);
    Value::Object(shown)
}

/// Reads a section on top of existing values; `None` if a required key is missing.
pub(crate) fn read<S: Section>(reader: &mut Reader<'_>, entry: &Entry, mut section: S) -> Option<S> {
    let mut fields = reader.fields(&entry.value, S::WHAT)?;
    let missing: Vec<&SectionKey<S>> =
        S::ROWS.iter().filter(|row| row.needed.is_some() && !row.is_in(&fields)).collect();
    for row in &missing {
        let help = format!("add it: {}", row.needed.unwrap_or_default());
        reader.fault(&entry.key_at, format!("there is no `{}`", row.key), help);
    }
    let whole = take(reader, &mut fields, entry, &mut section) && missing.is_empty();
    S::rest(reader, &fields.rest());
    whole.then_some(section)
}

/// Reads the keys of a section from a mapping that also has other keys; returns false if a required key could not
/// be read.
pub(crate) fn take<S: Section>(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
    entry: &Entry,
    section: &mut S,
) -> bool {
    let before = reader.faults_so_far();
    let mut whole = true;
    for row in S::ROWS {
        whole &= take_row(reader, fields, row, section) || row.needed.is_none();
    }
    let sound = reader.faults_so_far() == before;
    section.check(reader, entry, sound);
    whole
}

/// Reads one key of a section ahead of the others.
pub(crate) fn take_key<S: Section>(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
    key: &str,
    section: &mut S,
) {
    for row in S::ROWS.iter().filter(|row| row.key == key) {
        take_row(reader, fields, row, section);
    }
}

/// Reads a key if it exists; returns false if it exists but could not be read.
fn take_row<S: Section>(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
    row: &SectionKey<S>,
    section: &mut S,
) -> bool {
    let old = if row.former.is_empty() { None } else { fields.take(row.former) };
    if let Some(old) = old {
        reader.within(row.former, |reader| reader.refuse_former(old, row.key));
    }
    let Some(entry) = fields.take(row.key) else { return old.is_none() };
    reader.within(row.key, |reader| (row.read)(reader, entry, section)).is_some()
}

/// The schema of a section.
pub(crate) fn schema<S: Section>(generator: &mut SchemaGenerator) -> Schema {
    let properties: Map<String, Value> = S::ROWS
        .iter()
        .zip(S::described())
        .map(|(row, described)| (row.key.to_owned(), row.property(&described, generator).to_value()))
        .collect();
    let needed: Vec<&str> = S::ROWS.iter().filter(|row| row.needed.is_some()).map(|row| row.key).collect();
    let mut schema = json_schema!({
        "description": plain(S::ABOUT),
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    if !needed.is_empty() {
        schema.insert("required".to_owned(), json!(needed));
    }
    S::adapt(&mut schema, generator);
    schema
}

/// Allows null in the schema, because a key without a value is treated as absent.
fn allow_null(schema: &mut Schema) {
    let Some(object) = schema.as_object_mut() else { return };
    if object.contains_key("$ref") || object.contains_key("anyOf") || object.contains_key("oneOf") {
        *schema = json_schema!({ "anyOf": [object, { "type": "null" }] });
        return;
    }
    if let Some(kind) = object.get_mut("type") {
        let mut kinds = kind.as_array().cloned().unwrap_or_else(|| vec![kind.clone()]);
        kinds.push(json!("null"));
        *kind = Value::Array(kinds);
    }
    if let Some(words) = object.get_mut("enum").and_then(Value::as_array_mut) {
        words.push(Value::Null);
    }
}
