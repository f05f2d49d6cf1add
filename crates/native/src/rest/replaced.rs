//! The values that a change replaces, in the form in which they can be sent back. This module must not know which service a tool
//! uses.

use serde_json::{Map, Value, json};

use super::step::KeptState;
use crate::arguments::argument::ArgumentType;
use crate::tools::ToolArgument;

/// The member with the content of an item.
const CONTENT: &str = "content";

/// The values that a change replaces.
#[derive(Debug, Default)]
pub(super) struct ReplacedValues {
    /// The values that can be sent back, by name.
    pub(super) values: Map<String, Value>,
    /// The names of the values that cannot be sent back.
    pub(super) lost: Vec<String>,
}

impl KeptState {
    /// The values of the item that are replaced if these values are sent with these arguments.
    pub(super) fn replaced(
        &self,
        arguments: &[ToolArgument],
        sent: &Map<String, Value>,
        current: &Value,
    ) -> ReplacedValues {
        let mut replaced = ReplacedValues::default();
        match self {
            Self::Content => {
                let content =
                    current.get(CONTENT).and_then(|content| content.get("raw").unwrap_or(content).as_str());
                replaced.values.extend(content.map(|content| (CONTENT.to_owned(), json!(content))));
            }
            Self::Values(kept) => {
                for (name, new) in sent {
                    let mut rows = arguments.iter().chain(kept.together);
                    let row = rows.find(|row| row.called.unwrap_or(row.name) == name);
                    let old = current.get(name).filter(|old| {
                        !kept.except.contains(&name.as_str()) && !has_member(old, kept.removed)
                    });
                    match old.and_then(|old| sendable(row, new, old)) {
                        Some(mut old) => {
                            let gone = without_empty(&mut old, new, kept.never_empty);
                            replaced.lost.extend(gone.map(|member| format!("{name}.{member}")));
                            replaced.values.insert(name.clone(), old);
                        }
                        None => replaced.lost.push(name.clone()),
                    }
                }
            }
        }
        replaced
    }
}

/// Returns true if any object in the value has this member.
fn has_member(value: &Value, name: &str) -> bool {
    match value {
        Value::Array(list) => list.iter().any(|value| has_member(value, name)),
        Value::Object(members) => {
            members.contains_key(name) || members.values().any(|value| has_member(value, name))
        }
        _ => false,
    }
}

/// The old value as an argument of this row can send it; `None` if it cannot.
fn sendable(row: Option<&ToolArgument>, new: &Value, old: &Value) -> Option<Value> {
    let Some(row) = row else { return Some(old.clone()) };
    let is_keyed = ["key", "value"].iter().all(|name| row.members.contains(name));
    Some(match old {
        // Services report a missing value as null, and ignore null in a change.
        Value::Null => match row.kind {
            ArgumentType::Text | ArgumentType::Raw | ArgumentType::Html => json!(""),
            ArgumentType::Integer | ArgumentType::Number | ArgumentType::User => json!(0),
            ArgumentType::Flag => json!(false),
            ArgumentType::Texts | ArgumentType::Integers | ArgumentType::Objects => json!([]),
            ArgumentType::Object | ArgumentType::Any => Value::Null,
        },
        // Services have words for some values that a change sends as a flag.
        Value::String(_) if row.kind == ArgumentType::Flag => json!(false),
        Value::Array(old) if is_keyed => return keyed(new.as_array()?, old),
        Value::Array(old) => old.iter().map(|value| only(row.members, value)).collect(),
        old => only(row.members, old),
    })
}

/// Removes members of an object that must not be empty, and are. Returns those that the new object sets.
fn without_empty<'a>(
    old: &mut Value,
    new: &'a Value,
    never_empty: &'a [&str],
) -> impl Iterator<Item = &'a str> {
    let mut gone = Vec::new();
    if let Some(members) = old.as_object_mut() {
        members.retain(|name, value| {
            let is_empty = value == "" && never_empty.contains(&name.as_str());
            gone.extend(is_empty.then(|| name.clone()));
            !is_empty
        });
    }
    never_empty.iter().copied().filter(move |name| {
        gone.iter().any(|gone| gone == name) && new.get(name).is_some_and(|new| new != "")
    })
}

/// The object with only these members, if there are any.
fn only(names: &[&str], value: &Value) -> Value {
    let Some(members) = value.as_object().filter(|_| !names.is_empty()) else { return value.clone() };
    let fitting = members.iter().filter(|(name, _)| names.contains(&name.as_str()));
    Value::Object(fitting.map(|(name, value)| (name.clone(), value.clone())).collect())
}

