//! Titles and names as plain text: WordPress sends them as HTML, with entities such as `&#8217;`, which models repeat. This
//! module must not touch what a caller may write back as markup.

use serde_json::Value;

use crate::html;

/// Members that are one line of text wherever WordPress, BuddyBoss and BuddyPress have them, as a string or under `rendered`.
const TEXTS: &[&str] = &["author_name", "display_name", "name", "product_name", "title"];

/// Members that are one line of text only in objects that also have the second member. The tagline of a site is such a
/// text: it is in the site's index, which has the first time zone, and in the site's settings, which have the second one.
/// The description of anything else may be HTML.
const TEXTS_BESIDE: &[(&str, &str)] = &[("description", "timezone_string"), ("description", "timezone")];

/// Members that are not changed: their structure is defined by the site's plugins, or they contain content or
/// schemas in their original form.
const FOREIGN: &[&str] = &[
    "acf",
    "attributes",
    "content",
    "example",
    "input_schema",
    "instance",
    "meta",
    "output_schema",
    "schema",
    "settings",
    "styles",
];

/// The maximum length in bytes of an entity's name or number (HTML, named character references).
const LONGEST_ENTITY: usize = 32;

/// The answer, with plain text in the members for titles and names.
pub(super) fn plain(mut answer: Value) -> Value {
    walk(&mut answer);
    answer
}

fn walk(value: &mut Value) {
    match value {
        Value::Array(list) => list.iter_mut().for_each(walk),
        Value::Object(members) => {
            let beside = TEXTS_BESIDE.iter().filter(|(_, beside)| members.contains_key(*beside));
            let beside: Vec<&str> = beside.map(|(name, _)| *name).collect();
            for (name, value) in members.iter_mut().filter(|(name, _)| !FOREIGN.contains(&name.as_str())) {
                let is_text = TEXTS.contains(&name.as_str()) || beside.contains(&name.as_str());
                match value {
                    Value::String(text) if is_text => decode(text),
                    Value::Object(forms) if is_text && forms.contains_key("rendered") => {
                        if let Some(Value::String(text)) = forms.get_mut("rendered") {
                            decode(text);
                        }
                    }
                    other => walk(other),
                }
            }
        }
        _ => {}
    }
}

/// Replaces entities and removes elements. A text without an entity stays as it is, even if it looks like an element.
fn decode(text: &mut String) {
    let is_entity = |part: &str| part.find(';').is_some_and(|end| (1..=LONGEST_ENTITY).contains(&end));
    if text.split('&').skip(1).any(is_entity) {
        *text = html::as_text(text);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn titles_and_names_are_text() {
        let answer = json!([{
            "title": {"rendered": "Tom &#038; Jerry&#8217;s", "raw": "Tom &amp; Jerry"},
            "name": "R&amp;D",
            "content": {"rendered": "<p>a &amp; b</p>", "title": "a &amp; b"},
            "meta": {"title": "a &amp; b"},
            "link": "https://a.example/?a=1&amp;b=2",
        }]);
        let shown = plain(answer.clone());
        assert_eq!(shown[0]["title"]["rendered"], "Tom & Jerry\u{2019}s");
        assert_eq!(shown[0]["title"]["raw"], "Tom &amp; Jerry", "a source is not changed");
        assert_eq!(shown[0]["name"], "R&D");
        for member in ["content", "meta", "link"] {
            assert_eq!(shown[0][member], answer[0][member], "{member}");
        }
    }

    #[test]
    fn a_tagline_is_text_and_other_descriptions_stay() {
        for beside in ["timezone_string", "timezone"] {
            assert_eq!(plain(json!({"description": "R&amp;D", beside: "UTC"}))["description"], "R&D");
        }
        let category = json!({"id": 3, "description": "<p>R&amp;D</p>", "product_name": "Tea &amp; milk"});
        assert_eq!(
            plain(category),
            json!({"id": 3, "description": "<p>R&amp;D</p>", "product_name": "Tea & milk"})
        );
    }

    #[test]
    fn a_text_without_an_entity_stays() {
        for text in ["a & b", "a &; b", "List<String> & more", "<3"] {
            assert_eq!(plain(json!({"title": text}))["title"], text);
        }
    }
}
