//! The schema of a dialect of one's own, made from the table of columns, so that each is in it with what it means. It must
//! not know what acts on a column.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use crate::dialect_rows::{Channel, Choice, Column, Dialect, Kind};

/// What a file may say instead of a value: a variable.
const VARIABLE: &str = "\\$\\{";

/// A `base`, and what differs from it.
pub(crate) struct DialectDifference;

impl JsonSchema for DialectDifference {
    fn schema_name() -> Cow<'static, str> {
        "DialectDifference".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let said = generator.subschema_for::<Said>().to_value();
        let mut properties = Map::new();
        let names = Dialect::names().join(", ");
        let base = format!("The dialect that it starts from: {names}, or one that stands further up.");
        properties.insert("base".to_owned(), json!({ "type": "string", "description": base }));
        properties.insert("variant".to_owned(), variants());
        let mut told = Vec::new();
        for column in Dialect::COLUMNS {
            let mut schema = if column.kind == Kind::Say { said.clone() } else { of_kind(column) };
            schema["description"] = Value::String(described(column));
            properties.insert(column.name.to_owned(), schema);
            told.extend((column.kind == Kind::Say).then_some(column.name));
        }
        let mut members = Map::new();
        for (member, schema) in said_members() {
            members.insert(format!("^({})\\.{member}$", told.join("|")), schema);
        }
        json_schema!({
            "type": "object",
            "properties": properties,
            "patternProperties": members,
            "required": ["base"],
            "additionalProperties": false,
        })
    }
}

/// How one kind of trouble is told.
struct Said;

impl JsonSchema for Said {
    fn schema_name() -> Cow<'static, str> {
        "Said".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let properties: Map<String, Value> =
            said_members().into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
        json_schema!({ "type": "object", "properties": properties, "additionalProperties": false })
    }
}

fn said_members() -> [(&'static str, Value); 6] {
    let described = |mut schema: Value, about: &str| {
        schema["description"] = Value::from(about);
        schema
    };
    [
        ("code", described(number(i32::MIN.into(), i32::MAX.into()), "The JSON-RPC code.")),
        ("message", described(text(), "The message; placeholders may stand in it.")),
        ("status", described(number(200, 599), "The HTTP status.")),
        ("channel", described(one_of(Channel::WORDS), "Whether a call is told by an error or by a result.")),
        ("data", json!({ "description": "The error's `data`, JSON with placeholders; `false` for none." })),
        (
            "body",
            json!({ "description": "The whole body instead of an error, JSON with placeholders; `false` for none." }),
        ),
    ]
}

/// What a column means, and what may stand in its texts.
fn described(column: &Column) -> String {
    let names: Vec<String> = column.placeholders().iter().map(|name| format!("{{{name}}}")).collect();
    if names.is_empty() {
        column.about.to_owned()
    } else {
        format!("{} Placeholders: {}.", column.about, names.join(", "))
    }
}

fn variants() -> Value {
    let mut names = Vec::new();
    let mut told = Vec::new();
    for row in Dialect::all().filter(|row| !row.variants.is_empty()) {
        let own: Vec<&str> = row.variants.iter().map(|variant| variant.name).collect();
        told.push(format!("{} ({})", row.name, own.join(", ")));
        names.extend(own);
    }
    names.sort_unstable();
    names.dedup();
    let about = format!("Columns that the base has ready to be set at once: {}.", told.join("; "));
    json!({ "enum": names, "description": about })
}

fn of_kind(column: &Column) -> Value {
    let words = |words: &'static [Choice]| json!({ "type": "array", "items": one_of(words) });
    match column.kind {
        Kind::Bool => json!({ "anyOf": [{ "type": "boolean" }, { "type": "string", "pattern": VARIABLE }] }),
        Kind::Number(least, most) => number(least, most),
        Kind::Text => text(),
        Kind::TextOrNull => json!({ "type": ["string", "number", "boolean", "null"] }),
        Kind::Word(choices) => one_of(choices),
        Kind::Words(choices) => words(choices),
        Kind::Order(choices) => {
            let mut all = words(choices);
            all["uniqueItems"] = Value::Bool(true);
            all["minItems"] = Value::from(choices.len());
            all
        }
        Kind::Texts if column.needs_items() => {
            json!({ "type": "array", "items": { "type": "string", "minLength": 1 }, "minItems": 1 })
        }
        Kind::Texts => json!({ "type": "array", "items": { "type": "string" } }),
        Kind::TextsOrNull => json!({ "type": ["array", "null"], "items": { "type": "string" } }),
        Kind::Version => json!({ "type": "string" }),
        Kind::ObjectOrNull => json!({ "type": ["object", "null"] }),
        Kind::Template | Kind::Say => json!({}),
    }
}

fn text() -> Value {
    json!({ "type": ["string", "number", "boolean"] })
}

fn number(least: i64, most: i64) -> Value {
    json!({ "type": ["integer", "string"], "minimum": least, "maximum": most, "pattern": VARIABLE })
}

fn one_of(choices: &[Choice]) -> Value {
    let one = |choice: &Choice| match choice.word {
        // As YAML reads them without quotes.
        "null" => json!({ "enum": ["null", null], "description": choice.about }),
        "false" => json!({ "enum": ["false", false], "description": choice.about }),
        word => json!({ "const": word, "description": choice.about }),
    };
    let all: Vec<Value> = choices.iter().map(one).collect();
    json!({ "oneOf": all })
}
