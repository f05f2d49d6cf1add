//! The schema of a custom dialect. It is generated from the table of columns, and contains each column with its
//! meaning. This module must not know which code uses a column.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use super::dialect_rows::{CellKind, Channel, Choice, Column, Dialect};

/// The pattern of a text that contains a variable such as `${NAME}`, which may stand for any value.
const VARIABLE: &str = "\\$\\{";

/// A dialect, written as a `base` and the differences from that base.
pub(crate) struct DialectDifference;

impl JsonSchema for DialectDifference {
    fn schema_name() -> Cow<'static, str> {
        "DialectDifference".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let fault_answer = generator.subschema_for::<FailureAnswer>().to_value();
        let mut properties = Map::new();
        let names = Dialect::names().join(", ");
        let base = format!(
            "The dialect on which this dialect is based: {names}, or a dialect that is defined earlier in `dialects`."
        );
        properties.insert("base".to_owned(), json!({ "type": "string", "description": base }));
        properties.insert("variant".to_owned(), variants());
        let mut told = Vec::new();
        for column in Dialect::COLUMNS {
            let mut schema =
                if column.kind == CellKind::FaultText { fault_answer.clone() } else { of_kind(column) };
            schema["description"] = Value::String(described(column));
            properties.insert(column.name.to_owned(), schema);
            told.extend((column.kind == CellKind::FaultText).then_some(column.name));
        }
        let mut members = Map::new();
        for (member, schema) in fault_members() {
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

/// The members that describe the answer to one kind of failure.
struct FailureAnswer;

impl JsonSchema for FailureAnswer {
    fn schema_name() -> Cow<'static, str> {
        "FailureAnswer".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let properties: Map<String, Value> =
            fault_members().into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
        json_schema!({ "type": "object", "properties": properties, "additionalProperties": false })
    }
}

fn fault_members() -> [(&'static str, Value); 6] {
    let described = |mut schema: Value, about: &str| {
        schema["description"] = Value::from(about);
        schema
    };
    [
        ("code", described(number(i32::MIN.into(), i32::MAX.into()), "The JSON-RPC code.")),
        ("message", described(text(), "The message, which can contain placeholders.")),
        ("status", described(number(200, 599), "The HTTP status.")),
        ("channel", described(one_of(Channel::WORDS), "The form in which a failed call is reported.")),
        ("data", json!({ "description": "The error's `data`, JSON with placeholders; `false` for none." })),
        (
            "body",
            json!({ "description": "The whole body that replaces the error, JSON with placeholders; `false` for none." }),
        ),
    ]
}

/// The meaning of a column, including the placeholders in its texts.
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
    let about = format!("A variant of the base, which sets several columns at once: {}.", told.join("; "));
    json!({ "enum": names, "description": about })
}

fn of_kind(column: &Column) -> Value {
    let words = |words: &'static [Choice]| json!({ "type": "array", "items": one_of(words) });
    match column.kind {
        CellKind::Bool => {
            json!({ "anyOf": [{ "type": "boolean" }, { "type": "string", "pattern": VARIABLE }] })
        }
        CellKind::Number(least, most) => number(least, most),
        CellKind::Text => text(),
        CellKind::TextOrNull => json!({ "type": ["string", "number", "boolean", "null"] }),
        CellKind::Word(choices) => one_of(choices),
        CellKind::Words(choices) => words(choices),
        CellKind::Order(choices) => {
            let mut all = words(choices);
            all["uniqueItems"] = Value::Bool(true);
            all["minItems"] = Value::from(choices.len());
            all
        }
        CellKind::Texts if column.needs_items() => {
            json!({ "type": "array", "items": { "type": "string", "minLength": 1 }, "minItems": 1 })
        }
        CellKind::Texts => json!({ "type": "array", "items": { "type": "string" } }),
        CellKind::TextsOrNull => json!({ "type": ["array", "null"], "items": { "type": "string" } }),
        CellKind::Version => json!({ "type": "string" }),
        CellKind::ObjectOrNull => json!({ "type": ["object", "null"] }),
        CellKind::Template | CellKind::FaultText => json!({}),
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
        // YAML reads these values as null if they are not quoted.
        "null" => json!({ "enum": ["null", null], "description": choice.about }),
        "false" => json!({ "enum": ["false", false], "description": choice.about }),
        word => json!({ "const": word, "description": choice.about }),
    };
    let all: Vec<Value> = choices.iter().map(one).collect();
    json!({ "oneOf": all })
}
