//! Determines which request a message answers, from only the beginning of the message. This is used for messages
//! that are too long to be kept. This module must not know how long messages may be.

/// Returns the `id` in the beginning of a message, if it is a number and only scalar members precede it.
pub(super) fn named_in(beginning: &[u8]) -> Option<u64> {
    let mut rest = beginning.trim_ascii_start().strip_prefix(b"{")?;
    loop {
        let (key, after) = string(rest.trim_ascii_start())?;
        let value = after.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
        if key == b"id" {
            // A number at the very end may be incomplete.
            let end = value.iter().position(|byte| !byte.is_ascii_digit())?;
            return std::str::from_utf8(&value[..end]).ok()?.parse().ok();
        }
        let after = match value.first()? {
            b'"' => string(value)?.1,
            b'{' | b'[' => return None,
            _ => &value[memchr::memchr(b',', value)?..],
        };
        rest = after.trim_ascii_start().strip_prefix(b",")?;
    }
}

/// Returns the text between the quotes at the beginning of `text`, and the text after them.
fn string(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let inside = text.strip_prefix(b"\"")?;
    let mut from = 0;
    loop {
        let at = from + memchr::memchr2(b'"', b'\\', &inside[from..])?;
        if inside[at] == b'"' {
            return Some((&inside[..at], &inside[at + 1..]));
        }
        from = (at + 2).min(inside.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_behind_scalars_is_found() {
        let found = |text: &str| named_in(text.as_bytes());
        assert_eq!(found(r#"{"jsonrpc":"2.0","id":17,"result":{"content":[{"te"#), Some(17));
        assert_eq!(found(r#" { "a\"\\" : "\"id\":3," , "b" : -1.5e3 , "id" : 4 , "res"#), Some(4));
    }

    #[test]
    fn nothing_else_is_taken_for_an_id() {
        let found = |text: &str| named_in(text.as_bytes());
        assert_eq!(found(r#"{"jsonrpc":"2.0","id":17"#), None, "more digits may follow");
        assert_eq!(found(r#"{"result":{"id":3,"jsonrpc":"2.0"},"id":4,"#), None, "a nested one");
        assert_eq!(found(r#"{"jsonrpc":"2.0","id":"17","result":"#), None, "not one of ours");
        assert_eq!(found(r#"{"jsonrpc":"2.0","id":99999999999999999999,"x"#), None);
        for cut in ["", "{", "{\"", "{\"a\\", "{\"a\"", "{\"a\":", "{\"a\":1", "[{\"id\":1,"] {
            assert_eq!(found(cut), None, "{cut}");
        }
    }
}
