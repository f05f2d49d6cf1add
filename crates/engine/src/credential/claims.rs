//! What a token must say (RFC 7519, 4.1; RFC 9068, 4): who it is for, when, and of whom. The time is an argument. It must
//! not know signatures.

use serde_json::{Map, Value};

/// Longer subjects are refused: they become part of names that are logged and kept.
const LONGEST_SUBJECT: usize = 512;
/// More scopes are refused.
const MOST_SCOPES: usize = 256;

/// What is asked of a token.
#[derive(Debug, Clone, Copy)]
pub struct Expected<'a> {
    /// One of these must be among its audiences.
    pub audiences: &'a [Box<str>],
    /// Seconds that clocks may differ.
    pub skew: u64,
    /// Seconds since 1970.
    pub now: u64,
}

/// What a token says, once it is believed.
#[derive(Debug, PartialEq, Eq)]
pub struct Accepted {
    /// Of whom it speaks.
    pub subject: Box<str>,
    /// True for a client without a `sub`, which no user of the same name may be taken for.
    pub is_client: bool,
    /// What its holder may be let do.
    pub scopes: Vec<Box<str>>,
    /// The first second, since 1970, at which it is worth nothing.
    pub ends: u64,
}

/// Checks claims whose signature is right.
///
/// # Errors
/// What is wrong with them, in words that repeat nothing of them.
pub fn check(claims: &Map<String, Value>, expected: &Expected<'_>) -> Result<Accepted, &'static str> {
    if claims.contains_key("cnf") {
        // Bound to a key that a bearer does not show (RFC 9449, 7.1; RFC 8705, 3).
        return Err("it is bound to a key, so it is no bearer token");
    }
    if !is_for(claims.get("aud"), expected.audiences) {
        return Err("it is not for this gateway (its audience is another)");
    }
    let time = |name: &str| match claims.get(name) {
        None => Ok(None),
        Some(value) => seconds(value).map(Some).ok_or("one of its times is no number"),
    };
    let ends = time("exp")?.ok_or("it says no time at which it ends")?.saturating_add(expected.skew);
    if expected.now >= ends {
        return Err("it has expired");
    }
    if time("nbf")?.is_some_and(|begins| expected.now.saturating_add(expected.skew) < begins) {
        return Err("it is not valid yet");
    }
    let named = ["sub", "client_id", "azp"].iter().find_map(|name| Some((*name, claims.get(*name)?)));
    let is_client = named.is_some_and(|(name, _)| name != "sub");
    let subject =
        named.map(|(_, subject)| subject).and_then(Value::as_str).filter(|subject| is_subject(subject));
    let subject = subject.ok_or("it does not say of whom it speaks")?.into();
    let scopes = scopes(claims).ok_or("its scopes are not understood")?;
    Ok(Accepted { subject, is_client, scopes, ends })
}

/// Audiences are compared as they stand (RFC 7519, 4.1.3).
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

/// `scope` as words in one text (RFC 9068, 2.2.3); some issuers call it `scp` or make it a list.
fn scopes(claims: &Map<String, Value>) -> Option<Vec<Box<str>>> {
    let words: Vec<&str> = match claims.get("scope").or_else(|| claims.get("scp")) {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::String(text)) => text.split_ascii_whitespace().collect(),
        Some(Value::Array(all)) => all.iter().map(Value::as_str).collect::<Option<_>>()?,
        Some(_) => return None,
    };
    (words.len() <= MOST_SCOPES).then(|| words.into_iter().map(Into::into).collect())
}
