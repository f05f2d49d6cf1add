//! Schemas as WordPress takes them, written as JSON Schema: `required` as a word of a property (draft 3), and empty lists
//! where PHP had no members for an object (`rest_validate_object_value_from_schema`). A client that finds such a schema in a
//! list may refuse the whole list. It must not know what a schema is for.

use serde_json::{Map, Value, json};

/// Members that hold a schema, or nothing.
const ONE: &[&str] = &["items", "additionalProperties", "not"];
/// Members that hold schemas by name.
const NAMED: &[&str] = &["properties", "patternProperties"];
/// Members that hold a list of schemas.
const SEVERAL: &[&str] = &["anyOf", "oneOf", "allOf"];

/// The same schema. How deep it goes, the reader of JSON has limited.
pub(super) fn regular(schema: Map<String, Value>) -> Map<String, Value> {
    let required = required(&schema);
    let is_object = schema.get("type") == Some(&json!("object"));
    let mut out = Map::new();
    for (name, value) in schema {
        let value = match (name.as_str(), value) {
            ("required", _) => continue,
            ("enum", Value::Array(words)) if words.is_empty() => continue,
            ("default", Value::Array(list)) if is_object && list.is_empty() => json!({}),
            (name, Value::Array(list)) if SEVERAL.contains(&name) => list.into_iter().map(nested).collect(),
            (name, value) if NAMED.contains(&name) => match object(value) {
                Value::Object(by_name) => {
                    Value::Object(by_name.into_iter().map(|(name, value)| (name, nested(value))).collect())
                }
                other => other,
            },
            (name, value) if ONE.contains(&name) => nested(object(value)),
            (_, value) => value,
        };
        out.insert(name, value);
    }
    if !required.is_empty() {
        out.insert("required".to_owned(), Value::from(required));
    }
    out
}

/// The names that must be there: of a list, or of properties that say so of themselves.
fn required(schema: &Map<String, Value>) -> Vec<String> {
    if let Some(Value::Array(names)) = schema.get("required") {
        return names.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    }
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let must = properties.filter(|(_, property)| property.get("required") == Some(&Value::Bool(true)));
    must.map(|(name, _)| name.clone()).collect()
}

fn nested(value: Value) -> Value {
    match value {
        Value::Object(schema) => Value::Object(regular(schema)),
        other => other,
    }
}

/// An object, also when PHP had nothing to put in it.
fn object(value: Value) -> Value {
    match value {
        Value::Array(list) if list.is_empty() => json!({}),
        other => other,
    }
}
