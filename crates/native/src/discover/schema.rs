//! WordPress's schemas, rewritten as JSON Schema. WordPress accepts `required` inside a property (draft 3), and PHP
//! writes an object without members as an empty list (`rest_validate_object_value_from_schema`). A client that finds
//! such a schema in a list may refuse the whole list. This module must not know the purpose of a schema.

use serde_json::{Map, Value, json};

/// Members that contain one schema, or nothing.
const ONE: &[&str] = &["items", "additionalProperties", "not"];
/// Members that contain schemas by name.
const NAMED: &[&str] = &["properties", "patternProperties"];
/// Members that contain a list of schemas.
const SEVERAL: &[&str] = &["anyOf", "oneOf", "allOf"];

/// The rewritten schema. The JSON reader has already limited its depth.
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

/// The required names: from a list, or from properties that mark themselves as required.
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

/// Converts an empty list to an empty object, because PHP writes empty objects as lists.
fn object(value: Value) -> Value {
    match value {
        Value::Array(list) if list.is_empty() => json!({}),
        other => other,
    }
}
