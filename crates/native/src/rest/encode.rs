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

/// The address with the words of other scripts than Latin as they are read: browsers and sites accept this form as well. Only
/// valid text is decoded, and no white space, control or invisible character. The query and the fragment stay.
pub(super) fn readable(address: &str) -> String {
    let end = address.find(['?', '#']).unwrap_or(address.len());
    let (mut rest, behind) = address.split_at(end);
    let mut out = String::with_capacity(address.len());
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let mut bytes = Vec::new();
        while let Some(byte) = rest.get(3 * bytes.len()..).and_then(code) {
            bytes.push(byte);
        }
        let length = (3 * bytes.len()).max(1);
        match String::from_utf8(bytes) {
            Ok(text) if !text.is_empty() && text.chars().all(is_visible) => out.push_str(&text),
            _ => out.push_str(&rest[..length]),
        }
        rest = &rest[length..];
    }
    out + rest + behind
}

/// The byte that a percent-encoded byte at the beginning of `text` stands for, if it is no ASCII character.
fn code(text: &str) -> Option<u8> {
    let pair = text.strip_prefix('%')?.get(..2)?;
    let is_code = pair.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_code.then(|| u8::from_str_radix(pair, 16).ok())?.filter(|byte| !byte.is_ascii())
}

/// Returns false for characters that a reader cannot see, or that change the direction of the text after them (Unicode, General
/// Punctuation and specials).
fn is_visible(character: char) -> bool {
    !character.is_control()
        && !character.is_whitespace()
        && !matches!(character, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff0}'..='\u{ffff}' | '\u{e0000}'..)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_readable_only_where_it_means_the_same() {
        for (address, shown) in [
            ("https://a.example/%d0%be%d0%b7%d0%b5%d1%80%d0%be-2/", "https://a.example/озеро-2/"),
            ("/%E6%B9%96/%e3%81%ae?p=%E6%B9%96#%E6%B9%96", "/湖/の?p=%E6%B9%96#%E6%B9%96"),
            ("/a%20b%2Fc%25%3F%00/%", "/a%20b%2Fc%25%3F%00/%"),
            ("/%d0/%d0%be%d0/%ff%ffx/%d", "/%d0/%d0%be%d0/%ff%ffx/%d"),
            ("/%c2%85%e2%80%aea%e3%80%80/%ef%bb%bf", "/%c2%85%e2%80%aea%e3%80%80/%ef%bb%bf"),
            ("/озеро/%é", "/озеро/%é"),
            ("", ""),
        ] {
            assert_eq!(readable(address), shown);
        }
    }
}
