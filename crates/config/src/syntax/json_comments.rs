//! The comments that editors allow in JSON. This module must not know the meaning of a text.

use std::borrow::Cow;

/// Replaces the comments `//` and `/* */`, which editors allow in their JSON, with blanks, so that every position in
/// the file stays the same. Only a text that begins like JSON is changed, since `//` has no meaning in YAML.
pub(crate) fn without_comments(text: &str) -> Cow<'_, str> {
    if !starts_as_json(text) || !(text.contains("//") || text.contains("/*")) {
        return text.into();
    }
    let mut bytes = text.as_bytes().to_vec();
    let (mut at, mut in_text) = (0, false);
    while at < bytes.len() {
        let end = match (in_text, bytes[at], bytes.get(at + 1)) {
            (true, b'\\', _) => at + 2,
            (_, b'"', _) => {
                in_text = !in_text;
                at + 1
            }
            (false, b'/', Some(b'/')) => {
                at + text.as_bytes()[at..].iter().position(|b| *b == b'\n').unwrap_or(text.len() - at)
            }
            (false, b'/', Some(b'*')) => {
                text[at + 2..].find("*/").map_or(text.len(), |found| at + 2 + found + 2)
            }
            _ => {
                at += 1;
                continue;
            }
        };
        if !in_text && bytes[at] == b'/' {
            bytes[at..end]
                .iter_mut()
                .filter(|byte| !matches!(byte, b'\n' | b'\r'))
                .for_each(|byte| *byte = b' ');
        }
        at = end;
    }
    String::from_utf8(bytes).map_or(text.into(), Into::into)
}

/// Returns true for `{` followed by a quoted key or by the end, with comments and white space anywhere in between.
pub(crate) fn starts_as_json(text: &str) -> bool {
    let mut rest = text.trim_start_matches('\u{feff}');
    let mut open = false;
    loop {
        rest = rest.trim_start();
        if let Some(comment) = rest.strip_prefix("//") {
            rest = comment.find('\n').map_or("", |end| &comment[end..]);
        } else if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.find("*/").map_or("", |end| &comment[end + 2..]);
        } else if let Some(inside) = rest.strip_prefix('{').filter(|_| !open) {
            (rest, open) = (inside, true);
        } else {
            return open && rest.starts_with(['"', '}']);
        }
    }
}
