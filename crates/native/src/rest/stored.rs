//! Reports which values of a change were stored. A service reports success even if it ignores a part of the change, so
//! the tool's answer lists the values that the service has stored. This module must not know which service a tool uses.

use config::nearest::nearest;
use serde_json::{Map, Value};

use super::previous::CONTENT_NAMES;
use super::step::{KeptState, Step};
use super::stored_content::{self, CONTENT};
use crate::tools::{Form, ToolArgument, Values};

/// The member of an answer with the stored values. The next constant is the member with the names of the values
/// that were not stored.
pub(crate) const STORED: &str = "stored";
pub(crate) const NOT_STORED: &str = "not_stored";

/// The arguments that services may store only in part, although they report success.
const TOLD: &[&str] = &["categories", "tags", "featured_media", "meta"];

/// The maximum length of a stored value in an answer, in bytes.
const LONGEST: usize = 2000;

/// The values of a call that are compared with those in the service's answer.
#[derive(Debug, Default)]
pub(super) struct ComparedValues {
    /// The members of [`TOLD`]. A service may leave them out of its answer.
    told: Map<String, Value>,
    /// The fields that the call names itself. The answer contains each of them that the service has stored.
    fields: Map<String, Value>,
    /// The content that the call sends.
    content: Option<String>,
}

impl ComparedValues {
    pub(super) fn is_empty(&self) -> bool {
        self.told.is_empty() && self.fields.is_empty() && self.content.is_none()
    }
}

/// Returns true if the answers of this tool may report what was stored.
pub(crate) fn may_tell(arguments: &[ToolArgument], steps: &[Step]) -> bool {
    has_told(arguments) || steps.iter().any(is_about_content)
}

fn has_told(arguments: &[ToolArgument]) -> bool {
    arguments.iter().any(|row| row.form == Form::Fields || TOLD.contains(&row.called.unwrap_or(row.name)))
}

/// Returns true for the steps of tools that replace or restore content.
fn is_about_content(step: &Step) -> bool {
    match step {
        Step::Check(check) => matches!(check.keeping, KeptState::Content),
        Step::Restore(restoring) => restoring.argument == CONTENT_NAMES.member,
        _ => false,
    }
}

/// The values of a call that are compared with the stored values.
pub(super) fn comparable(arguments: &[ToolArgument], steps: &[Step], values: &Values) -> ComparedValues {
    let mut compared = ComparedValues::default();
    // Other services turn parts of a text, such as names of members, into links.
    let is_content = may_tell(arguments, steps);
    for row in arguments.iter().filter(|row| row.sent) {
        let name = row.called.unwrap_or(row.name);
        match values.get(row.name) {
            Some(Value::Object(fields)) if row.form == Form::Fields => compared.fields.extend(fields.clone()),
            Some(value) if TOLD.contains(&name) && !value.is_string() => {
                compared.told.insert(name.to_owned(), value.clone());
            }
            Some(Value::String(text)) if name == CONTENT && is_content => {
                compared.content = Some(text.clone());
            }
            _ => {}
        }
    }
    compared
}

/// The members that report what was stored, given the values of the call and the service's answer. Members of the answer that are
/// shown in any case are left out.
pub(super) fn stored(compared: &ComparedValues, answer: &Value, shown: &Value) -> Map<String, Value> {
    let (mut values, mut missing) = (Map::new(), Vec::new());
    let told = compared.told.iter().filter_map(|(name, wanted)| Some((name, wanted, answer.get(name)?)));
    let absent: Vec<&String> = compared.fields.keys().filter(|name| answer.get(name).is_none()).collect();
    let fields = compared.fields.iter().filter_map(|(name, wanted)| Some((name, wanted, answer.get(name)?)));
    for (name, wanted, found) in told.chain(fields) {
        let found = match (wanted, found) {
            (Value::Object(wanted), found) => {
                // PHP writes an object without members as a list.
                let found = found.as_object().cloned().unwrap_or_default();
                let differs =
                    |key: &String, value| !found.get(key).is_some_and(|found| is_same(value, found));
                let lost = wanted.iter().filter(|(key, value)| differs(key, value));
                missing.extend(lost.map(|(key, _)| format!("{name}.{}", hinted(key, &found))));
                let part: Map<String, Value> =
                    found.into_iter().filter(|(key, _)| wanted.contains_key(key)).collect();
                if part.is_empty() {
                    continue;
                }
                Value::Object(part)
            }
            (wanted, found) => {
                if !is_same(wanted, found) {
                    missing.push(name.clone());
                }
                found.clone()
            }
        };
        if shown.get(name).is_none() && found.to_string().len() <= LONGEST {
            values.insert(name.clone(), found);
        }
    }
    let nothing = Map::new();
    let known = answer.as_object().unwrap_or(&nothing);
    missing.extend(absent.into_iter().map(|name| hinted(name, known)));
    let mut members = Map::new();
    if !values.is_empty() {
        members.insert(STORED.to_owned(), Value::Object(values));
    }
    if !missing.is_empty() {
        members.insert(NOT_STORED.to_owned(), Value::from(missing));
    }
    if let Some(sent) = &compared.content {
        stored_content::report(sent, answer, &mut members);
    }
    members
}

