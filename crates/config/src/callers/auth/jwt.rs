//! The configuration of an issuer of signed tokens.

use std::time::Duration;

use schemars::{Schema, SchemaGenerator};
use serde_json::{Value, json};

use super::check::{algorithm, safe_name, safe_url};
use crate::reading::reader::Reader;
use crate::reading::rows::section;
use crate::reading::spellings::{CheckedText, Optional, Spelling, Time, Values};
use crate::syntax::parse::Entry;
use crate::values::check::Flaw;
use crate::values::text::Text;
use crate::values::words::words;

section! {
    /// An issuer of signed tokens (JWT, RFC 7519).
    pub struct Jwt: "a mapping with `issuer`" [
        /// The value of `iss` in the issuer's tokens: `https://id.example.com`.
        "issuer" issuer: Text = CheckedText("a string", safe_name), default Text::plain(""),
            needed "issuer: https://id.example.com";
        /// The URL of the issuer's public keys (a JWK set).
        "jwks" jwks: Option<Text> = Optional(CheckedText("a URL", safe_url)), absent "found through the issuer's metadata";
        /// The required value of `aud`, or a list of values; one matching value is enough.
        "audience" audience: Vec<Text> =
            Values { what: "a string, or a list of strings", item: CheckedText("a string", audience), some: true },
            absent "`oauth.resource`; `audience` is required if `oauth.resource` is not set";
        /// The accepted signature algorithms. Only algorithms with a key pair are supported.
        "algorithms" algorithms: Vec<Algorithm> = Values { what: "a list of signature algorithms", item: Signature, some: true },
            default vec![Algorithm::Rs256, Algorithm::Es256, Algorithm::EdDsa];
        /// The tolerated difference from the issuer's clock, at most `5m`.
        "clockSkew" clock_skew: Duration = Time { least: Duration::ZERO, most: Duration::from_mins(5) },
            default Duration::from_mins(1);
    ]
}

fn audience(text: &Text) -> Result<(), Flaw> {
    if text.expose().is_empty() {
        return Err(Flaw::new("an audience cannot be empty", "write the value of `aud` in the tokens"));
    }
    Ok(())
}

words! {
    /// A signature algorithm with a key pair (RFC 7518 section 3.1, RFC 8037 section 3.1). Algorithms with a shared secret
    /// are left out, because the keys of a JWK set are public.
    pub enum Algorithm {
        /// RSASSA-PKCS1-v1_5 with SHA-256.
        Rs256 = "RS256",
        /// RSASSA-PKCS1-v1_5 with SHA-384.
        Rs384 = "RS384",
        /// RSASSA-PKCS1-v1_5 with SHA-512.
        Rs512 = "RS512",
        /// RSASSA-PSS with SHA-256.
        Ps256 = "PS256",
        /// RSASSA-PSS with SHA-384.
        Ps384 = "PS384",
        /// RSASSA-PSS with SHA-512.
        Ps512 = "PS512",
        /// ECDSA over P-256 with SHA-256.
        Es256 = "ES256",
        /// ECDSA over P-384 with SHA-384.
        Es384 = "ES384",
        /// Ed25519.
        EdDsa = "EdDSA",
    }
}

impl Algorithm {
    /// The algorithm with this name. Case matters (RFC 7515, 4.1.1).
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, algorithm)| *algorithm)
    }
}

/// The name of an algorithm.
struct Signature;

impl Spelling<Algorithm> for Signature {
    fn read(&self, reader: &mut Reader<'_>, entry: &Entry, _: Option<&Algorithm>) -> Option<Algorithm> {
        let text = reader.text(&entry.value, "a signature algorithm such as RS256")?;
        reader.sound(&entry.value.at, algorithm(text.expose(), text.shown()))
    }

    fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<Algorithm>()
    }

    fn written(&self, algorithm: &Algorithm) -> Value {
        json!(algorithm.name())
    }
}
