//! One node that replaces several schemas of the same value and has all their types, for families without `anyOf`,
//! `oneOf` and `allOf`. This module must not know how schemas are written.

use serde_json::{Map, Value, json};

use super::keywords::types;

/// One node in place of several alternative nodes, with the types of all of them. The structure of a node is kept only if all
/// other nodes are null.
pub(super) fn merged_types(nodes: Vec<Value>) -> Map<String, Value> {
    let mut kinds: Vec<Value> = Vec::new();
    let mut others: Vec<Map<String, Value>> = Vec::new();
    for node in nodes {
        let Value::Object(node) = node else {
            if node == Value::Bool(false) {
                continue;
            }
            return Map::new();
        };
        let named = types(&node);
        if named.is_empty() {
            return Map::new();
        }
        kinds.extend(named.iter().map(|kind| Value::from(*kind)));
        if named != ["null"] {
            others.push(node);
        }
    }
    let mut seen = std::collections::HashSet::new();
    kinds.retain(|kind| seen.insert(kind.to_string()));
    let mut out = match <[_; 1]>::try_from(others) {
        Ok([only]) if !only.contains_key("const") => only,
        _ => Map::new(),
    };
    if let Some(Value::Array(values)) = out.get_mut("enum")
        && kinds.iter().any(|kind| kind == "null")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    if kinds.iter().any(|kind| kind == "array") {
        out.entry("items").or_insert_with(|| json!({}));
    }
    match kinds.len() {
        0 => {}
        1 => drop(out.insert("type".to_owned(), kinds.remove(0))),
        _ => drop(out.insert("type".to_owned(), kinds.into())),
    }
    out
}

/// A node's own keywords together with those of its alternatives. If both have a keyword, the node's own is used.
pub(super) fn conjoined(mut own: Map<String, Value>, alternatives: Map<String, Value>) -> Map<String, Value> {
    let is_plain = own
        .keys()
        .all(|key| matches!(key.as_str(), "title" | "description" | "default" | "examples" | "$schema"));
    if is_plain {
        for (key, value) in alternatives {
            own.entry(key).or_insert(value);
        }
    } else if !own.contains_key("type")
        && let Some(kind) = alternatives.get("type")
    {
        own.insert("type".to_owned(), kind.clone());
    }
    own
}