/// A name that was not stored. If it is not among the known names, the most similar one follows it.
fn hinted(name: &str, known: &Map<String, Value>) -> String {
    let names = known.keys().map(String::as_str).filter(|known| !known.starts_with('_'));
    match nearest(name, names).filter(|near| *near != name) {
        Some(near) => format!("{name} (did you mean {near:?}?)"),
        None => name.to_owned(),
    }
}

/// Returns true if the stored value matches the requested one. A stored list may have another order and more elements, and
/// a stored object more members. PHP may store a number or a flag as a text, and no value as an empty one. A text may be
/// stored as an object with its source.
fn is_same(wanted: &Value, found: &Value) -> bool {
    match (wanted, found) {
        (Value::Array(wanted), Value::Array(found)) => {
            wanted.iter().all(|one| found.iter().any(|found| is_same(one, found)))
        }
        (Value::Object(wanted), Value::Object(found)) => {
            wanted.iter().all(|(key, one)| found.get(key).is_some_and(|found| is_same(one, found)))
        }
        (Value::String(text), Value::Object(found)) => {
            found.get("raw").and_then(Value::as_str).is_some_and(|raw| raw.trim() == text.trim())
        }
        (Value::Null, found) => is_nothing(found),
        (Value::Bool(_), _) | (_, Value::Bool(_)) => {
            truth(wanted).is_some_and(|wanted| truth(found) == Some(wanted))
        }
        (Value::Number(_) | Value::String(_), Value::Number(_) | Value::String(_)) => {
            plain_text(wanted) == plain_text(found)
        }
        (wanted, found) => wanted == found,
    }
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(members) => members.is_empty(),
    }
}

/// The flag that a value stands for; `None` if it stands for none. PHP stores flags as 1 and 0, or as 1 and an empty text.
fn truth(value: &Value) -> Option<bool> {
    match plain_text(value).as_str() {
        "true" | "1" => Some(true),
        "false" | "0" | "" => Some(false),
        _ => None,
    }
}

/// The text by which values are compared: it is the same for a number and for a text with this number.
fn plain_text(value: &Value) -> String {
    let number = |number: f64| number.to_string();
    match value {
        Value::Number(value) => value.as_f64().map_or_else(|| value.to_string(), number),
        Value::String(text) => text.trim().parse().map_or_else(|_| text.trim().to_owned(), number),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: &Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    fn told(told: &Value, answer: &Value) -> Value {
        let compared = ComparedValues { told: object(told), ..ComparedValues::default() };
        Value::Object(stored(&compared, answer, &json!({"id": 1, "author": 2})))
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
        assert_eq!(
            told(&json!({"menu_order": 4}), &answer),
            json!({}),
            "a service may leave out what it stores"
        );
        assert_eq!(told(&json!({"meta": {"a": 1}}), &json!({"meta": []})), json!({"not_stored": ["meta.a"]}));
        let shop = json!({"tags": [{"id": 3, "name": "T", "slug": "t"}]});
        assert_eq!(told(&json!({"tags": [{"id": 3}]}), &shop), json!({"stored": shop}));
        assert_eq!(told(&json!({"tags": [{"id": 4}]}), &shop)["not_stored"], json!(["tags"]));
    }

    #[test]
    fn a_field_that_the_answer_lacks_was_not_stored() {
        let answer = json!({
            "id": 1, "author": 2, "categories": [1], "caption": {"raw": "C ", "rendered": "<p>C</p>"}, "acf": {"price": 5},
            "_links": {},
        });
        let told = |fields: &Value| {
            let compared = ComparedValues { fields: object(fields), ..ComparedValues::default() };
            Value::Object(stored(&compared, &answer, &json!({"id": 1})))
        };
        for (fields, lost) in [
            (json!({"catgories": [1]}), "catgories (did you mean \"categories\"?)"),
            (json!({"colour": "red"}), "colour"),
            (json!({"links": 1}), "links"),
            (json!({"author": 3}), "author"),
            (json!({"caption": "D"}), "caption"),
            (json!({"acf": {"pric": 6}}), "acf.pric (did you mean \"price\"?)"),
            (json!({"acf": {"price": 6}}), "acf.price"),
        ] {
            assert_eq!(told(&fields)["not_stored"], json!([lost]), "{fields}");
        }
        let kept = json!({"author": "2", "categories": [], "caption": "C", "acf": {"price": "5.0"}});
        assert_eq!(told(&kept).get("not_stored"), None);
        assert_eq!(told(&kept)["stored"]["author"], 2);
    }

    #[test]
    fn values_are_compared_as_php_writes_them() {
        for (wanted, found) in [
            (json!(5), json!("5")),
            (json!(1.50), json!("1.5")),
            (json!(true), json!(1)),
            (json!(false), json!("")),
            (json!(false), json!(0)),
            (json!("1"), json!(true)),
            (json!(null), json!("")),
            (json!({"a": [1]}), json!({"a": ["2", "1"], "b": 3})),
        ] {
            assert!(is_same(&wanted, &found), "{wanted} {found}");
        }
        for (wanted, found) in [
            (json!(5), json!("5a")),
            (json!("a"), json!("A")),
            (json!(true), json!(0)),
            (json!(true), json!("yes")),
            (json!(false), json!([])),
            (json!(null), json!("x")),
            (json!([1]), json!({})),
            (json!("x"), json!(["x"])),
        ] {
            assert!(!is_same(&wanted, &found), "{wanted} {found}");
        }
    }
}
