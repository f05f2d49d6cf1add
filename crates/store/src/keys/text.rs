//! The text of a key: `dgm_`, 43 characters for 256 random bits, and 6 characters for a checksum. Pure.
//!
//! The prefix lets secret scanners find leaked keys; the checksum distinguishes a mistyped key from an unknown one
//! without a lookup.

use std::fmt;

use aws_lc_rs::digest::{SHA256, digest};
use secrecy::{ExposeSecret as _, SecretString};

use super::checksum::{base62, crc32};

/// The prefix of every key.
pub const MARK: &str = "dgm_";
/// The length of a key, in bytes (it is ASCII).
pub const KEY_LEN: usize = MARK.len() + BODY + CHECK;
/// The length of the part of a key that may be shown, in bytes, including the prefix. This part identifies a key and leaves 208
/// bits to guess.
pub const PREFIX_LEN: usize = MARK.len() + 8;

/// 256 bits in base 62.
const BODY: usize = 43;
/// 32 bits in base 62.
const CHECK: usize = 6;

/// A well-formed key. `Debug` shows only its prefix.
#[derive(Clone)]
pub struct KeyText(SecretString);

/// The reason why a text is not a key. It contains no part of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyTextError {
    /// The text has another prefix.
    #[error("it does not start with {MARK}")]
    Mark,
    /// The text is too long or too short.
    #[error("it does not have {KEY_LEN} characters")]
    Length,
    /// The text contains a character that no key has.
    #[error("it has characters other than letters and digits")]
    Character,
    /// The text was mistyped: the checksum is wrong.
    #[error("its checksum is wrong, so it was mistyped or truncated")]
    Checksum,
}

impl KeyText {
    /// Creates the key that encodes 256 random bits.
    pub fn generate(random: [u8; 32]) -> Self {
        let body = base62::<BODY>(&random);
        let text: String = MARK.bytes().chain(body).chain(checked(&body)).map(char::from).collect();
        Self(text.into())
    }

    /// Reads a key; surrounding white space is ignored.
    ///
    /// # Errors
    /// Returns the fault, without any part of the text.
    pub fn parse(text: &str) -> Result<Self, KeyTextError> {
        let text = text.trim();
        let rest = text.strip_prefix(MARK).ok_or(KeyTextError::Mark)?;
        if !rest.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Err(KeyTextError::Character);
        }
        let (body, check) = rest.as_bytes().split_at_checked(BODY).ok_or(KeyTextError::Length)?;
        if check.len() != CHECK {
            return Err(KeyTextError::Length);
        }
        if checked(body) != check {
            return Err(KeyTextError::Checksum);
        }
        Ok(Self(text.into()))
    }

    /// Returns true if a credential looks like a key, well-formed or not.
    pub fn is_meant(text: &str) -> bool {
        text.trim_start().starts_with(MARK)
    }

    /// The whole text of the key, which is a secret.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }

    /// The part that may be shown.
    pub fn prefix(&self) -> &str {
        &self.expose()[..PREFIX_LEN]
    }

    /// The stored digest of the key.
    pub fn digest(&self) -> Digest {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(digest(&SHA256, self.expose().as_bytes()).as_ref());
        Digest(bytes)
    }
}

impl fmt::Debug for KeyText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KeyText").field(&self.prefix()).finish()
    }
}

/// The SHA-256 of a key's whole text. The timing of a lookup leaks nothing: without the key, an attacker cannot
/// choose its digest.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The 32 bytes of the digest.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Digest(…)")
    }
}

fn checked(body: &[u8]) -> [u8; CHECK] {
    base62(&crc32(body).to_be_bytes())
}
