//! Text as a header value: plain where possible, otherwise Base64 between markers.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::HeaderError;

const OPEN: &str = "=?base64?";
const CLOSE: &str = "?=";

/// The header value for `text`: `text` itself if it consists of visible ASCII, spaces and tabs, has no white space at
/// its ends and does not look encoded. Otherwise its Base64 between `=?base64?` and `?=`. The value never contains CR,
/// LF or a byte above 0x7E.
pub fn encode_value(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let looks_encoded = text.starts_with(OPEN) && text.ends_with(CLOSE);
    if bytes.iter().all(|&byte| is_plain(byte)) && trim(bytes).len() == bytes.len() && !looks_encoded {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(OPEN.len() + bytes.len().div_ceil(3) * 4 + CLOSE.len());
    out.push_str(OPEN);
    STANDARD.encode_string(bytes, &mut out);
    out.push_str(CLOSE);
    Cow::Owned(out)
}

/// Decodes a header value. White space around the value is not part of it.
///
/// The markers are case-sensitive; a value without both is plain text. Base64 must be padded.
pub fn decode_value(value: &[u8]) -> Result<Cow<'_, str>, HeaderError> {
    let value = trim(value);
    if !value.iter().all(|&byte| is_plain(byte)) {
        return Err(HeaderError::Character);
    }
    let plain = std::str::from_utf8(value).map_err(|_| HeaderError::Character)?;
    let Some(encoded) = plain.strip_prefix(OPEN).and_then(|rest| rest.strip_suffix(CLOSE)) else {
        return Ok(Cow::Borrowed(plain));
    };
    let decoded = STANDARD.decode(encoded).map_err(|_| HeaderError::Base64)?;
    String::from_utf8(decoded).map(Cow::Owned).map_err(|_| HeaderError::Utf8)
}

/// `value` without the optional white space (space and tab) around it (RFC 9110, section 5.5).
pub fn trim(value: &[u8]) -> &[u8] {
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let start = value.iter().position(|byte| !blank(byte)).unwrap_or(value.len());
    let end = value.iter().rposition(|byte| !blank(byte)).map_or(start, |last| last + 1);
    &value[start..end]
}

/// Returns true for visible ASCII, space and tab.
fn is_plain(byte: u8) -> bool {
    matches!(byte, b'\t' | b' '..=b'~')
}
