//! Lists whose first items have schemas of their own, in the spelling of older drafts. This module must not know any family.

use serde_json::{Map, Value};

/// Rewrites a list of schemas in `items` to `prefixItems`, with the same meaning.
pub(super) fn untupled(node: &mut Map<String, Value>) {
    if !node.get("items").is_some_and(Value::is_array) {
        return;
    }
    let first = node.shift_remove("items");
    let rest = node.shift_remove("additionalItems").unwrap_or(Value::Bool(true));
    if let Some(first) = first {
        node.entry("prefixItems").or_insert(first);
    }
    let rest = if rest == Value::Bool(true) { Value::Object(Map::new()) } else { rest };
    node.insert("items".to_owned(), rest);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_tuple_keeps_its_meaning() {
        let mut node = json!({ "items": [{ "type": "string" }], "additionalItems": false, "title": "t" });
        untupled(node.as_object_mut().unwrap());
        assert_eq!(node, json!({ "title": "t", "prefixItems": [{ "type": "string" }], "items": false }));
        let mut open = json!({ "items": [true] });
        untupled(open.as_object_mut().unwrap());
        assert_eq!(open, json!({ "prefixItems": [true], "items": {} }));
    }
}
