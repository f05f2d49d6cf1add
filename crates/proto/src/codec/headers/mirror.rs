//! A header value and the JSON value that it mirrors.

use std::borrow::Cow;

use super::decimal::Decimal;
use super::{HeaderError, encode_value};
use crate::json::unquote;

/// Returns true if `text`, a decoded header value, equals `json`, a valid JSON value as spelled in the body.
///
/// Strings are compared after unescaping, numbers by value (`42` equals `42.0` and `4.2e1`), booleans as
/// `true` and `false`. Nothing mirrors `null`, an array or an object.
pub fn mirrors(text: &str, json: &[u8]) -> bool {
    match json.first() {
        Some(b'"') => string(json).is_some_and(|meant| meant == text),
        Some(b't' | b'f') => text.as_bytes() == json && matches!(json, b"true" | b"false"),
        Some(b'-' | b'0'..=b'9') => {
            let number = Decimal::parse(json);
            number.is_some() && number == Decimal::parse(text.as_bytes())
        }
        _ => false,
    }
}

/// The header value that mirrors `json`, a valid JSON value: strings encoded, integers in plain decimal notation.
/// `None` for `null`, which has no header.
///
/// # Errors
/// [`HeaderError::NotMirrored`] for values that a header cannot carry.
pub fn value_of(json: &[u8]) -> Result<Option<Cow<'_, str>>, HeaderError> {
    match json {
        b"null" => Ok(None),
        b"true" => Ok(Some(Cow::Borrowed("true"))),
        b"false" => Ok(Some(Cow::Borrowed("false"))),
        [b'"', ..] => match string(json) {
            Some(Cow::Borrowed(text)) => Ok(Some(encode_value(text))),
            Some(Cow::Owned(text)) => Ok(Some(Cow::Owned(encode_value(&text).into_owned()))),
            None => Err(HeaderError::NotMirrored),
        },
        _ => {
            let integer = Decimal::parse(json).and_then(Decimal::safe_integer);
            integer.map(|value| Some(Cow::Owned(value.to_string()))).ok_or(HeaderError::NotMirrored)
        }
    }
}

/// The decoded value of a JSON string with its quotes.
fn string(json: &[u8]) -> Option<Cow<'_, str>> {
    unquote(json.strip_prefix(b"\"")?.strip_suffix(b"\"")?)
}
