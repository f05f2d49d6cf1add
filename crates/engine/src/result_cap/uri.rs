//! The URIs of the parts that were left out of results. Each is an unguessable name of a resource of the gateway itself. This
//! module must not know the contents of these resources.

use std::fmt;

/// The beginning of every such URI.
const PREFIX: &str = "dragoman://results/";

/// The number of hexadecimal digits after the prefix.
const DIGITS: usize = 32;

/// The id of the rest of one result. Its bits are random, so nobody can guess the id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RestId(pub u128);

impl fmt::Display for RestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{:032x}", self.0)
    }
}

/// The id in a URI, with or without a fragment. The outer value is `None` for a URI without the prefix `dragoman://results/`;
/// the inner value is `None` for a URI with this prefix in a form that the gateway never issues.
pub fn rest_id(uri: &str) -> Option<Option<RestId>> {
    let name = uri.strip_prefix(PREFIX)?;
    let digits = name.split('#').next().unwrap_or_default();
    let is_written = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let is_name = digits.len() == DIGITS && digits.bytes().all(is_written);
    Some(is_name.then(|| u128::from_str_radix(digits, 16).ok().map(RestId)).flatten())
}
