//! Parses `Authorization` (RFC 9110, 11.6.2): the schemes `Basic` (RFC 7617) and `Bearer` (RFC 6750), strictly, because
//! another parser may interpret a malformed value differently. Credentials are read from this header only, never from a
//! URL. This module must not know the owner of a credential.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::HeaderMap;
use http::header::{AUTHORIZATION, HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};

/// The maximum length of the header's value, in bytes; a longer one is rejected unread.
const LONGEST: usize = 16 * 1024;
/// The maximum length of a `Basic` value, in bytes; a longer one is rejected before decoding.
const LONGEST_BASIC: usize = 2 * 1024;

/// A credential as sent by a client.
pub enum ShownCredential<'a> {
    /// A name and a password.
    Basic(Basic),
    /// A token: visible ASCII characters.
    Bearer(&'a str),
}

/// A name with its password.
#[derive(Clone)]
pub struct Basic {
    /// The name: not empty, and without a colon.
    pub user: String,
    /// The password: without control characters, possibly empty.
    pub password: SecretString,
}

// The reasons why a header cannot be read; none repeats any part of the header.
const TWICE: &str = "the Authorization header occurs more than once";
const LONG: &str = "the Authorization header is too long";
const FORM: &str = "the Authorization header must have the form `Bearer TOKEN` or `Basic CREDENTIALS`";
const NO_BASIC: &str =
    "the Authorization header must contain the Base64 of `NAME:PASSWORD` in UTF-8 without control characters";

/// The single value of the header, if present.
///
/// # Errors
/// Returns a message if the header occurs twice or its value is longer than 16 KiB.
pub fn value(headers: &HeaderMap) -> Result<Option<&[u8]>, &'static str> {
    let mut all = headers.get_all(AUTHORIZATION).iter();
    let Some(first) = all.next() else { return Ok(None) };
    if all.next().is_some() {
        return Err(TWICE);
    }
    if first.len() > LONGEST {
        return Err(LONG);
    }
    Ok(Some(first.as_bytes()))
}

/// Parses a value of the header.
///
/// # Errors
/// Returns the reason why the value belongs to neither scheme, without any part of the value.
pub fn read(value: &[u8]) -> Result<ShownCredential<'_>, &'static str> {
    let space = memchr(value, b' ').ok_or(FORM)?;
    let (scheme, rest) = value.split_at(space);
    let text = visible(rest.trim_ascii()).ok_or(FORM)?;
    match scheme {
        _ if scheme.eq_ignore_ascii_case(b"Bearer") => Ok(ShownCredential::Bearer(text)),
        _ if scheme.eq_ignore_ascii_case(b"Basic") => basic(text).map(ShownCredential::Basic).ok_or(NO_BASIC),
        _ => Err(FORM),
    }
}

/// Returns true if a value of the header has the scheme `Basic`, even if it cannot be parsed.
pub(super) fn is_basic(value: &[u8]) -> bool {
    let scheme = value.trim_ascii_start().split(u8::is_ascii_whitespace).next().unwrap_or_default();
    scheme.eq_ignore_ascii_case(b"Basic")
}

/// Returns the value of `Authorization` for a name with its password (RFC 7617, 2), marked as sensitive; `None` if a header cannot
/// carry them.
pub fn basic_value(user: &str, password: &SecretString) -> Option<HeaderValue> {
    let pair = SecretString::from(format!("{user}:{}", password.expose_secret()));
    let value = SecretString::from(format!("Basic {}", BASE64_STANDARD.encode(pair.expose_secret())));
    let mut header = HeaderValue::from_str(value.expose_secret()).ok()?;
    header.set_sensitive(true);
    Some(header)
}

/// Returns true if `token` is a valid bearer token.
pub fn is_token(token: &str) -> bool {
    visible(token.as_bytes()).is_some() && token.len() < LONGEST - "Bearer ".len()
}

fn memchr(bytes: &[u8], byte: u8) -> Option<usize> {
    bytes.iter().position(|b| *b == byte)
}

/// Accepts one word of visible ASCII; two credentials joined by a proxy are rejected.
fn visible(bytes: &[u8]) -> Option<&str> {
    let one = !bytes.is_empty() && bytes.iter().all(u8::is_ascii_graphic);
    std::str::from_utf8(bytes).ok().filter(|_| one)
}

fn basic(text: &str) -> Option<Basic> {
    let decoded = (text.len() <= LONGEST_BASIC).then(|| BASE64_STANDARD.decode(text))?.ok()?;
    // The secret takes ownership of the text from the start, so no copy is left behind.
    let whole = String::from_utf8(decoded).ok()?;
    let (user, password) = whole.split_once(':').filter(|_| !whole.chars().any(char::is_control))?;
    let basic = Basic { user: user.to_owned(), password: SecretString::from(password) };
    drop(SecretString::from(whole));
    (!basic.user.is_empty()).then_some(basic)
}

impl std::fmt::Debug for ShownCredential<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Basic(_) => "Basic",
            Self::Bearer(_) => "Bearer",
        })
    }
}

impl std::fmt::Debug for Basic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Some users type their password where the name belongs.
        f.write_str("Basic")
    }
}
