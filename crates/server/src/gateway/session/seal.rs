//! Sealing of states that go through clients: AES-256-GCM under a key that lives as long as the process.

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;

/// The operating system gave no random numbers.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the operating system gives no random numbers")]
pub(crate) struct NoRandomness;

/// Random bytes of the operating system: aws-lc's own generator gathers entropy for tens of milliseconds first, which
/// would be most of the start.
fn fill(bytes: &mut [u8]) -> Result<(), NoRandomness> {
    getrandom::fill(bytes).map_err(|_| NoRandomness)
}

/// The gateway's keys: for sealing, and for the nonces of names.
pub(crate) struct Seal(LessSafeKey, hmac::Key);

impl Seal {
    /// A new random key.
    pub(crate) fn new() -> Result<Self, NoRandomness> {
        let (mut key, mut names) = ([0; 32], [0; 32]);
        fill(&mut key)?;
        fill(&mut names)?;
        let key = UnboundKey::new(&AES_256_GCM, &key).map_err(|_| NoRandomness)?;
        Ok(Self(LessSafeKey::new(key), hmac::Key::new(hmac::HMAC_SHA256, &names)))
    }

    /// Seals `plain` for whoever shows the same `bound` again.
    pub(crate) fn seal(&self, plain: &[u8], bound: &[u8]) -> String {
        let mut nonce = [0; NONCE_LEN];
        // Without randomness nothing can be sealed, and an empty text opens nothing: the client starts over.
        if fill(&mut nonce).is_err() {
            return String::new();
        }
        self.seal_under(nonce, plain, bound)
    }

    /// Seals `plain` as [`Seal::seal`] does, to the same text each time.
    pub(crate) fn seal_name(&self, plain: &[u8], bound: &[u8]) -> String {
        // A nonce that only the same text has, so that none is used for two.
        let mut context = hmac::Context::with_key(&self.1);
        context.update(&(bound.len() as u64).to_be_bytes());
        context.update(bound);
        context.update(plain);
        let tag = context.sign();
        let mut nonce = [0; NONCE_LEN];
        nonce.copy_from_slice(&tag.as_ref()[..NONCE_LEN]);
        self.seal_under(nonce, plain, bound)
    }

    fn seal_under(&self, nonce: [u8; NONCE_LEN], plain: &[u8], bound: &[u8]) -> String {
        let mut text = plain.to_vec();
        let nonce_used = Nonce::assume_unique_for_key(nonce);
        if self.0.seal_in_place_append_tag(nonce_used, Aad::from(bound), &mut text).is_err() {
            return String::new();
        }
        let mut out = nonce.to_vec();
        out.extend_from_slice(&text);
        BASE64_URL_SAFE_NO_PAD.encode(out)
    }

    /// Opens what was sealed for the same `bound`; `None` for anything else.
    pub(crate) fn open(&self, sealed: &str, bound: &[u8]) -> Option<Vec<u8>> {
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(sealed).ok()?;
        let (nonce, text) = bytes.split_at_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let mut text = text.to_vec();
        let plain = self.0.open_in_place(nonce, Aad::from(bound), &mut text).ok()?;
        Some(plain.to_vec())
    }
}

/// A text that nobody can guess: 256 random bits in visible ASCII.
pub(crate) fn random_id() -> Result<String, NoRandomness> {
    let mut bytes = [0; 32];
    fill(&mut bytes)?;
    Ok(BASE64_URL_SAFE_NO_PAD.encode(bytes))
}

/// A number that nobody can guess.
///
/// # Errors
/// When the operating system gives no random bytes.
pub(crate) fn random_number() -> Result<u64, NoRandomness> {
    let mut bytes = [0; 8];
    fill(&mut bytes)?;
    Ok(u64::from_ne_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opens_only_what_it_sealed_for_the_same_thing() {
        let seal = Seal::new().unwrap();
        let sealed = seal.seal(b"state", b"me");
        assert_eq!(seal.open(&sealed, b"me").as_deref(), Some(b"state".as_slice()));
        assert_eq!(seal.open(&sealed, b"you"), None);
        assert_eq!(Seal::new().unwrap().open(&sealed, b"me"), None);
        for at in 0..sealed.len() {
            let mut altered = sealed.clone().into_bytes();
            altered[at] = if altered[at] == b'A' { b'B' } else { b'A' };
            assert_eq!(seal.open(std::str::from_utf8(&altered).unwrap(), b"me"), None, "byte {at}");
        }
        assert_eq!(seal.open("", b"me"), None);
    }

    #[test]
    fn a_name_is_always_the_same_for_one_and_never_for_another() {
        let seal = Seal::new().unwrap();
        let name = seal.seal_name(b"task", b"me");
        assert_eq!(seal.seal_name(b"task", b"me"), name);
        assert_eq!(seal.open(&name, b"me").as_deref(), Some(b"task".as_slice()));
        assert_eq!(seal.open(&name, b"you"), None);
        let others =
            [seal.seal_name(b"task", b"m"), seal.seal_name(b"etask", b"m"), seal.seal_name(b"", b"metask")];
        assert!(others.iter().all(|other| other[..16] != name[..16]), "each has a nonce of its own");
        assert_ne!(Seal::new().unwrap().seal_name(b"task", b"me"), name);
    }

    #[test]
    fn ids_differ_and_are_visible_ascii() {
        let (a, b) = (random_id().unwrap(), random_id().unwrap());
        assert_ne!(a, b);
        assert!(a.len() == 43 && a.bytes().all(|b| b.is_ascii_graphic()));
    }
}
