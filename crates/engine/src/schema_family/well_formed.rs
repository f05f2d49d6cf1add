//! Malformed keyword values with a clear meaning. This module must not know any family.

use serde_json::Value;

use super::keywords::{TYPES, is_well_formed};

/// The well-formed equivalent of a malformed value; `None` if the value is well-formed, or its meaning is not
/// clear.
pub(super) fn repaired(key: &str, value: &Value) -> Option<Value> {
    match (key, value) {
        ("type", Value::String(one)) => {
            let known = TYPES.iter().find(|kind| kind.eq_ignore_ascii_case(one) && *kind != one);
            known.map(|kind| (*kind).into())
        }
        ("type", Value::Array(many)) if !is_well_formed(key, value, true) => {
            let known = |kind: &&&str| {
                many.iter().filter_map(Value::as_str).any(|one| one.eq_ignore_ascii_case(kind))
            };
            let known: Vec<Value> = TYPES.iter().filter(known).map(|kind| (*kind).into()).collect();
            // An unknown type among known ones may be any type.
            let is_clear = many.iter().all(|one| {
                one.as_str().is_some_and(|one| TYPES.iter().any(|kind| kind.eq_ignore_ascii_case(one)))
            });
            (is_clear && !known.is_empty()).then(|| known.into())
        }
        ("required", Value::Array(names)) if !is_well_formed(key, value, true) => {
            let mut seen = std::collections::HashSet::new();
            let names: Vec<Value> = names
                .iter()
                .filter(|name| name.as_str().is_some_and(|name| seen.insert(name)))
                .cloned()
                .collect();
            (!names.is_empty()).then(|| names.into())
        }
        _ => None,
    }
}
