//! Reads `Authorization` (RFC 9110, 11.6.2): the `Basic` (RFC 7617) and `Bearer` (RFC 6750) schemes, strictly, because
//! whoever else reads it may read it another way. A credential is taken from this header alone, never from a URL. It
//! must not know whom a credential belongs to.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::HeaderMap;
use http::header::AUTHORIZATION;
use secrecy::SecretString;

/// Longer values of the header are refused unread.
const LONGEST: usize = 16 * 1024;
/// Longer values of `Basic` are refused undecoded.
const LONGEST_BASIC: usize = 2 * 1024;

/// A credential as a client shows it.
pub enum Shown<'a> {
    /// A name and a password.
    Basic(Basic),
    /// A token: visible ASCII characters.
    Bearer(&'a str),
}

/// A name with its password.
#[derive(Clone)]
pub struct Basic {
    /// Not empty, and without a colon.
    pub user: String,
    /// Anything without control characters, also nothing.
    pub password: SecretString,
}

// Why a header cannot be read; none repeats anything of it.
const TWICE: &str = "the header Authorization stands more than once";
const LONG: &str = "the header Authorization is too long";
const FORM: &str = "the header Authorization is not of the form `Bearer TOKEN` or `Basic CREDENTIALS`";
const NO_BASIC: &str =
    "the header Authorization holds no Base64 of `NAME:PASSWORD` in UTF-8 without control characters";

/// The one value of the header, if it is there.
///
/// # Errors
/// When it stands twice or is longer than 16 KiB, in words.
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

/// What a value of the header shows.
///
/// # Errors
/// Why it is neither scheme, in words that repeat nothing of it.
pub fn read(value: &[u8]) -> Result<Shown<'_>, &'static str> {
    let space = memchr(value, b' ').ok_or(FORM)?;
    let (scheme, rest) = value.split_at(space);
    let text = visible(rest.trim_ascii()).ok_or(FORM)?;
    match scheme {
        _ if scheme.eq_ignore_ascii_case(b"Bearer") => Ok(Shown::Bearer(text)),
        _ if scheme.eq_ignore_ascii_case(b"Basic") => basic(text).map(Shown::Basic).ok_or(NO_BASIC),
        _ => Err(FORM),
    }
}

/// Returns true if a value of the header is meant as a name and a password, also where these cannot be read.
pub(super) fn is_basic(value: &[u8]) -> bool {
    let scheme = value.trim_ascii_start().split(u8::is_ascii_whitespace).next().unwrap_or_default();
    scheme.eq_ignore_ascii_case(b"Basic")
}

/// Returns true if `token` can be sent as a bearer token at all.
pub fn is_token(token: &str) -> bool {
    visible(token.as_bytes()).is_some() && token.len() < LONGEST - "Bearer ".len()
}

fn memchr(bytes: &[u8], byte: u8) -> Option<usize> {
    bytes.iter().position(|b| *b == byte)
}

/// One word of visible ASCII: two credentials that a proxy has joined are none.
fn visible(bytes: &[u8]) -> Option<&str> {
    let one = !bytes.is_empty() && bytes.iter().all(u8::is_ascii_graphic);
    std::str::from_utf8(bytes).ok().filter(|_| one)
}

fn basic(text: &str) -> Option<Basic> {
    let decoded = (text.len() <= LONGEST_BASIC).then(|| BASE64_STANDARD.decode(text))?.ok()?;
    // Owned by the secret as soon as it is text, so that no copy stays behind.
    let whole = String::from_utf8(decoded).ok()?;
    let (user, password) = whole.split_once(':').filter(|_| !whole.chars().any(char::is_control))?;
    let basic = Basic { user: user.to_owned(), password: SecretString::from(password) };
    drop(SecretString::from(whole));
    (!basic.user.is_empty()).then_some(basic)
}

impl std::fmt::Debug for Shown<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Basic(_) => "Basic",
            Self::Bearer(_) => "Bearer",
        })
    }
}

impl std::fmt::Debug for Basic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Some type the password where the name belongs.
        f.write_str("Basic")
    }
}
