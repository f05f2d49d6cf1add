//! Header fields and their texts. Most of the program is optimized for size; these functions, which a request needs
//! often, are compiled here for speed. This module must not know what a field means.

use std::borrow::Cow;

use http::header::{GetAll, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN, TRANSFER_ENCODING};

/// Returns the first value of this field.
#[inline(never)]
pub fn field<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h HeaderValue> {
    headers.get(name)
}

/// The fields by which a request is admitted.
#[derive(Debug, Clone, Copy, Default)]
pub struct AdmissionFields<'h> {
    /// `Host`.
    pub host: FieldLines<'h>,
    /// `Origin`.
    pub origin: FieldLines<'h>,
    /// `Transfer-Encoding`.
    pub transfer_encoding: FieldLines<'h>,
}

/// The lines of a field: the first one, and whether there are others.
#[derive(Debug, Clone, Copy, Default)]
pub struct FieldLines<'h> {
    /// The value of the first line; `None` if there is no line.
    pub first: Option<&'h HeaderValue>,
    /// True if there are several lines.
    pub is_repeated: bool,
}

impl<'h> AdmissionFields<'h> {
    /// Reads the fields in one pass, which costs less than looking up each of them.
    #[inline(never)]
    pub fn of(headers: &'h HeaderMap) -> Self {
        let mut read = Self::default();
        for (name, value) in headers {
            let lines = match *name {
                HOST => &mut read.host,
                ORIGIN => &mut read.origin,
                TRANSFER_ENCODING => &mut read.transfer_encoding,
                _ => continue,
            };
            lines.is_repeated = lines.first.is_some();
            lines.first = lines.first.or(Some(value));
        }
        read
    }
}

/// Returns all lines of a field.
#[inline(never)]
pub fn fields<'h>(headers: &'h HeaderMap, name: &HeaderName) -> GetAll<'h, HeaderValue> {
    headers.get_all(name)
}

/// Returns true if the headers contain this field.
#[inline(never)]
pub fn has_field(headers: &HeaderMap, name: &HeaderName) -> bool {
    headers.contains_key(name)
}

/// Sets a field to a single line.
#[inline(never)]
pub fn set(headers: &mut HeaderMap, name: &HeaderName, value: HeaderValue) {
    headers.insert(name, value);
}

/// Returns a value as text; `None` if the value has characters other than visible ASCII, spaces and tabs, as
/// [`HeaderValue::to_str`] has it.
#[inline(never)]
pub fn text(value: &HeaderValue) -> Option<&str> {
    value.to_str().ok()
}

/// Returns a text as a value; `None` if it has characters that a value cannot have.
#[inline(never)]
pub fn value(text: &str) -> Option<HeaderValue> {
    HeaderValue::from_str(text).ok()
}

/// Returns a text in lower case. Copies the text only in the rare case that it has capitals.
#[inline(never)]
pub fn lower(text: &str) -> Cow<'_, str> {
    if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        text.to_ascii_lowercase().into()
    } else {
        text.into()
    }
}

/// Returns a value without its parameters (RFC 9110, 5.6.6).
#[inline(never)]
pub fn without_parameters(value: &[u8]) -> &[u8] {
    let end = value.iter().position(|byte| *byte == b';').unwrap_or(value.len());
    value[..end].trim_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_as_in_the_map_itself() {
        let mut headers = HeaderMap::new();
        headers.append("accept", HeaderValue::from_static("a"));
        headers.append("accept", HeaderValue::from_static("b"));
        let (accept, host) = (http::header::ACCEPT, http::header::HOST);
        assert_eq!(field(&headers, &accept).and_then(text), Some("a"));
        assert_eq!(fields(&headers, &accept).iter().count(), 2);
        let mut changed = headers.clone();
        set(&mut changed, &accept, HeaderValue::from_static("c"));
        assert_eq!(fields(&changed, &accept).iter().collect::<Vec<_>>(), ["c"]);
        assert!(
            has_field(&headers, &accept) && !has_field(&headers, &host) && field(&headers, &host).is_none()
        );
        assert_eq!(text(&HeaderValue::from_bytes(b"\xff").expect("a value")), None);
        assert_eq!((value("a b"), value("a\nb")), (Some(HeaderValue::from_static("a b")), None));
        assert_eq!((lower("Ab.C"), lower("ab")), ("ab.c".into(), "ab".into()));
        assert_eq!(
            (without_parameters(b"a/b ; c=d"), without_parameters(b"a/b")),
            (&b"a/b"[..], &b"a/b"[..])
        );
    }

    #[test]
    fn one_pass_finds_the_first_line_of_each_field_and_its_repetitions() {
        let mut headers = HeaderMap::new();
        for (name, value) in
            [("host", "a"), ("accept", "x"), ("transfer-encoding", "b"), ("host", "c"), ("host", "d")]
        {
            headers.append(name, HeaderValue::from_static(value));
        }
        let read = AdmissionFields::of(&headers);
        let lines = [read.host, read.transfer_encoding, read.origin]
            .map(|lines| (lines.first.and_then(text), lines.is_repeated));
        assert_eq!(lines, [(Some("a"), true), (Some("b"), false), (None, false)]);
    }
}
