//! The required claims of a token (RFC 7519, 4.1; RFC 9068, 4): audience, time, subject. The current time is an
//! argument. This module must not know signatures.

use serde_json::{Map, Value};

/// The maximum length of a subject, in bytes; longer ones are rejected, because they become part of names that are
/// logged and stored.
const LONGEST_SUBJECT: usize = 512;
/// The maximum number of scopes; a token with more is rejected.
const MOST_SCOPES: usize = 256;

/// The requirements for a token.
#[derive(Debug, Clone, Copy)]
pub struct TokenRequirements<'a> {
    /// The accepted audiences; the token must name at least one of them.
    pub audiences: &'a [Box<str>],
    /// The permitted clock skew in seconds.
    pub skew: u64,
    /// The current time, in seconds since 1970.
    pub now: u64,
}

/// The identity in a valid token.
#[derive(Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The subject: the user or client that the token was issued to.
    pub subject: Box<str>,
    /// True if the token has no `sub` and belongs to a client, which must not be confused with a user of the same name.
    pub is_client: bool,
    /// The scopes granted to the token's holder.
    pub scopes: Vec<Box<str>>,
    /// The time at which the token expires, in seconds since 1970.
    pub ends: u64,
}

/// Checks claims whose signature is valid.
///
/// # Errors
/// Returns the fault, without any part of the claims.
pub fn check(
    claims: &Map<String, Value>,
    expected: &TokenRequirements<'_>,
) -> Result<Accepted, &'static str> {
    if claims.contains_key("cnf") {
        // The token is bound to a key that a bearer does not present (RFC 9449, 7.1; RFC 8705, 3).
        return Err("the token is bound to a key and cannot be used as a bearer token");
    }
    if !is_for(claims.get("aud"), expected.audiences) {
        return Err("the token was issued for another audience, not for this gateway");
    }
    let time = |name: &str| match claims.get(name) {
        None => Ok(None),
        Some(value) => seconds(value).map(Some).ok_or("one of the token's times is not a number"),
    };
    let ends = time("exp")?.ok_or("the token has no expiry time")?.saturating_add(expected.skew);
    if expected.now >= ends {
        return Err("the token has expired");
    }
    // The greatest number means a time that is never reached, however large the tolerance is.
    let is_early = |begins: u64| begins == u64::MAX || expected.now.saturating_add(expected.skew) < begins;
    if time("nbf")?.is_some_and(is_early) {
        return Err("the token is not valid yet");
    }
    let named = ["sub", "client_id", "azp"].iter().find_map(|name| Some((*name, claims.get(*name)?)));
    let is_client = named.is_some_and(|(name, _)| name != "sub");
    let subject =
        named.map(|(_, subject)| subject).and_then(Value::as_str).filter(|subject| is_subject(subject));
    let subject = subject.ok_or("the token has no subject")?.into();
    let scopes = scopes(claims).ok_or("the token's scopes are malformed")?;
    Ok(Accepted { subject, is_client, scopes, ends })
}

/// Returns true if one of the audiences is expected. Audiences are compared exactly (RFC 7519, 4.1.3).
fn is_for(audience: Option<&Value>, expected: &[Box<str>]) -> bool {
    let known =
        |value: &Value| value.as_str().is_some_and(|text| expected.iter().any(|known| **known == *text));
    match audience {
        Some(Value::Array(all)) => all.iter().any(known),
        Some(one) => known(one),
        None => false,
    }
}

/// A `NumericDate` (RFC 7519, 2), which may have a fraction.
fn seconds(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let number = value.as_f64().filter(|number| number.is_finite() && *number >= 0.0)?;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "such a cast saturates")]
        Some(number as u64)
    })
}

fn is_subject(subject: &str) -> bool {
    (1..=LONGEST_SUBJECT).contains(&subject.len()) && !subject.chars().any(char::is_control)
}

/// The scopes: `scope` is a space-separated text (RFC 9068, 2.2.3); some issuers call it `scp` or use a list.
fn scopes(claims: &Map<String, Value>) -> Option<Vec<Box<str>>> {
    let words: Vec<&str> = match claims.get("scope").or_else(|| claims.get("scp")) {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::String(text)) => text.split_ascii_whitespace().collect(),
        Some(Value::Array(all)) => all.iter().map(Value::as_str).collect::<Option<_>>()?,
        Some(_) => return None,
    };
    (words.len() <= MOST_SCOPES).then(|| words.into_iter().map(Into::into).collect())
}
