//! Content that a service changes while it stores it: a site removes markup that the account must not save, and reports
//! success. This module must not know which service it is, or which tool sends the content.

use serde_json::{Map, Value, json};

use super::difference::difference_by;
use super::stored::{NOT_STORED, STORED};

/// The member with the content of an item.
pub(super) const CONTENT: &str = "content";
/// The largest difference in an answer, in bytes.
const LONGEST: usize = 2000;
/// Spellings that services replace by others with the same meaning.
const SPELLINGS: &[(&str, &str)] = &[
    ("\\u0026", "&"),
    ("\\u003c", "<"),
    ("\\u003e", ">"),
    ("\\u0022", "\\\""),
    ("\\u002d", "-"),
    ("&amp;", "&"),
    ("&#038;", "&"),
    ("wp:core/", "wp:"),
    ("'", "\""),
    ("{}", ""),
    (" rel=\"noopener\"", ""),
];

/// Adds the members that report a difference between the content that was sent and the content in the service's answer, if
/// the answer has its source. In the difference, lines with `-` were sent, and lines with `+` were stored instead.
pub(super) fn report(sent: &str, answer: &Value, members: &mut Map<String, Value>) {
    let Some(stored) = answer.pointer("/content/raw").and_then(Value::as_str) else { return };
    if sent.trim() == stored.trim() || meaning(sent) == meaning(stored) {
        return;
    }
    let difference = difference_by(sent.trim(), stored.trim(), meaning, LONGEST);
    let values = members.entry(STORED).or_insert_with(|| json!({}));
    if let Some(values) = values.as_object_mut() {
        values.insert(CONTENT.to_owned(), json!({"difference": difference}));
    }
    let missing = members.entry(NOT_STORED).or_insert_with(|| json!([]));
    if let Some(missing) = missing.as_array_mut() {
        missing.push(CONTENT.into());
    }
}

/// Content in a form that does not show white space, quotation marks and other spellings.
fn meaning(content: &str) -> String {
    let mut text = content.to_owned();
    for (from, to) in SPELLINGS {
        if text.contains(from) {
            text = text.replace(from, to);
        }
    }
    let text: String = text.split_whitespace().collect();
    characters(&text.replace("/>", ">").replace(";\"", "\""))
}

/// The text with the characters that numbers stand for (`&#x1f600;`), except those of ASCII, which may be markup. A database
/// that lacks some characters gets them in this form.
fn characters(text: &str) -> String {
    let mut parts = text.split("&#x");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let character = part.split_once(';').and_then(|(code, rest)| {
            let found = char::from_u32(u32::from_str_radix(code, 16).ok()?)?;
            (!found.is_ascii()).then_some((found, rest))
        });
        if let Some((found, rest)) = character {
            out.push(found);
            out.push_str(rest);
        } else {
            out.push_str("&#x");
            out.push_str(part);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reported(sent: &str, stored: &str) -> Value {
        let mut members = Map::new();
        report(sent, &json!({"content": {"raw": stored, "rendered": ""}}), &mut members);
        Value::Object(members)
    }

    #[test]
    fn removed_markup_is_reported_with_the_difference() {
        let sent = "<p>A</p>\n<!-- wp:html -->\n<iframe src=\"/map\"></iframe>\n<!-- /wp:html -->\n";
        let stored = "<p>A</p>\n<!-- wp:html -->\n\n<!-- /wp:html -->";
        assert_eq!(
            reported(sent, stored),
            json!({
                "not_stored": ["content"],
                "stored": {"content": {"difference": "@ line 3\n- <iframe src=\"/map\"></iframe>\n"}},
            })
        );
        for (sent, stored) in [
            ("<p onclick=\"x()\">A</p>", "<p>A</p>"),
            ("<script>x</script>", "x"),
            ("<script>x</script>", "&lt;script&gt;x&lt;/script&gt;"),
            ("&#x3c;b>", "<b>"),
            ("a", ""),
        ] {
            assert_eq!(reported(sent, stored)["not_stored"], json!(["content"]), "{sent}");
        }
    }

    #[test]
    fn another_spelling_is_no_difference() {
        for (sent, stored) in [
            ("<p>A<br/>B</p>\n", "<p>A<br />B</p>"),
            (
                "<a href='/?a=1&b=2' target=\"_blank\">",
                "<a href=\"/?a=1&amp;b=2\" target=\"_blank\" rel=\"noopener\">",
            ),
            ("<p style=\"color:red;\">", "<p style=\"color:red\">"),
            ("<!-- wp:core/x {\"a\":\"b&c\"} /-->", "<!-- wp:x {\"a\":\"b\\u0026c\"} /-->"),
            ("Hi 😀!\r\n", "Hi &#x1f600;!"),
        ] {
            assert_eq!(reported(sent, stored), json!({}), "{sent}");
        }
        let mut members = Map::new();
        report("a", &json!({"content": {"rendered": "b"}}), &mut members);
        assert!(members.is_empty(), "the answer lacks the source");
    }
}
