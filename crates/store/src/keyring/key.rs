//! Sealing and opening with AES-256-GCM. From each key of the ring, a separate key is derived for each purpose. A
//! sealed text contains the number of its key. This module must not know where keys come from.

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use aws_lc_rs::hkdf::{HKDF_SHA256, KeyType, Salt};
use aws_lc_rs::hmac;
use secrecy::zeroize::Zeroizing;

use super::ring::{RingKey, RingKeyId, Role};

/// The first byte of every sealed text.
const FORMAT: u8 = 1;

/// The length of the header in front of the sealed bytes: format, number of the key, nonce.
const HEAD: usize = 1 + 4 + NONCE_LEN;

/// The purpose of a sealed text. Each purpose has its own keys, so that a text cannot be used for another
/// purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Ids of sessions.
    Session,
    /// States that pass through clients.
    State,
    /// Names of tasks.
    Task,
    /// Values that several machines share through a store.
    Shared,
}

impl Purpose {
    const fn label(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::State => "state",
            Self::Task => "task",
            Self::Shared => "shared",
        }
    }

    /// The role of the keys that seal texts of this purpose.
    pub const fn role(self) -> Role {
        match self {
            Self::Session | Self::State | Self::Shared => Role::Seals,
            Self::Task => Role::Names,
        }
    }
}

/// The keys of a ring for one purpose. The first one seals, and all of them open.
pub struct PurposeKeys(Vec<DerivedKey>);

struct DerivedKey {
    id: RingKeyId,
    seals: LessSafeKey,
    names: hmac::Key,
}

impl std::fmt::Debug for PurposeKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().map(|key| key.id)).finish()
    }
}

/// The length of a derived key.
struct Length;

impl KeyType for Length {
    fn len(&self) -> usize {
        32
    }
}

/// The bytes derived from a key for one use.
fn derived(secret: &[u8; 32], label: &str, part: &str) -> Option<Zeroizing<[u8; 32]>> {
    let key = Salt::new(HKDF_SHA256, b"dragoman key ring").extract(secret);
    let mut bytes = Zeroizing::new([0; 32]);
    let info = [label.as_bytes(), b"\0", part.as_bytes()];
    key.expand(&info, Length).and_then(|out| out.fill(&mut *bytes)).ok()?;
    Some(bytes)
}

impl DerivedKey {
    fn new(purpose: Purpose, key: &RingKey) -> Option<Self> {
        let seals = derived(&key.secret, purpose.label(), "seal")?;
        let names = derived(&key.secret, purpose.label(), "nonce")?;
        let seals = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &*seals).ok()?);
        Some(Self { id: key.id, seals, names: hmac::Key::new(hmac::HMAC_SHA256, &*names) })
    }

    /// The context that a text is bound to: its format and key, and the caller's own context.
    fn bound(&self, bound: &[u8]) -> Vec<u8> {
        [&[FORMAT][..], &self.id.0, bound].concat()
    }

    fn seal(&self, plain: &[u8], bound: &[u8], nonce: [u8; NONCE_LEN]) -> Option<Vec<u8>> {
        let mut text = Vec::with_capacity(HEAD + plain.len() + AES_256_GCM.tag_len());
        text.push(FORMAT);
        text.extend_from_slice(&self.id.0);
        text.extend_from_slice(&nonce);
        text.extend_from_slice(plain);
        let (nonce, bound) = (Nonce::assume_unique_for_key(nonce), Aad::from(self.bound(bound)));
        let tag = self.seals.seal_in_place_separate_tag(nonce, bound, &mut text[HEAD..]).ok()?;
        text.extend_from_slice(tag.as_ref());
        Some(text)
    }
}

impl PurposeKeys {
    pub(super) fn derive<'a>(purpose: Purpose, keys: impl Iterator<Item = &'a RingKey>) -> Self {
        Self(keys.filter_map(|key| DerivedKey::new(purpose, key)).collect())
    }

    /// Seals `plain`; opening it requires the same `bound`. Each text needs its own nonce.
    pub fn seal(&self, plain: &[u8], bound: &[u8], nonce: [u8; NONCE_LEN]) -> Option<Vec<u8>> {
        self.0.first()?.seal(plain, bound, nonce)
    }

    /// Seals `plain` like [`PurposeKeys::seal`], but with the same result each time.
    pub fn seal_name(&self, plain: &[u8], bound: &[u8]) -> Option<Vec<u8>> {
        // A nonce that is unique to this text, so that no two texts share one.
        self.0.first()?.seal(plain, bound, self.digest(plain, bound)?)
    }

    /// Returns a digest of a text, which only holders of the key ring can compute. `bound` separates digests for different uses.
    pub fn digest(&self, plain: &[u8], bound: &[u8]) -> Option<[u8; NONCE_LEN]> {
        let mut context = hmac::Context::with_key(&self.0.first()?.names);
        context.update(&(bound.len() as u64).to_be_bytes());
        context.update(bound);
        context.update(plain);
        context.sign().as_ref().first_chunk().copied()
    }

    /// Opens a text that was sealed for the same purpose with the same `bound`; `None` for anything else.
    pub fn open(&self, sealed: &[u8], bound: &[u8]) -> Option<Vec<u8>> {
        let (head, text) = sealed.split_at_checked(HEAD)?;
        let (format, id, nonce) = (head[0], &head[1..5], &head[5..]);
        let key = self.0.iter().find(|key| key.id.0 == id).filter(|_| format == FORMAT)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let mut text = text.to_vec();
        let length = key.seals.open_in_place(nonce, Aad::from(key.bound(bound)), &mut text).ok()?.len();
        text.truncate(length);
        Some(text)
    }
}
