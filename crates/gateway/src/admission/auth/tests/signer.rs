//! An issuer's private keys: signs whatever a test needs, valid or not.

use std::sync::LazyLock;

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair,
    KeyPair as _, RSA_PKCS1_SHA256, RSA_PKCS1_SHA384, RSA_PKCS1_SHA512, RSA_PSS_SHA256, RSA_PSS_SHA384,
    RSA_PSS_SHA512, RsaEncoding, RsaKeyPair,
};
use aws_lc_rs::{hmac, rsa};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::rig::NOW;

pub(super) const ISSUER: &str = "https://id.example.com/tenant";
pub(super) const KEYS: &str = "https://id.example.com/tenant/jwks";
pub(super) const RESOURCE: &str = "https://mcp.example.com/mcp";

/// One key pair of each kind, shared because generating them takes time.
pub(super) static RSA: LazyLock<RsaKeyPair> =
    LazyLock::new(|| RsaKeyPair::generate(rsa::KeySize::Rsa2048).unwrap());
pub(super) static OTHER_RSA: LazyLock<RsaKeyPair> =
    LazyLock::new(|| RsaKeyPair::generate(rsa::KeySize::Rsa2048).unwrap());
static P256: LazyLock<EcdsaKeyPair> =
    LazyLock::new(|| EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap());
static P384: LazyLock<EcdsaKeyPair> =
    LazyLock::new(|| EcdsaKeyPair::generate(&ECDSA_P384_SHA384_FIXED_SIGNING).unwrap());
static ED25519: LazyLock<Ed25519KeyPair> = LazyLock::new(|| Ed25519KeyPair::generate().unwrap());

pub(super) fn encoded(bytes: impl AsRef<[u8]>) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

/// The modulus of a key pair of 2 048 bits, from its DER (RFC 8017, A.1.1): a sequence of two integers.
pub(super) fn modulus(pair: &RsaKeyPair) -> Vec<u8> {
    let der = pair.public_key().as_ref();
    let at = der.len() - 5 - 256;
    assert_eq!(der[der.len() - 5..], [2, 3, 1, 0, 1], "the exponent is 65537");
    der[at..at + 256].to_vec()
}

pub(super) fn rsa_jwk(kid: &str, pair: &RsaKeyPair) -> Value {
    json!({ "kty": "RSA", "kid": kid, "n": encoded(modulus(pair)), "e": "AQAB" })
}

fn curve_jwk(kid: &str, curve: &str, pair: &EcdsaKeyPair) -> Value {
    let point = &pair.public_key().as_ref()[1..];
    let (x, y) = point.split_at(point.len() / 2);
    json!({ "kty": "EC", "crv": curve, "kid": kid, "x": encoded(x), "y": encoded(y) })
}

/// The public keys of all key pairs: `rsa`, `p256`, `p384`, `ed`.
pub(super) fn all_keys() -> Vec<Value> {
    vec![
        rsa_jwk("rsa", &RSA),
        curve_jwk("p256", "P-256", &P256),
        curve_jwk("p384", "P-384", &P384),
        json!({ "kty": "OKP", "crv": "Ed25519", "kid": "ed", "x": encoded(ED25519.public_key()) }),
    ]
}

pub(super) fn key_set(keys: &[Value]) -> String {
    json!({ "keys": keys }).to_string()
}

/// Claims that are accepted, with changes applied: `null` removes a claim.
pub(super) fn claims(changes: &Value) -> Value {
    let mut claims = json!({
        "iss": ISSUER, "aud": RESOURCE, "sub": "ann", "exp": NOW + 300, "nbf": NOW - 1, "scope": "mcp profile",
    });
    for (name, value) in changes.as_object().unwrap().clone() {
        claims[name] = value;
    }
    claims.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    claims
}

/// The header of a token.
pub(super) fn header(algorithm: &str, kid: &str) -> Value {
    json!({ "alg": algorithm, "kid": kid, "typ": "at+jwt" })
}

/// A token signed with the key pair that `algorithm` needs.
pub(super) fn signed(algorithm: &str, kid: &str, claims: &Value) -> String {
    signed_as(algorithm, &header(algorithm, kid), claims)
}

/// A token signed in the same way, with any header.
pub(super) fn signed_as(algorithm: &str, header: &Value, claims: &Value) -> String {
    let text = format!("{}.{}", encoded(header.to_string()), encoded(claims.to_string()));
    let signature = signature(algorithm, text.as_bytes());
    format!("{text}.{}", encoded(signature))
}

pub(super) fn rsa_signature(pair: &RsaKeyPair, how: &'static dyn RsaEncoding, text: &[u8]) -> Vec<u8> {
    let mut signature = vec![0; pair.public_modulus_len()];
    pair.sign(how, &SystemRandom::new(), text, &mut signature).unwrap();
    signature
}

/// A token signed with this key pair, regardless of its key id (RS256).
pub(super) fn signed_with(pair: &RsaKeyPair, kid: &str, claims: &Value) -> String {
    let text = format!("{}.{}", encoded(header("RS256", kid).to_string()), encoded(claims.to_string()));
    let signature = rsa_signature(pair, &RSA_PKCS1_SHA256, text.as_bytes());
    format!("{text}.{}", encoded(signature))
}

fn signature(algorithm: &str, text: &[u8]) -> Vec<u8> {
    let rsa = |how| rsa_signature(&RSA, how, text);
    let curve = |pair: &EcdsaKeyPair| pair.sign(&SystemRandom::new(), text).unwrap().as_ref().to_vec();
    match algorithm {
        "RS256" => rsa(&RSA_PKCS1_SHA256),
        "RS384" => rsa(&RSA_PKCS1_SHA384),
        "RS512" => rsa(&RSA_PKCS1_SHA512),
        "PS256" => rsa(&RSA_PSS_SHA256),
        "PS384" => rsa(&RSA_PSS_SHA384),
        "PS512" => rsa(&RSA_PSS_SHA512),
        "ES256" => curve(&P256),
        "ES384" => curve(&P384),
        "EdDSA" => ED25519.sign(text).as_ref().to_vec(),
        other => panic!("nobody signs with {other}"),
    }
}

/// A token signed with a shared secret, to deceive a library that would use the public key as that secret.
pub(super) fn signed_by_secret(header: &Value, claims: &Value, secret: &[u8]) -> String {
    let text = format!("{}.{}", encoded(header.to_string()), encoded(claims.to_string()));
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), text.as_bytes());
    format!("{text}.{}", encoded(tag))
}

/// The public key in the PEM format that people exchange.
pub(super) fn rsa_pem() -> String {
    use aws_lc_rs::encoding::{AsDer as _, PublicKeyX509Der};
    let der: PublicKeyX509Der<'_> = RSA.public_key().as_der().unwrap();
    let text = base64::prelude::BASE64_STANDARD.encode(der.as_ref());
    let lines: Vec<&str> =
        text.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
    format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n", lines.join("\n"))
}
