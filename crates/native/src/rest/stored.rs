//! The values that a change has stored. Services report success even if they ignore a part of a change, so the
//! answer shows which values they have stored. This module must not know which service this is.

use serde_json::{Map, Value};

use crate::tools::{Form, ToolArgument, Values};

/// The member of an answer with the stored values. The next constant is the member with the names of the values
/// that were not stored.
pub(crate) const STORED: &str = "stored";
pub(crate) const NOT_STORED: &str = "not_stored";

/// The arguments that services may store only in part, although they report success.
const TOLD: &[&str] = &["categories", "tags", "featured_media", "meta"];

/// Returns true if the answers of a tool with these arguments may report what was stored.
pub(crate) fn may_tell(arguments: &[ToolArgument]) -> bool {
    arguments.iter().any(|row| row.form == Form::Spread || TOLD.contains(&row.called.unwrap_or(row.name)))
}

/// The values of a call that are compared with the stored values.
pub(super) fn comparable(arguments: &[ToolArgument], values: &Values) -> Map<String, Value> {
    let mut all = Map::new();
    for row in arguments.iter().filter(|row| row.sent) {
        let name = row.called.unwrap_or(row.name);
        match values.get(row.name) {
            Some(Value::Object(spread)) if row.form == Form::Spread => {
                let told = spread.iter().filter(|(name, _)| TOLD.contains(&name.as_str()));
                all.extend(told.map(|(name, value)| (name.clone(), value.clone())));
            }
            Some(value) if TOLD.contains(&name) && !value.is_string() => {
                all.insert(name.to_owned(), value.clone());
            }
            _ => {}
        }
    }
    all
}

/// The members that report what was stored, given the values of the call and the service's answer. Members of the answer that are
/// shown in any case are left out.
pub(super) fn stored(asked: &Map<String, Value>, answer: &Value, shown: &Value) -> Map<String, Value> {
    let (mut values, mut missing) = (Map::new(), Vec::new());
    for (name, wanted) in asked {
        let Some(found) = answer.get(name) else { continue };
        if let Value::Object(wanted) = wanted {
            // PHP writes an object without members as a list.
            let found = found.as_object().cloned().unwrap_or_default();
            let of = |key: &String| found.get(key).map(|value| (key.clone(), value.clone()));
            let part: Map<String, Value> = wanted.keys().filter_map(of).collect();
            missing.extend(
                wanted.keys().filter(|key| !found.contains_key(*key)).map(|key| format!("{name}.{key}")),
            );
            if !part.is_empty() {
                values.insert(name.clone(), Value::Object(part));
            }
            continue;
        }
        if !is_same(wanted, found) {
            missing.push(name.clone());
        }
        if shown.get(name).is_none() && found.to_string().len() <= 2000 {
            values.insert(name.clone(), found.clone());
        }
    }
    let mut members = Map::new();
    if !values.is_empty() {
        members.insert(STORED.to_owned(), Value::Object(values));
    }
    if !missing.is_empty() {
        members.insert(NOT_STORED.to_owned(), Value::from(missing));
    }
    members
}

/// Returns true if the stored value matches the requested one. A stored list may have another order and more
/// elements; numbers are compared by value.
fn is_same(wanted: &Value, found: &Value) -> bool {
    match (wanted, found) {
        (Value::Array(wanted), Value::Array(found)) => wanted.iter().all(|one| found.contains(one)),
        (Value::Number(wanted), Value::Number(found)) => wanted.as_f64() == found.as_f64(),
        (wanted, found) => wanted == found,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(asked: &Value, answer: &Value) -> Value {
        let asked = asked.as_object().unwrap();
        Value::Object(stored(asked, answer, &json!({"id": 1, "author": 2})))
    }

    #[test]
    fn an_answer_tells_what_was_stored_and_what_was_not() {
        let answer = json!({"id": 1, "author": 2, "categories": [1, 3], "featured_media": 0, "sticky": true, "meta": {"a": 1}});
        assert_eq!(
            told(&json!({"categories": [3, 1], "sticky": true, "author": 2}), &answer),
            json!({"stored": {"categories": [1, 3], "sticky": true}})
        );
        assert_eq!(
            told(&json!({"categories": [9], "featured_media": 7, "meta": {"a": 1, "b": 2}}), &answer),
            json!({
                "stored": {"categories": [1, 3], "featured_media": 0, "meta": {"a": 1}},
                "not_stored": ["categories", "featured_media", "meta.b"],
            })
        );
        assert_eq!(told(&json!({"menu_order": 4}), &answer), json!({}), "an unknown member says nothing");
        assert_eq!(told(&json!({"meta": {"a": 1}}), &json!({"meta": []})), json!({"not_stored": ["meta.a"]}));
    }
}
