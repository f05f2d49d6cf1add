//! Unguessable texts, and digests of them. This module must not know what a text is for.

use std::fmt::Write as _;

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use secrecy::{ExposeSecret as _, SecretString};
use subtle::ConstantTimeEq as _;

/// The error if the operating system's random number generator fails.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the operating system's random number generator failed")]
pub(crate) struct NoEntropy;

/// The length of the mark of a token.
pub(crate) const MARK: usize = 4;
/// The length of a random text without its mark, and of a random name.
pub(crate) const LENGTH: usize = 43;
pub(crate) const NAME: usize = 16;
/// The number of digits of a process's number in a text.
const DIGITS: usize = 8;

/// Returns random bytes from the operating system.
pub(crate) fn bytes<const N: usize>() -> Result<[u8; N], NoEntropy> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| NoEntropy)?;
    Ok(bytes)
}

/// Returns an unguessable text: `mark`, and 256 random bits in 43 characters that are allowed in URLs.
pub(crate) fn text(mark: &str) -> Result<SecretString, NoEntropy> {
    Ok(SecretString::from(format!("{mark}{}", BASE64_URL_SAFE_NO_PAD.encode(bytes::<32>()?))))
}

/// Returns a random name of 16 characters, which is not secret.
pub(crate) fn name() -> Result<String, NoEntropy> {
    Ok(BASE64_URL_SAFE_NO_PAD.encode(bytes::<12>()?))
}

/// Adds the number of a process to the mark of a text; 0 stands for a process without a number.
pub(crate) fn numbered(process: u32) -> String {
    if process == 0 { String::new() } else { format!("{process:08x}") }
}

/// Returns the number of a process in a text whose random part has this length. Anybody can make up such a text.
pub(crate) fn process_in(text: &str, length: usize) -> Option<u32> {
    let digits = text.get(..DIGITS).filter(|_| text.len() == length + DIGITS)?;
    let are_digits = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    u32::from_str_radix(digits, 16).ok().filter(|_| are_digits)
}

/// Returns the SHA-256 digest of a text.
pub(crate) fn digest_of(text: &str) -> [u8; 32] {
    let mut out = [0; 32];
    out.copy_from_slice(digest(&SHA256, text.as_bytes()).as_ref());
    out
}

/// Returns the digest of a text in Base64 for URLs, as PKCE writes it (RFC 7636, 4.2).
pub(crate) fn challenge_of(verifier: &str) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(digest_of(verifier))
}

/// Returns six characters that reveal nothing about a text, and differ for most texts.
pub(crate) fn short_of(text: &str) -> String {
    digest_of(&format!("short {text}"))[..3].iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// Compares a secret with a text, in a time that does not depend on where they differ.
pub(crate) fn is_same(secret: &SecretString, text: &str) -> bool {
    secret.expose_secret().as_bytes().ct_eq(text.as_bytes()).into()
}
