//! An issuer's public keys: a JWK set (RFC 7517), reduced to the keys that can verify signatures here. This module must
//! not know where the keys come from.

use aws_lc_rs::signature::{ParsedPublicKey, RsaPublicKeyComponents};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use config::Algorithm;
use serde_json::{Map, Value};

use super::algorithm::{self, KeyType};

/// The maximum number of keys that are examined in one set.
const MOST_KEYS: usize = 64;

/// The keys that verify tokens of one issuer.
pub(super) struct KeySet(Vec<Key>);

struct Key {
    kid: Option<Box<str>>,
    /// The algorithms that both the configuration and the key's own properties allow for this key, each with the
    /// key parsed for that algorithm.
    ways: Vec<(Algorithm, ParsedPublicKey)>,
}

/// The result of searching a set for a token's key.
pub(super) enum KeyMatch<'a> {
    /// The set contains the key.
    Key(&'a ParsedPublicKey),
    /// The set has no key with this name; the issuer may have added one.
    Unknown,
    /// The set has keys, but none is suitable for the token; the text is the reason.
    Unfit(&'static str),
}

impl KeySet {
    /// Reads a set. Ignores keys that have another type, are meant for another use, or are too weak (RFC 7517, 5).
    pub(super) fn read(bytes: &[u8], algorithms: &[Algorithm]) -> Option<Self> {
        let set: Map<String, Value> = serde_json::from_slice(bytes).ok()?;
        let listed = set.get("keys")?.as_array()?;
        let keys = listed.iter().take(MOST_KEYS).filter_map(|key| Key::read(key.as_object()?, algorithms));
        Some(Self(keys.collect()))
    }

    /// Returns true if the set has no usable key.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the only key that can have signed a token with `kid` and `algorithm`.
    pub(super) fn find(&self, kid: Option<&str>, algorithm: Algorithm) -> KeyMatch<'_> {
        let named = self.0.iter().filter(|key| kid.is_none() || key.kid.as_deref() == kid);
        let mut fit = named.clone().filter_map(|key| key.way(algorithm));
        match (fit.next(), fit.next()) {
            (Some(key), None) => KeyMatch::Key(key),
            (Some(_), Some(_)) => {
                KeyMatch::Unfit("the token does not identify the issuer's key that signed it")
            }
            (None, _) if kid.is_some() && named.count() > 0 => {
                KeyMatch::Unfit("the token's algorithm is not allowed for this issuer and this key")
            }
            (None, _) => KeyMatch::Unknown,
        }
    }
}

impl std::fmt::Debug for KeySet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().map(|key| &key.kid)).finish()
    }
}

impl Key {
    fn read(jwk: &Map<String, Value>, algorithms: &[Algorithm]) -> Option<Self> {
        let text = |name: &str| jwk.get(name).and_then(Value::as_str);
        let signs = jwk.get("use").is_none_or(|purpose| purpose == "sig");
        let verifies = |ops: &Value| ops.as_array().is_some_and(|ops| ops.iter().any(|op| op == "verify"));
        if !signs || !jwk.get("key_ops").is_none_or(verifies) {
            return None;
        }
        let own = match jwk.get("alg") {
            None => None,
            Some(name) => Some(Algorithm::named(name.as_str()?)?),
        };
        let fit = algorithms.iter().filter(|algorithm| own.is_none_or(|own| own == **algorithm));
        let ways: Vec<_> =
            fit.filter_map(|algorithm| Some((*algorithm, public_key(jwk, *algorithm)?))).collect();
        (!ways.is_empty()).then(|| Self { kid: text("kid").map(Into::into), ways })
    }

    fn way(&self, algorithm: Algorithm) -> Option<&ParsedPublicKey> {
        self.ways.iter().find(|(known, _)| *known == algorithm).map(|(_, key)| key)
    }
}

/// Returns the key in a JWK (RFC 7518, 6; RFC 8037, 2), if the key has the type that `algorithm` needs.
fn public_key(jwk: &Map<String, Value>, algorithm: Algorithm) -> Option<ParsedPublicKey> {
    let text = |name: &str| jwk.get(name).and_then(Value::as_str);
    let bytes = |name: &str| BASE64_URL_SAFE_NO_PAD.decode(text(name)?).ok();
    match algorithm::kind(algorithm) {
        KeyType::Rsa(parameters) if text("kty") == Some("RSA") => {
            let (n, e) = (bytes("n")?, bytes("e")?);
            let strong = (2048 / 8..=8192 / 8).contains(&n.len());
            strong.then(|| RsaPublicKeyComponents { n, e }.to_parsed_public_key(parameters).ok())?
        }
        KeyType::Curve(curve, size, parameters)
            if text("kty") == Some("EC") && text("crv") == Some(curve) =>
        {
            let (x, y) = (bytes("x")?, bytes("y")?);
            // An uncompressed point (SEC 1, 2.3.3); the parser checks that it lies on the curve.
            let point = [&[4], x.as_slice(), y.as_slice()].concat();
            (x.len() == size && y.len() == size).then(|| ParsedPublicKey::new(parameters, point).ok())?
        }
        KeyType::Edwards(parameters) if text("kty") == Some("OKP") && text("crv") == Some("Ed25519") => {
            ParsedPublicKey::new(parameters, bytes("x")?).ok()
        }
        _ => None,
    }
}
