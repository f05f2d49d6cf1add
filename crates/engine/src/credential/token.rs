//! The three parts of a token (RFC 7515, 7.1), parsed but not verified. This module must not know keys.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::{Map, Value};

use config::Algorithm;

/// The maximum length of a key's name, in bytes; tokens with a longer one are rejected.
const LONGEST_KID: usize = 512;
/// The accepted values of an access token's type, if it has one (RFC 9068, 2.1; RFC 8725, 3.11): a token of another
/// type that is signed with the same key must not be accepted.
const TYPES: [&str; 3] = ["JWT", "at+jwt", "application/at+jwt"];

/// The parts of a token, parsed but not verified.
pub struct Token<'a> {
    /// The signature algorithm that the token claims.
    pub algorithm: Algorithm,
    /// The id of the key that, according to the token, signed it (`kid`), if the token names one.
    pub kid: Option<Box<str>>,
    /// The part of the token that the signature covers.
    pub signed: &'a [u8],
    /// The signature.
    pub signature: Vec<u8>,
    /// The claims. They must not be trusted until the signature has been checked.
    pub claims: Map<String, Value>,
}

impl<'a> Token<'a> {
    /// Returns true if `text` has the form of a token, so it cannot be another kind of credential.
    pub fn looks_like(text: &str) -> bool {
        text.starts_with("eyJ") && text.bytes().filter(|b| *b == b'.').count() == 2
    }

    /// Parses a token, and does not verify it.
    ///
    /// # Errors
    /// Returns the reason why it is rejected, without quoting any part of it.
    pub fn read(text: &'a str) -> Result<Self, &'static str> {
        let form = "the token is not a signed JWT in compact form";
        let (signed, signature) = text.rsplit_once('.').ok_or(form)?;
        let (header, claims) =
            signed.split_once('.').filter(|(_, claims)| !claims.contains('.')).ok_or(form)?;
        let header = object(header).ok_or("the token's header is not a JSON object in Base64url")?;
        let name = header
            .get("alg")
            .and_then(Value::as_str)
            .ok_or("the token's header does not name an algorithm")?;
        let algorithm = Algorithm::named(name).ok_or("the token's signature algorithm is not supported")?;
        if header.contains_key("crit") {
            // Critical extensions (RFC 7515, 4.1.11): none is supported.
            return Err("the token's header has an unsupported extension");
        }
        if header.get("typ").is_some_and(|kind| !is_access_token(kind)) {
            return Err("the token is not an access token");
        }
        let kid = match header.get("kid") {
            None => None,
            Some(Value::String(kid)) if kid.len() <= LONGEST_KID => Some(kid.as_str().into()),
            Some(_) => return Err("the token's header has a malformed key id"),
        };
        let claims = object(claims).ok_or("the token's claims are not a JSON object in Base64url")?;
        let signature = BASE64_URL_SAFE_NO_PAD.decode(signature).ok().filter(|bytes| !bytes.is_empty());
        let signature = signature.ok_or("the token is not signed")?;
        Ok(Self { algorithm, kid, signed: signed.as_bytes(), signature, claims })
    }

    /// The issuer that the token claims to come from, if it names one.
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
