//! Random texts that admit an operator, and their digests. Only digests are kept. This module must not know what a text is
//! for.

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use subtle::ConstantTimeEq as _;

/// The maximum length of a text that is examined.
const LONGEST: usize = 128;

/// The digest of a random text.
#[derive(Clone, Copy)]
pub(super) struct SecretDigest([u8; 32]);

impl SecretDigest {
    /// Returns the digest of a presented secret.
    pub(super) fn of(text: &str) -> Option<Self> {
        if text.len() > LONGEST {
            return None;
        }
        let mut bytes = [0; 32];
        bytes.copy_from_slice(digest(&SHA256, text.as_bytes()).as_ref());
        Some(Self(bytes))
    }

    /// Returns true if both digests are of the same text. The comparison takes constant time, so its duration
    /// reveals nothing.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl std::fmt::Debug for SecretDigest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SecretDigest")
    }
}

/// Returns a text that encodes `N` random bytes; `None` if the operating system's random number generator failed.
pub(super) fn random<const N: usize>() -> Option<String> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).ok()?;
    Some(BASE64_URL_SAFE_NO_PAD.encode(bytes))
}
