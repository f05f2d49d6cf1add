//! A token's three parts (RFC 7515, 7.1), taken apart but not believed. It must not know keys.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::{Map, Value};

use crate::config::Algorithm;

/// Longer names of keys are nobody's.
const LONGEST_KID: usize = 512;
/// What an access token calls its own type, if it says anything (RFC 9068, 2.1; RFC 8725, 3.11): a token of another
/// kind, signed with the same key, must not pass for one.
const TYPES: [&str; 3] = ["JWT", "at+jwt", "application/at+jwt"];

/// A token as it came.
pub struct Token<'a> {
    /// What it is said to be signed with.
    pub algorithm: Algorithm,
    /// The name of the key.
    pub kid: Option<Box<str>>,
    /// What is signed.
    pub signed: &'a [u8],
    /// What shall prove it.
    pub signature: Vec<u8>,
    /// Nothing of them is true before the signature was checked.
    pub claims: Map<String, Value>,
}

impl<'a> Token<'a> {
    /// Returns true if `text` has the form of a token, so that it is none of another kind.
    pub fn looks_like(text: &str) -> bool {
        text.starts_with("eyJ") && text.bytes().filter(|b| *b == b'.').count() == 2
    }

    /// Takes `text` apart.
    ///
    /// # Errors
    /// Why it is no token that is taken here, in words that repeat nothing of it.
    pub fn read(text: &'a str) -> Result<Self, &'static str> {
        let form = "it is no signed JWT in compact form";
        let (signed, signature) = text.rsplit_once('.').ok_or(form)?;
        let (header, claims) =
            signed.split_once('.').filter(|(_, claims)| !claims.contains('.')).ok_or(form)?;
        let header = object(header).ok_or("its header is no JSON object in Base64url")?;
        let name = header.get("alg").and_then(Value::as_str).ok_or("its header names no algorithm")?;
        let algorithm = Algorithm::named(name).ok_or("its algorithm is none that is taken here")?;
        if header.contains_key("crit") {
            // Extensions that must be understood (RFC 7515, 4.1.11): there are none.
            return Err("its header has an extension that is not known here");
        }
        if header.get("typ").is_some_and(|kind| !is_access_token(kind)) {
            return Err("it is a token of another kind");
        }
        let kid = match header.get("kid") {
            None => None,
            Some(Value::String(kid)) if kid.len() <= LONGEST_KID => Some(kid.as_str().into()),
            Some(_) => return Err("its header names a key in a way that is not understood"),
        };
        let claims = object(claims).ok_or("its claims are no JSON object in Base64url")?;
        let signature = BASE64_URL_SAFE_NO_PAD.decode(signature).ok().filter(|bytes| !bytes.is_empty());
        let signature = signature.ok_or("it is not signed")?;
        Ok(Self { algorithm, kid, signed: signed.as_bytes(), signature, claims })
    }

    /// Who is said to have issued it.
    pub fn issuer(&self) -> Option<&str> {
        self.claims.get("iss")?.as_str()
    }
}

impl std::fmt::Debug for Token<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Token").field("algorithm", &self.algorithm).finish_non_exhaustive()
    }
}

fn is_access_token(kind: &Value) -> bool {
    kind.as_str().is_some_and(|kind| TYPES.iter().any(|known| known.eq_ignore_ascii_case(kind)))
}

fn object(part: &str) -> Option<Map<String, Value>> {
    let bytes = BASE64_URL_SAFE_NO_PAD.decode(part).ok()?;
    serde_json::from_slice(&bytes).ok()
}
