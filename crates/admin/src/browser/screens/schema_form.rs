//! Forms from JSON schemas: the fields of a form, and the values that were entered. This module must not know what the values are for.

use pages::model::{FieldKind, ForeignText, SchemaField};
use serde_json::{Map, Value};

use super::super::page_request::Fields;

/// The maximum number of fields in a form; a schema with more fields is shown as one JSON text.
const MOST_FIELDS: usize = 60;

/// Returns the fields of a form for an object; `None` if no form can show the schema.
pub(super) fn fields(schema: &Value) -> Option<Vec<SchemaField>> {
    let is_plain = !["oneOf", "anyOf", "allOf", "$ref", "if", "patternProperties"]
        .iter()
        .any(|key| schema.get(key).is_some());
    let properties = match schema.get("properties") {
        None => return is_plain.then(Vec::new),
        Some(properties) => properties.as_object()?,
    };
    if !is_plain || properties.len() > MOST_FIELDS {
        return None;
    }
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut fields: Vec<SchemaField> =
        properties.iter().map(|(name, own)| field(name, own, required.contains(&name.as_str()))).collect();
    fields.sort_by_key(|field| !field.required);
    Some(fields)
}

fn field(name: &str, schema: &Value, required: bool) -> SchemaField {
    let text = |key: &str| schema[key].as_str().unwrap_or_default();
    let kind = kind(schema);
    let value = match &schema["default"] {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(all) if matches!(kind, FieldKind::Some(_)) => {
            all.iter().map(shown).collect::<Vec<_>>().join("\n")
        }
        other => other.to_string(),
    };
    SchemaField {
        name: name.into(),
        label: Some(text("title")).filter(|title| !title.is_empty()).unwrap_or(name).into(),
        description: text("description").into(),
        required,
        kind,
        value: value.into(),
        fault: None,
    }
}

