//! Finds the bounds of an object's members and of an array's elements. Copies nothing.
//!
//! Does not check that the inside of a value is valid JSON, because both ends compare the relevant parts byte by
//! byte.

use memchr::memchr2;

/// The members of an object as raw text: the name without its quotes, the value unchanged.
#[derive(Debug)]
pub(super) struct Members<'a> {
    text: &'a [u8],
    at: usize,
}

/// The elements of an array as raw text.
#[derive(Debug)]
pub(super) struct Elements<'a> {
    text: &'a [u8],
    at: usize,
}

/// The members of the object `text`; none if it is not an object.
pub(super) fn members(text: &[u8]) -> Members<'_> {
    Members { text, at: opened(text, b'{') }
}

/// The elements of the array `text`; none if it is not an array.
pub(super) fn elements(text: &[u8]) -> Elements<'_> {
    Elements { text, at: opened(text, b'[') }
}

/// The value of the first member called `name`.
pub(super) fn member<'a>(text: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    members(text).find(|(key, _)| *key == name).map(|(_, value)| value)
}

/// The text between the quotes of a string value, with escapes unchanged.
pub(super) fn unquoted(value: &[u8]) -> Option<&[u8]> {
    value.strip_prefix(b"\"")?.strip_suffix(b"\"")
}

impl<'a> Iterator for Members<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (text, key_at) = (self.text, separated(self.text, self.at)?);
        let key_end = value_end(text, key_at)?;
        let key = unquoted(&text[key_at..key_end])?;
        let colon = blanks(text, key_end);
        if text.get(colon) != Some(&b':') {
            return None;
        }
        let value_at = blanks(text, colon + 1);
        self.at = value_end(text, value_at)?;
        Some((key, &text[value_at..self.at]))
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<Self::Item> {
        let at = separated(self.text, self.at)?;
        self.at = value_end(self.text, at)?;
        Some(&self.text[at..self.at])
    }
}

/// The position after the bracket that opens `text`; the text's end if the text is another value.
fn opened(text: &[u8], bracket: u8) -> usize {
    let at = blanks(text, 0);
    if text.get(at) == Some(&bracket) { at + 1 } else { text.len() }
}

/// The position of the next member or element; `None` at the closing bracket.
fn separated(text: &[u8], at: usize) -> Option<usize> {
    let at = blanks(text, at);
    match text.get(at)? {
        b',' => Some(blanks(text, at + 1)),
        b'}' | b']' => None,
        _ => Some(at),
    }
}

fn blanks(text: &[u8], mut at: usize) -> usize {
    while matches!(text.get(at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
        at += 1;
    }
    at
}

/// The end of the value that begins at `at`; `None` if the text ends first.
fn value_end(text: &[u8], at: usize) -> Option<usize> {
    match text.get(at)? {
        b'"' => string_end(text, at),
        b'{' | b'[' => nested_end(text, at),
        _ => {
            let length = text[at..]
                .iter()
                .position(|byte| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n'))
                .unwrap_or(text.len() - at);
            (length > 0).then_some(at + length)
        }
    }
}

fn string_end(text: &[u8], at: usize) -> Option<usize> {
    let mut at = at + 1;
    loop {
        let found = at + memchr2(b'"', b'\\', text.get(at..)?)?;
        if text[found] == b'"' {
            return Some(found + 1);
        }
        at = found + 2;
    }
}

fn nested_end(text: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    loop {
        match text.get(at)? {
            b'"' => {
                at = string_end(text, at)?;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{elements, member, members, unquoted};

    fn pairs(text: &str) -> Vec<(String, String)> {
        let text_of = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        members(text.as_bytes()).map(|(key, value)| (text_of(key), text_of(value))).collect()
    }

    #[test]
    fn members_are_found_with_blanks_and_nesting() {
        let found = pairs(" { \"a\" : [1,{\"}\":\"]\"}] ,\n\"b\\\"\":\"x\\\\\" , \"c\":1e2,\"d\":null }");
        let wanted = [("a", "[1,{\"}\":\"]\"}]"), ("b\\\"", "\"x\\\\\""), ("c", "1e2"), ("d", "null")];
        assert_eq!(found, wanted.map(|(key, value)| (key.to_owned(), value.to_owned())));
    }

    #[test]
    fn elements_are_found() {
        assert_eq!(elements(b"[ 1, {\"a\":[2]} ,\"x\"]").count(), 3);
        assert_eq!(elements(b"[]").count(), 0);
        assert_eq!(elements(b"{}").count(), 0);
    }

    #[test]
    fn a_member_is_looked_up_and_unquoted() {
        assert_eq!(member(b"{\"a\":1,\"b\":\"two\"}", b"b").and_then(unquoted), Some(&b"two"[..]));
        assert_eq!(member(b"{\"a\":1}", b"b"), None);
    }

    #[test]
    fn broken_text_ends_quietly() {
        for text in [
            "",
            "{",
            "{\"a",
            "{\"a\"",
            "{\"a\":",
            "{\"a\":\"\\",
            "{\"a\":[1",
            "{\"a\" 1}",
            "{1:2}",
            "[1",
            "7",
        ] {
            assert_eq!(pairs(text), [], "{text}");
        }
    }
}
