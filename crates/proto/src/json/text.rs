//! Conversion between the JSON spelling and the decoded value of strings.

use std::borrow::Cow;

/// The decoded value of a string as written between its quotes; `None` for a lone surrogate or a malformed escape,
/// which no `str` can hold.
pub fn unquote(written: &[u8]) -> Option<Cow<'_, str>> {
    // Most strings are short, so a search that is optimized for long texts would take longer.
    if !written.contains(&b'\\') {
        return std::str::from_utf8(written).ok().map(Cow::Borrowed);
    }
    resolved(written).map(Cow::Owned)
}

/// Like [`unquote`], for a string that contains escapes.
#[cold]
fn resolved(written: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(written).ok()?;
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let (meaning, used) = escape(&rest[at + 1..])?;
        out.push(meaning);
        rest = &rest[at + 1 + used..];
    }
    out.push_str(rest);
    Some(out)
}

/// The character that the text after a backslash denotes, and the length of that text in bytes.
fn escape(behind: &str) -> Option<(char, usize)> {
    let simple = match behind.as_bytes().first()? {
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return unicode(&behind[1..]),
        _ => return None,
    };
    Some((simple, 1))
}

fn unicode(digits: &str) -> Option<(char, usize)> {
    let first = hex4(digits)?;
    if !(0xD800..0xDC00).contains(&first) {
        return Some((char::from_u32(first)?, 5));
    }
    let second = hex4(digits.get(4..)?.strip_prefix("\\u")?)?;
    if !(0xDC00..0xE000).contains(&second) {
        return None;
    }
    let code = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
    Some((char::from_u32(code)?, 11))
}

fn hex4(digits: &str) -> Option<u32> {
    let four = digits.get(..4)?;
    four.bytes().all(|b| b.is_ascii_hexdigit()).then(|| u32::from_str_radix(four, 16).ok())?
}

/// `text` as a JSON string, quotes included.
pub fn quote(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len() + 2);
    quote_into(&mut out, text);
    String::from_utf8(out).unwrap_or_default()
}

/// Appends `text` as a JSON string, quotes included.
pub fn quote_into(out: &mut Vec<u8>, text: &str) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.push(b'"');
    for &b in text.as_bytes() {
        match b {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0..0x20 => {
                out.extend_from_slice(b"\\u00");
                out.push(HEX[usize::from(b >> 4)]);
                out.push(HEX[usize::from(b & 15)]);
            }
            _ => out.push(b),
        }
    }
    out.push(b'"');
}
