//! Long texts and addresses in the entries of a list: an entry shows the beginning of each text, as plain text, and the item itself
//! shows the whole text. Words in an address are shown as they are read, which takes a third of the bytes. This module must not know which list this is.

use serde_json::Value;

use super::encode::readable;
use super::pick::excerpt;

/// The members of entries that may be long texts, wherever WordPress has them.
const LONG: &[&str] = &["content", "description", "excerpt", "rendered"];
/// The members of entries that are addresses, or parts of addresses.
const ADDRESSES: &[&str] = &["link", "slug"];

/// The list under this name, with short texts in its entries.
pub(super) fn brief(mut answer: Value, name: &str) -> Value {
    let entries = answer.get_mut(name).and_then(Value::as_array_mut);
    for entry in entries.into_iter().flatten().filter_map(Value::as_object_mut) {
        for (name, value) in entry.iter_mut() {
            if LONG.contains(&name.as_str()) && value.is_string() {
                *value = Value::from(excerpt(value).unwrap_or_default());
            } else if let Some(address) = value.as_str().filter(|_| ADDRESSES.contains(&name.as_str())) {
                *value = Value::from(readable(address));
            }
        }
    }
    answer
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn entries_have_the_beginnings_of_long_texts() {
        let long = "word ".repeat(100);
        let answer = json!({"count": 2, "content": long, "rows": [
            {"id": 1, "content": format!("<p>{long}</p>"), "title": long},
            {"id": 2, "content": "<p>R&amp;D</p>\n", "description": "", "excerpt": null, "rendered": {"a": long}},
        ]});
        let shown = brief(answer.clone(), "rows");
        assert!(
            shown["rows"][0]["content"]
                .as_str()
                .is_some_and(|text| text.len() < 200 && text.ends_with("word…"))
        );
        assert_eq!(
            shown["rows"][1],
            json!({"id": 2, "content": "R&D", "description": "", "excerpt": null, "rendered": {"a": long}})
        );
        assert_eq!((&shown["content"], &shown["rows"][0]["title"]), (&answer["content"], &json!(long)));
    }
}
