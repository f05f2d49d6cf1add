//! Reads, adds and removes the members of one top-level mapping of a text. Clients keep their servers in such a
//! mapping, too. This module must not know the name of any key.

use std::rc::Rc;

use serde_json::{Map, Value};

use super::container::{Container, Element};
use super::{EditFault, has_one_less, has_one_more, same_but, started, tree};
use crate::syntax::parse::{Entry, Node, NodeKind};

/// Returns the value of a text in JSON, in JSON with comments, or in YAML. An empty text is an empty mapping.
///
/// # Errors
/// Fails if the text is not valid, is too long, or is not a mapping.
pub fn read_value(text: &str) -> Result<Value, EditFault> {
    Ok(tree(text)?.map_or_else(|| Map::new().into(), |root| value_of(&root)))
}

fn value_of(node: &Node) -> Value {
    match &node.kind {
        NodeKind::Null => Value::Null,
        NodeKind::Scalar { text, quoted: true } => text.as_str().into(),
        NodeKind::Scalar { text, quoted: false } => match text.as_str() {
            "true" => true.into(),
            "false" => false.into(),
            // A number in JSON's spelling; everything else, such as a version, stays a text.
            number => {
                serde_json::from_str(number).ok().filter(Value::is_number).unwrap_or_else(|| number.into())
            }
        },
        NodeKind::List(items) => items.iter().map(|item| value_of(item)).collect(),
        NodeKind::Map(entries) => entries.iter().map(|one| (one.key.clone(), value_of(&one.value))).collect(),
    }
}

/// Returns the text in which the mapping below `key` has a member `name` with this value. An existing member with
/// this name is replaced.
///
/// # Errors
/// Fails if the text is not a mapping, or cannot be edited safely.
pub fn put_member(text: &str, key: &str, name: &str, value: &Value) -> Result<String, EditFault> {
    match tree(text)?.and_then(|root| Some(value_of(&position(&root, key, name)?.2.value))) {
        Some(present) if present == *value => Ok(text.to_owned()),
        Some(_) => insert_member(&remove_member(text, key, name)?, key, name, value),
        None => insert_member(text, key, name, value),
    }
}

/// Returns the text in which the mapping below `key` has one more member.
pub(super) fn insert_member(text: &str, key: &str, name: &str, value: &Value) -> Result<String, EditFault> {
    let Some(root) = tree(text)? else { return Ok(started(text, key, name, value)) };
    let whole = serde_json::json!({ name: value });
    let at_top = || Container::of(text, &root);
    let edited = match root.entries().iter().find(|entry| entry.key == key) {
        None if is_empty_json(&root, text) => Some(written_anew(key, &whole)),
        None => at_top().and_then(|top| top.insert(&Element::Member(key, &whole))),
        Some(found) if matches!(found.value.kind, NodeKind::Null) => {
            at_top().and_then(|top| top.fill(found, name, value))
        }
        Some(found) => Container::of(text, &found.value)
            .and_then(|members| members.insert(&Element::Member(name, value))),
    };
    let edited = edited.ok_or_else(EditFault::by_hand)?;
    let new = tree(&edited).ok().flatten().ok_or_else(EditFault::by_hand)?;
    let is_right =
        same_but(&root, &new, &|other, old, new| other == key && has_one_more(old, new, name, value));
    if is_right { Ok(edited) } else { Err(EditFault::by_hand()) }
}

/// Returns true for a file that contains only `{}`, as clients write it when they start.
fn is_empty_json(root: &Node, text: &str) -> bool {
    root.entries().is_empty() && text.split_whitespace().collect::<String>() == "{}"
}

fn written_anew(key: &str, members: &Value) -> String {
    let mut text = serde_json::to_string_pretty(&serde_json::json!({ key: members })).unwrap_or_default();
    text.push('\n');
    text
}

/// Returns the text in which the mapping below `key` has no member `name`.
///
/// # Errors
/// Fails if there is no such member, or if the text cannot be edited safely.
pub fn remove_member(text: &str, key: &str, name: &str) -> Result<String, EditFault> {
    let missing =
        || EditFault::new(format!("there is no {name:?} below `{key}`"), "there is nothing to remove");
    let root = tree(text)?.ok_or_else(missing)?;
    let (found, at, _) = position(&root, key, name).ok_or_else(missing)?;
    let container = Container::of(text, &found.value).ok_or_else(EditFault::by_hand)?;
    let edited = container.remove(at, &found.key_at).ok_or_else(EditFault::by_hand)?;
    let new = tree(&edited).ok().flatten().ok_or_else(EditFault::by_hand)?;
    let lost_it = |old: Option<&Node>, new: &Node| old.is_some_and(|old| has_one_less(old, new, name));
    let is_right = same_but(&root, &new, &|other, old, new| other == key && lost_it(old, new));
    if is_right { Ok(edited) } else { Err(EditFault::by_hand()) }
}

/// Returns the mapping below a key, and the position and the entry of one of its members.
fn position<'n>(root: &'n Rc<Node>, key: &str, name: &str) -> Option<(&'n Entry, usize, &'n Entry)> {
    let found = root.entries().iter().find(|entry| entry.key == key)?;
    let (at, member) = found.value.entries().iter().enumerate().find(|(_, one)| one.key == name)?;
    Some((found, at, member))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn members_are_put_and_removed_in_every_notation() {
        let entry = json!({ "url": "http://127.0.0.1:8808/mcp" });
        for (before, after) in [
            ("", "servers:\n  dragoman:\n    url: http://127.0.0.1:8808/mcp\n"),
            (
                "{}\n",
                "{\n  \"servers\": {\n    \"dragoman\": {\n      \"url\": \"http://127.0.0.1:8808/mcp\"\n    }\n  }\n}\n",
            ),
            (
                "{\n\t\"theme\": \"dark\", // mine\n\t\"servers\": {\n\t\t\"a\": {\"command\": \"x\"},\n\t}\n}\n",
                "{\n\t\"theme\": \"dark\", // mine\n\t\"servers\": {\n\t\t\"a\": {\"command\": \"x\"},\n\t\t\"dragoman\": {\n\t\t\t\"url\": \
                 \"http://127.0.0.1:8808/mcp\"\n\t\t},\n\t}\n}\n",
            ),
            (
                "model: x\nservers:\n  a: { cmd: x } # mine\n",
                "model: x\nservers:\n  a: { cmd: x } # mine\n  dragoman:\n    url: http://127.0.0.1:8808/mcp\n",
            ),
        ] {
            let with = put_member(before, "servers", "dragoman", &entry)
                .unwrap_or_else(|fault| panic!("{before}: {fault:?}"));
            assert_eq!(with, after);
            assert_eq!(put_member(&with, "servers", "dragoman", &entry).expect("replaced"), with);
            assert_eq!(read_value(&with).expect("valid")["servers"]["dragoman"], entry);
            let without = remove_member(&with, "servers", "dragoman").expect("removed");
            if before.contains('a') {
                assert_eq!(without, before);
            }
            assert!(remove_member(before, "servers", "dragoman").is_err());
        }
    }

    #[test]
    fn values_keep_their_types() {
        let text = "{ \"a\": [1, 2.5, true, null, \"1\", \"true\"] }";
        assert_eq!(read_value(text).expect("valid"), json!({ "a": [1, 2.5, true, null, "1", "true"] }));
        assert_eq!(read_value("a: [1.10.2, yes]\n").expect("valid"), json!({ "a": ["1.10.2", "yes"] }));
        assert!(read_value("[1]").is_err() && read_value("{").is_err());
    }
}
