//! The latest results of this thread: a cache in front of the shared cache (`recent`), because most requests carry
//! the same credential as the request before. This module must not know how a credential is checked.
//!
//! Entries are keyed by SipHash-2-4 with 128 bits under a random key (Aumasson and Bernstein, 2012), a MAC for short
//! texts. Like a digest, this hash reveals nothing about the credential, and nobody can produce a collision without
//! the key.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use engine::access::Principal;
use siphasher::sip128::SipHasher24;

use super::digest::NoRandomness;

/// The number of credentials that a thread remembers.
const PLACES: usize = 64;

thread_local! {
    static NEAR: RefCell<[Option<NearCredential>; PLACES]> = const { RefCell::new([const { None }; PLACES]) };
}

/// A credential's principal, and the time until which the result is valid.
struct NearCredential {
    tag: Tag,
    principal: Arc<Principal>,
    until: Duration,
}

/// The keyed hash of a credential. It identifies the credential in this process until all results are forgotten.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Tag {
    number: u128,
    edition: u64,
}

impl Tag {
    fn place(self) -> usize {
        usize::from(self.number.to_le_bytes()[0]) % PLACES
    }
}

/// The cache of the credentials that were identified under one configuration.
pub(super) struct Near {
    tags: SipHasher24,
    edition: AtomicU64,
}

impl Near {
    /// Creates an empty cache. A new random key separates this cache from the caches of other configurations.
    pub(super) fn new() -> Result<Self, NoRandomness> {
        let mut key = [0; 16];
        getrandom::fill(&mut key).map_err(|_| NoRandomness)?;
        Ok(Self { tags: SipHasher24::new_with_key(&key), edition: AtomicU64::new(0) })
    }

    /// Returns the tag of `secret`. Create the tag before the look-up: if results are forgotten during the look-up,
    /// the tag is outdated, and the result is not stored under a valid one.
    pub(super) fn tag(&self, secret: &[u8]) -> Tag {
        Tag { number: self.tags.hash(secret).as_u128(), edition: self.edition.load(Ordering::Acquire) }
    }

    /// Forgets all results, on all threads.
    pub(super) fn forget(&self) {
        self.edition.fetch_add(1, Ordering::Release);
    }
}

/// Returns the principal of this credential, if this thread has identified it and the result is still valid at `now`.
pub(super) fn get(tag: Tag, now: Duration) -> Option<Arc<Principal>> {
    NEAR.with_borrow(|near| {
        let found = near[tag.place()].as_ref()?;
        (found.tag == tag && now < found.until).then(|| Arc::clone(&found.principal))
    })
}

/// Remembers the principal of this credential until `until`, replacing an older entry.
pub(super) fn put(tag: Tag, principal: Arc<Principal>, until: Duration) {
    NEAR.with_borrow_mut(|near| near[tag.place()] = Some(NearCredential { tag, principal, until }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_holds_until_its_time_or_until_all_is_forgotten_and_for_its_credential_alone() {
        let (near, other) = (Near::new().unwrap(), Near::new().unwrap());
        let at = Duration::from_secs;
        let ann = Arc::new(Principal { user: Some("ann".into()), ..Principal::anyone() });
        let tag = near.tag(b"Bearer a");
        put(tag, Arc::clone(&ann), at(10));
        assert_eq!(get(tag, at(9)), Some(ann));
        assert_eq!(get(tag, at(10)), None, "its time");
        assert_eq!(get(near.tag(b"Bearer b"), at(9)), None);
        assert_eq!(get(other.tag(b"Bearer a"), at(9)), None, "another configuration");
        std::thread::spawn(move || assert_eq!(get(tag, at(9)), None, "another thread")).join().unwrap();
        near.forget();
        assert_eq!(get(near.tag(b"Bearer a"), at(9)), None, "forgotten");
    }

    #[test]
    fn credentials_in_the_same_place_are_told_apart() {
        let (near, at) = (Near::new().unwrap(), Duration::from_secs(1));
        let names: Vec<String> = (0..10 * PLACES).map(|number| number.to_string()).collect();
        for name in &names {
            let whose = Principal { user: Some(name.as_str().into()), ..Principal::anyone() };
            put(near.tag(name.as_bytes()), Arc::new(whose), at);
        }
        let mut known = 0;
        for name in &names {
            if let Some(found) = get(near.tag(name.as_bytes()), Duration::ZERO) {
                assert_eq!(found.user.as_deref(), Some(name.as_str()));
                known += 1;
            }
        }
        assert!((1..=PLACES).contains(&known), "{known}");
    }
}