/// Fills in the values of an earlier call.
pub(super) fn fill(fields: &mut [SchemaField], earlier: &Value) {
    for field in fields {
        field.value = match (&earlier[field.name.raw()], &field.kind) {
            (Value::Null, _) => continue,
            (Value::Array(all), FieldKind::Some(_)) => {
                all.iter().map(shown).collect::<Vec<_>>().join("\n").into()
            }
            (value, FieldKind::Json) => value.to_string().into(),
            (value, _) => shown(value).into(),
        };
    }
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns the allowed values if a schema lists them and all are strings.
fn choices(schema: &Value) -> Option<Vec<ForeignText>> {
    let is_text = |value: &Value| value.as_str().map(ForeignText::from);
    if let Some(all) = schema["enum"].as_array() {
        return all.iter().map(is_text).collect();
    }
    let titled = ["oneOf", "anyOf"].iter().find_map(|key| schema[key].as_array())?;
    titled.iter().map(|one| is_text(&one["const"])).collect()
}

fn kind(schema: &Value) -> FieldKind {
    if let Some(choices) = choices(schema) {
        return FieldKind::One(choices);
    }
    match (schema["type"].as_str(), schema["format"].as_str()) {
        (Some("string"), Some("date")) => FieldKind::Date,
        (Some("string"), Some("email")) => FieldKind::Email,
        (Some("string"), Some("uri")) => FieldKind::Url,
        (Some("string"), _) if schema["maxLength"].as_u64().is_some_and(|most| most > 200) => FieldKind::Text,
        (Some("string"), _) => FieldKind::Line,
        (Some("integer"), _) => {
            FieldKind::Integer { minimum: schema["minimum"].as_i64(), maximum: schema["maximum"].as_i64() }
        }
        (Some("number"), _) => FieldKind::Number,
        (Some("boolean"), _) => FieldKind::Flag,
        (Some("array"), _) => match choices(&schema["items"]) {
            Some(choices) => FieldKind::Some(choices),
            None => FieldKind::Json,
        },
        _ => FieldKind::Json,
    }
}

/// Reads the values that were entered. A field whose value cannot be read gets the reason.
///
/// # Errors
/// Returns the fields with their values and reasons if a value cannot be read.
pub(super) fn entered(mut fields: Vec<SchemaField>, form: &Fields) -> Result<Value, Vec<SchemaField>> {
    let mut object = Map::new();
    let mut is_sound = true;
    for field in &mut fields {
        let key = format!("arg.{}", encoded(field.name.raw()));
        let all: Vec<&str> = form.all(&key).collect();
        field.value = all.join("\n").into();
        match value(&field.kind, &all) {
            Ok(Some(value)) => drop(object.insert(field.name.raw().to_owned(), value)),
            Ok(None) if field.required && !matches!(field.kind, FieldKind::Line | FieldKind::Text) => {
                (field.fault, is_sound) = (Some("a value is needed".into()), false);
            }
            Ok(None) if field.required => drop(object.insert(field.name.raw().to_owned(), "".into())),
            Ok(None) => {}
            Err(fault) => (field.fault, is_sound) = (Some(fault.into()), false),
        }
    }
    if is_sound { Ok(Value::Object(object)) } else { Err(fields) }
}

/// Returns the name of a form's field for an argument.
fn encoded(name: &str) -> String {
    let query = pages::route::with_query("", &[("x", name)]);
    query.strip_prefix("?x=").unwrap_or_default().to_owned()
}

fn value(kind: &FieldKind, all: &[&str]) -> Result<Option<Value>, String> {
    let first = all.first().copied().unwrap_or_default();
    if let FieldKind::Some(_) = kind {
        return Ok((!all.is_empty()).then(|| all.to_vec().into()));
    }
    if first.is_empty() {
        return Ok(None);
    }
    let read = match kind {
        FieldKind::Integer { .. } => first.trim().parse::<i64>().ok().map(Value::from),
        FieldKind::Number => {
            let number = serde_json::from_str::<serde_json::Number>(first.trim()).ok();
            number.map(Value::Number)
        }
        FieldKind::Flag => first.parse::<bool>().ok().map(Value::from),
        FieldKind::Json => {
            return serde_json::from_str(first)
                .map(Some)
                .map_err(|e| format!("this is not valid JSON: {}", super::json_fault(&e)));
        }
        // Browsers send line breaks as two characters.
        FieldKind::Text => Some(first.replace("\r\n", "\n").into()),
        _ => Some(first.into()),
    };
    read.map(Some).ok_or_else(|| format!("{first:?} is not a valid value"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_form_returns_what_its_schema_describes() {
        let schema = json!({ "type": "object", "required": ["n", "t"], "properties": {
            "a b": { "type": "string" }, "n": { "type": "integer" }, "t": { "type": "string" }, "f": { "type": "boolean" },
            "e": { "enum": ["x", "y"] }, "m": { "type": "array", "items": { "enum": ["p", "q"] } }, "j": { "type": "object" },
        } });
        let form = |pairs: &[(&str, &str)]| {
            Fields(pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect())
        };
        let all = [
            ("arg.a%20b", "1"),
            ("arg.n", "7"),
            ("arg.t", ""),
            ("arg.f", "true"),
            ("arg.e", "y"),
            ("arg.m", "p"),
            ("arg.m", "q"),
            ("arg.j", "{\"k\":[1]}"),
        ];
        let value = entered(fields(&schema).unwrap(), &form(&all)).unwrap();
        assert_eq!(
            value,
            json!({ "a b": "1", "n": 7, "t": "", "f": true, "e": "y", "m": ["p", "q"], "j": { "k": [1] } })
        );
        let wrong = entered(fields(&schema).unwrap(), &form(&[("arg.n", "x"), ("arg.j", "{")])).unwrap_err();
        let faults: Vec<&str> =
            wrong.iter().filter(|field| field.fault.is_some()).map(|field| field.name.raw()).collect();
        assert_eq!(faults, ["n", "j"]);
    }

    #[test]
    fn schemas_that_no_form_can_show_are_one_text() {
        assert!(fields(&json!({ "oneOf": [] })).is_none());
        assert_eq!(fields(&json!({ "type": "object" })).map(|fields| fields.len()), Some(0));
    }
}
