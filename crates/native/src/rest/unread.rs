//! Answers with a success status that are not JSON: their kind, for a message that points to the cause. This module
//! must not know any particular service; the targets give the causes that are specific to a service.

use serde_json::Value;

use crate::html;

/// The kinds of answers that are not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnreadableKind {
    /// A page for people.
    Page,
    /// JSON after other text.
    Noise,
    /// Compressed data.
    Packed,
    /// Anything else.
    Other,
}

/// A byte order mark, which some editors put before a text (RFC 8259, 8.1 allows readers to ignore it).
const MARK: &[u8] = b"\xEF\xBB\xBF";
/// The first bytes of compressed answers (RFC 1952).
const GZIP: &[u8] = b"\x1F\x8B";
/// The number of bytes that are examined. The next constant is the number of characters that are shown.
const LOOKED_AT: usize = 4096;
const SHOWN: usize = 200;

/// An answer's JSON: null for an empty answer, `None` for anything else that is not JSON.
pub(crate) fn json(body: &[u8]) -> Option<Value> {
    let mut body = body.trim_ascii();
    while let Some(rest) = body.strip_prefix(MARK) {
        body = rest.trim_ascii_start();
    }
    if body.is_empty() { Some(Value::Null) } else { serde_json::from_slice(body).ok() }
}

/// The kind of an answer that is not JSON.
pub(super) fn kind(body: &[u8]) -> UnreadableKind {
    let body = body.trim_ascii();
    let begins =
        |with: &str| body.get(..with.len()).is_some_and(|head| head.eq_ignore_ascii_case(with.as_bytes()));
    if body.starts_with(GZIP) {
        return UnreadableKind::Packed;
    }
    if ["<!doctype", "<html", "<head", "<?xml"].into_iter().any(begins) {
        return UnreadableKind::Page;
    }
    // Notices are printed before the answer, never after it.
    let ends = matches!(body.last(), Some(b'}' | b']'));
    if ends && !body.starts_with(b"{") && !body.starts_with(b"[") {
        UnreadableKind::Noise
    } else {
        UnreadableKind::Other
    }
}

/// The first words of an answer, without markup.
pub(super) fn beginning(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body.get(..LOOKED_AT).unwrap_or(body)).into_owned();
    let text = html::as_text(&text);
    let words: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()).collect();
    words.join(" ").chars().take(SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_json_is_told_apart() {
        for (body, is) in [
            (&b"<!DOCTYPE html><html></html>"[..], UnreadableKind::Page),
            (b"\n<HTML>", UnreadableKind::Page),
            (b"<br />\n<b>Warning</b>: x in <b>y.php</b><br />\n[{\"id\":1}]\n", UnreadableKind::Noise),
            (b"Notice: x {\"id\":1}", UnreadableKind::Noise),
            (b"\x1F\x8B\x08", UnreadableKind::Packed),
            (b"[{\"id\":", UnreadableKind::Other),
            (b"caf\xE9", UnreadableKind::Other),
        ] {
            assert_eq!(json(body), None);
            assert_eq!(kind(body), is, "{}", String::from_utf8_lossy(body));
        }
        assert_eq!(json(b" \xEF\xBB\xBF\xEF\xBB\xBF\n[1]\n"), Some(serde_json::json!([1])));
        assert_eq!(json(b"\xEF\xBB\xBF \n"), Some(Value::Null));
        assert_eq!(beginning(b"<br /><b>Warning</b>:  a\n b"), "Warning: a b");
    }
}