/// The old values of the fields with the keys of the new ones; a field that did not exist has the value null, which removes it.
/// `None` if a key has several fields, or is missing.
fn keyed(new: &[Value], old: &[Value]) -> Option<Value> {
    let mut values = Vec::new();
    for field in new {
        let by_id = || old.iter().find(|old| field.get("id").is_some_and(|id| old.get("id") == Some(id)));
        let key = field.get("key").or_else(|| by_id()?.get("key"))?;
        let mut same = old.iter().filter(|old| old.get("key") == Some(key));
        let value = same.next().and_then(|old| old.get("value")).cloned().unwrap_or_default();
        if same.next().is_some() {
            return None;
        }
        values.push(json!({"key": key, "value": value}));
    }
    Some(Value::Array(values))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rest::KeptValues;
    use crate::tools::{flag, int, objects, text};

    const KEPT: KeptState = KeptState::Values(KeptValues {
        together: &[],
        except: &["line_items"],
        never_empty: &["email"],
        removed: "redacted",
    });

    fn replaced(sent: &Value, current: &Value) -> (Value, Vec<String>) {
        let arguments = [
            text("price", ""),
            int("stock", ""),
            flag("counted", ""),
            objects("categories", "").having(&["id"]),
            objects("meta_data", "").having(&["id", "key", "value"]),
        ];
        let found = KEPT.replaced(&arguments, sent.as_object().unwrap(), current);
        (Value::Object(found.values), found.lost)
    }

    #[test]
    fn only_what_changes_is_kept_in_the_form_of_a_change() {
        let current = json!({
            "id": 3, "price": "9.90", "stock": null, "counted": false, "name": "Tea",
            "categories": [{"id": 1, "name": "Teas"}],
        });
        let sent = json!({"price": "1.00", "stock": 5, "counted": true, "categories": [{"id": 2}]});
        let kept = json!({"price": "9.90", "stock": 0, "counted": false, "categories": [{"id": 1}]});
        assert_eq!(replaced(&sent, &current), (kept, Vec::new()));
        assert_eq!(replaced(&json!({"price": "1"}), &json!({"price": null})).0, json!({"price": ""}));
    }

    #[test]
    fn what_cannot_be_sent_back_is_named() {
        let current = json!({
            "line_items": [{"id": 1}], "billing": {"country": "NO", "redacted": ["city"]}, "status": "pending",
        });
        let sent =
            json!({"line_items": [], "billing": {"city": "Oslo"}, "email": "a@b.c", "status": "completed"});
        let (kept, lost) = replaced(&sent, &current);
        assert_eq!((kept, lost.len()), (json!({"status": "pending"}), 3), "{lost:?}");
    }

    #[test]
    fn a_member_that_was_empty_is_left_out_if_it_must_not_be_empty() {
        let current = json!({"billing": {"email": "", "city": ""}});
        for (billing, lost) in [
            (json!({"city": "Oslo"}), Vec::new()),
            (json!({"city": "Oslo", "email": "a@b.c"}), vec!["billing.email".to_owned()]),
        ] {
            assert_eq!(
                replaced(&json!({"billing": billing}), &current),
                (json!({"billing": {"city": ""}}), lost)
            );
        }
    }

    #[test]
    fn custom_fields_are_kept_by_their_keys() {
        let current = json!({"meta_data": [{"id": 5, "key": "a", "value": 1}, {"id": 6, "key": "b", "value": 2}, {"id": 7, "key": "b", "value": 3}]});
        let of = |fields: Value| replaced(&json!({"meta_data": fields}), &current);
        let (kept, lost) = of(json!([{"key": "a", "value": 9}, {"key": "new", "value": 1}]));
        let fields = json!([{"key": "a", "value": 1}, {"key": "new", "value": null}]);
        assert_eq!((kept, lost.len()), (json!({"meta_data": fields}), 0));
        assert_eq!(of(json!([{"id": 5, "value": 9}])).0, json!({"meta_data": [{"key": "a", "value": 1}]}));
        for doubtful in [json!([{"key": "b", "value": 9}]), json!([{"id": 99, "value": 9}])] {
            assert_eq!(of(doubtful), (json!({}), vec!["meta_data".to_owned()]));
        }
    }
}
