//! Corrects arguments according to the tool's schema, for systems that are known to be lenient. This module must not
//! know tools by name.

use config::dialect_rows::row::Dialect;
use config::dialect_rows::words::Repair;
use proto::json::{Splice, unquote};
use serde_json::{Map, Value};

use super::finish::members;

/// Returns true if the row corrects arguments at all.
pub(super) fn has_repairs(row: &Dialect) -> bool {
    let calls = &row.calls;
    !calls.repair_arguments.is_empty() || calls.argument_defaults.is_some() || calls.argument_caps.is_some()
}

/// The result of correcting one argument.
enum Repaired {
    Same,
    Other(Value),
    Gone,
}

/// The arguments, corrected according to the schema; `None` if nothing changes. Parts that are not corrected stay
/// identical to the byte.
pub(super) fn repair(row: &Dialect, arguments: &[u8], schema: Option<&[u8]>) -> Option<Vec<u8>> {
    let schema: Value = serde_json::from_slice(schema?).ok()?;
    // A schema without properties does not restrict the arguments.
    let properties = schema.get("properties").and_then(Value::as_object)?;
    let found = members(arguments)?;
    let mut changes: Vec<(String, Option<String>)> = Vec::new();
    for member in found.iter() {
        let key = unquote(member.key.of(arguments))?;
        let Ok(value) = serde_json::from_slice::<Value>(member.value.of(arguments)) else { continue };
        match one(row, &key, &value, properties.get(key.as_ref())) {
            Repaired::Same => {}
            Repaired::Other(value) => changes.push((key.into_owned(), Some(value.to_string()))),
            Repaired::Gone => changes.push((key.into_owned(), None)),
        }
    }
    for (key, value) in object(row.calls.argument_defaults.as_ref()) {
        if properties.contains_key(&key) && found.get(arguments, &key).is_none() {
            changes.push((key, Some(value.to_string())));
        }
    }
    if changes.is_empty() {
        return None;
    }
    let mut splice = Splice::new(arguments);
    for (key, value) in &changes {
        match value {
            Some(value) => splice.set(&found, key.as_bytes(), value.as_bytes()),
            None => splice.remove(&found, key.as_bytes()),
        };
    }
    Some(splice.finish().to_vec())
}

fn object(cell: Option<&super::Object>) -> Map<String, Value> {
    cell.and_then(|super::Object(text)| serde_json::from_str(text).ok()).unwrap_or_default()
}

fn one(row: &Dialect, key: &str, given: &Value, schema: Option<&Value>) -> Repaired {
    let calls = &row.calls;
    let does = |repair| calls.repair_arguments.contains(&repair);
    let Some(schema) = schema else {
        return if does(Repair::DropUnknown) { Repaired::Gone } else { Repaired::Same };
    };
    if does(Repair::DropEmpty) && given.as_str() == Some("") {
        return Repaired::Gone;
    }
    let mut value = given.clone();
    if does(Repair::Coerce) {
        value = coerced(value, schema);
    }
    if does(Repair::DropForeign) && is_foreign(&value, schema) {
        return Repaired::Gone;
    }
    if does(Repair::Clamp) {
        value = clamped(value, schema);
    }
    if let Some(cap) = object(calls.argument_caps.as_ref()).get(key)
        && value.as_f64().zip(cap.as_f64()).is_some_and(|(value, cap)| value > cap)
    {
        value = cap.clone();
    }
    if value == *given { Repaired::Same } else { Repaired::Other(value) }
}

/// Converts the value to the type that the schema names, if possible.
fn coerced(value: Value, schema: &Value) -> Value {
    let kind = schema.get("type").and_then(Value::as_str).unwrap_or_default();
    let other = match (kind, &value) {
        ("integer", Value::String(text)) => text.trim().parse::<i64>().ok().map(Value::from),
        ("number", Value::String(text)) => text.trim().parse::<f64>().ok().map(Value::from),
        ("boolean", Value::String(text)) => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" | "on" => Some(Value::Bool(true)),
            "false" | "0" | "no" | "off" => Some(Value::Bool(false)),
            _ => None,
        },
        ("boolean", Value::Number(number)) => number.as_i64().map(|n| Value::Bool(n != 0)),
        ("string", Value::Number(number)) => Some(Value::String(number.to_string())),
        ("string", Value::Bool(flag)) => Some(Value::String(flag.to_string())),
        _ => None,
    };
    other.unwrap_or(value)
}

fn is_foreign(value: &Value, schema: &Value) -> bool {
    schema.get("enum").and_then(Value::as_array).is_some_and(|allowed| !allowed.contains(value))
}

/// Limits the value to the schema's bounds.
fn clamped(value: Value, schema: &Value) -> Value {
    let bound = |key: &str| schema.get(key).filter(|bound| bound.is_number());
    match &value {
        Value::Number(number) => {
            let given = number.as_f64();
            let beyond = |bound: &Value, over: bool| {
                given
                    .zip(bound.as_f64())
                    .is_some_and(|(given, bound)| if over { given > bound } else { given < bound })
            };
            let nearest = bound("maximum")
                .filter(|most| beyond(most, true))
                .or_else(|| bound("minimum").filter(|least| beyond(least, false)));
            nearest.cloned().unwrap_or(value)
        }
        Value::String(text) => {
            let most = bound("maxLength").and_then(Value::as_u64).and_then(|most| usize::try_from(most).ok());
            match most.and_then(|most| text.char_indices().nth(most)) {
                Some((end, _)) => Value::String(text[..end].to_owned()),
                None => value,
            }
        }
        _ => value,
    }
}
