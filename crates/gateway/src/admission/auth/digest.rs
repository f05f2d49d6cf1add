//! Credentials as digests under a key of this process: remembered digests reveal nothing to anyone who reads the
//! process's memory or a core file, and no outsider can produce a collision. This module must not know what a
//! credential means.

use std::hash::{BuildHasherDefault, Hash, Hasher};

use aws_lc_rs::hmac;
use subtle::ConstantTimeEq;

/// The error if the operating system's random number generator fails.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the operating system's random number generator failed")]
pub(crate) struct NoRandomness;

/// Computes digests: HMAC-SHA-256 (RFC 2104) under a random key, which exists only as long as this process.
pub(super) struct Digests(hmac::Key);

/// The digest of one credential.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Digest([u8; 32]);

impl Digests {
    /// Creates a new random key.
    pub(super) fn new() -> Result<Self, NoRandomness> {
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(|_| NoRandomness)?;
        Ok(Self(hmac::Key::new(hmac::HMAC_SHA256, &key)))
    }

    /// Returns the digest of `secret`.
    pub(super) fn of(&self, secret: &[u8]) -> Digest {
        let tag = hmac::sign(&self.0, secret);
        let mut bytes = [0; 32];
        bytes.copy_from_slice(tag.as_ref());
        Digest(bytes)
    }
}

impl std::fmt::Debug for Digests {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Digests")
    }
}

impl Digest {
    /// Returns a number that selects one part of a split map. The number uses other bits of the digest than the hashes
    /// inside the map do.
    pub(super) fn part(&self) -> usize {
        usize::from(self.0[31])
    }

    /// Changes the byte at index `place`.
    #[cfg(test)]
    pub(super) fn flip(&mut self, place: usize) {
        self.0[place] ^= 1;
    }

    /// Returns true if both digests belong to the same secret. The comparison takes constant time, so its duration
    /// reveals nothing.
    pub(super) fn same(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl std::fmt::Debug for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Digest")
    }
}

impl Hash for Digest {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let mut first = [0; 8];
        first.copy_from_slice(&self.0[..8]);
        state.write_u64(u64::from_le_bytes(first));
    }
}

/// A hasher for maps whose keys are [`Digest`]s. The hash consists of some of the digest's own bits, because they are
/// already random.
#[derive(Default)]
pub(super) struct AsIs(u64);

/// Builds [`AsIs`].
pub(super) type ByDigest = BuildHasherDefault<AsIs>;

impl Hasher for AsIs {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
