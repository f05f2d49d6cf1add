//! Values in URLs (RFC 3986, 2): everything but unreserved characters is percent-encoded.

use std::fmt::Write as _;

/// Appends `text` as part of a path segment, a query's name or a query's value.
pub(super) fn encode_into(out: &mut String, text: &str) {
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
}

/// Appends a member to a query, preceded by `?` or `&`.
pub(super) fn query_into(url: &mut String, name: &str, value: &str) {
    url.push(if url.contains('?') { '&' } else { '?' });
    encode_into(url, name);
    url.push('=');
    encode_into(url, value);
}

/// The text without its percent-encoding. Invalid escapes stay, and bytes that are not valid text become a
/// replacement character.
pub(crate) fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, behind @ ..] = rest {
        let pair = behind.get(..2).and_then(|pair| std::str::from_utf8(pair).ok());
        let code = pair.filter(|pair| pair.bytes().all(|b| b.is_ascii_hexdigit()));
        match code.and_then(|pair| u8::from_str_radix(pair, 16).ok()) {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = &behind[2..];
            }
            _ => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
