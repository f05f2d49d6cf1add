//! Fields that plugins add to content: registered meta fields, those of Advanced Custom Fields (ACF), and data for
//! search engines (Yoast SEO). Compact answers show the fields that are not empty. This module must not know any
//! tool.

use serde_json::{Map, Value};

/// The members of a site's answer that contain such fields, for WordPress's `_fields`.
pub(super) const MEMBERS: &str = "meta,acf,yoast_head_json";
/// Members of `yoast_head_json`, each with the name under which answers show it. The other members repeat the post
/// itself.
const SEO: [(&str, &str); 4] =
    [("title", "title"), ("description", "description"), ("canonical", "canonical"), ("og_image", "image")];
/// The largest size of one member, as JSON in bytes. Page builders store whole pages in meta fields; `full` shows them.
const LARGEST: usize = 4 << 10;

/// The non-empty fields of an answer, by the names under which answers show them.
pub(super) fn plugin_fields(answer: &Value) -> Map<String, Value> {
    let mut shown = Map::new();
    for name in ["meta", "acf"] {
        let fields = answer.get(name).and_then(Value::as_object).map(filled).unwrap_or_default();
        if !fields.is_empty() {
            shown.insert(name.to_owned(), Value::Object(fields));
        }
    }
    if let Some(head) = answer.get("yoast_head_json") {
        let seo = SEO.iter().filter_map(|(from, to)| Some(((*to).to_owned(), head.get(from)?.clone())));
        let seo: Map<String, Value> = filled(&seo.collect());
        if !seo.is_empty() {
            shown.insert("seo".to_owned(), Value::Object(seo));
        }
    }
    shown
}

/// The members that are neither empty nor too large.
fn filled(members: &Map<String, Value>) -> Map<String, Value> {
    let is_filled = |value: &Value| match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(members) => !members.is_empty(),
        Value::Bool(_) | Value::Number(_) => true,
    };
    let shown = members.iter().filter(|(_, value)| is_filled(value) && value.to_string().len() <= LARGEST);
    shown.map(|(name, value)| (name.clone(), value.clone())).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_filled_fields_of_reasonable_size_are_shown() {
        let answer = json!({
            "meta": {"footnotes": "", "subtitle": "A & B", "count": 0, "list": [], "layout": "x".repeat(5000)},
            "acf": [],
            "yoast_head_json": {"title": "T", "description": "", "og_image": [{"url": "u"}], "schema": {"a": 1}},
        });
        let shown = json!({"meta": {"subtitle": "A & B", "count": 0}, "seo": {"title": "T", "image": [{"url": "u"}]}});
        assert_eq!(Value::Object(plugin_fields(&answer)), shown);
        assert!(plugin_fields(&json!({"id": 7, "meta": []})).is_empty());
    }
}
