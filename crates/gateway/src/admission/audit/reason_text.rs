//! The error texts in the record of calls: short, and without secrets. This module must not know why calls fail.

use std::fmt::Write;

use engine::redaction::Redaction;
use serde::de::IgnoredAny;

/// The maximum length of an error text, in characters.
const MOST: usize = 200;

/// The maximum length of the part of an error text that is examined, in bytes.
const EXAMINED: usize = 16 << 10;

/// Returns the beginning of an error text on one line. Values in JSON are redacted, wherever the JSON is in the text.
pub(super) fn reason_text(text: &str, redaction: &Redaction) -> Box<str> {
    let part = &text[..text.floor_char_boundary(EXAMINED)];
    let (is_cut, covered) = (part.len() < text.len(), without_secrets(part, redaction));
    let flat: String = covered.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let flat = flat.trim();
    match flat.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &flat[..end]).into(),
        None if is_cut => format!("{flat}…").into(),
        None => flat.into(),
    }
}

fn without_secrets(text: &str, redaction: &Redaction) -> String {
    let (mut rest, mut out) = (text, String::with_capacity(text.len().min(1024)));
    while let Some(start) = rest.find(['{', '[']) {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        let mut documents = serde_json::Deserializer::from_str(rest).into_iter::<IgnoredAny>();
        let end = match documents.next() {
            Some(Ok(_)) => documents.byte_offset(),
            // JSON without its end cannot be searched for secrets.
            Some(Err(error)) if error.is_eof() && rest.contains('"') => {
                let _ = write!(out, "…");
                return out;
            }
            _ => {
                out.push_str(&rest[..1]);
                rest = &rest[1..];
                continue;
            }
        };
        out.push_str(&redaction.apply(&rest[..end]));
        rest = &rest[end..];
        if out.chars().count() > MOST {
            return out;
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        reason_text(text, &Redaction::new(&["token".to_owned()])).into()
    }

    #[test]
    fn secrets_in_json_are_covered_wherever_the_json_is() {
        assert_eq!(
            shown("answered HTTP 500: {\"token\":\"s1\",\"id\":7} (not executed)"),
            "answered HTTP 500: {\"token\":\"[redacted]\",\"id\":7} (not executed)"
        );
        assert_eq!(shown("[a] {\"b\":[{\"x_token\":\"s2\"}]}"), "[a] {\"b\":[{\"x_token\":\"[redacted]\"}]}");
        assert_eq!(shown("cut off: {\"a\":1,\"token\":\"s3"), "cut off: …");
        assert_eq!(shown("the set {a, b} is [empty]"), "the set {a, b} is [empty]");
    }

    #[test]
    fn texts_are_short_and_on_one_line() {
        assert_eq!(shown(" a\nb\u{1b} "), "a b");
        assert_eq!(shown(&"é".repeat(300)).chars().count(), MOST + 1);
        let long = format!("{}{{\"token\":\"secret\"}}", " ".repeat(EXAMINED - 12));
        assert!(!shown(&long).contains("secret"), "{}", shown(&long));
    }
}
