//! The facts that a session's id contains in sealed form. They are enough to continue a session even if nothing
//! else about it is stored. This module must not know how ids are sealed.

use std::cell::RefCell;

use aws_lc_rs::digest::{Digest, SHA256, digest};
use engine::Snapshot;
use proto::bridge::input::Askable;
use proto::era::{self, Era};
use store::sessions::SessionKey;

use crate::admission::identity::Identity;

/// The length of the facts, in bytes.
const LENGTH: usize = 58;

/// The facts in a session's id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SessionClaims {
    /// The session's number.
    pub(crate) key: SessionKey,
    /// The time at which the session was opened, in seconds since 1970.
    pub(crate) issued: u64,
    /// The client's version.
    pub(crate) era: &'static Era,
    /// The questions that the client can be asked.
    pub(crate) askable: Askable,
    owner: OwnerDigests,
}

/// Digests of a session's owner and profile. Digests are valid in any process, unlike the numbers of profiles,
/// which are assigned again at each startup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct OwnerDigests {
    profile: [u8; 8],
    principal: [u8; 16],
    rights: [u8; 8],
}

impl OwnerDigests {
    fn of(identity: &Identity, profile: usize, snapshot: &Snapshot) -> Self {
        Self {
            profile: recent(DigestPurpose::Profile, snapshot.profiles[profile].slug.as_bytes()),
            principal: recent(DigestPurpose::Principal, identity.id().as_bytes()),
            rights: rights(identity, snapshot),
        }
    }
}

/// Returns a digest of the caller's rights, and of the headers that are passed on for the caller.
fn rights(identity: &Identity, snapshot: &Snapshot) -> [u8; 8] {
    let (mut text, passed) = (identity.access_class(snapshot).text(), identity.passed.key());
    if passed.is_empty() {
        return recent(DigestPurpose::Rights, &text);
    }
    // The headers may contain secrets, so they are not remembered.
    text.extend_from_slice(b"\0passed\0");
    text.extend_from_slice(&passed);
    part(DigestPurpose::Rights, &text)
}

/// The purpose of a digest.
#[derive(Clone, Copy)]
enum DigestPurpose {
    Profile,
    Principal,
    Rights,
}

/// A text, and its digest.
type TextDigest = (Box<[u8]>, Digest);

thread_local! {
    /// The last text for each purpose, with its digest. Most sessions have the same profile and rights as the session
    /// that this thread opened before.
    static RECENT: RefCell<[Option<TextDigest>; 3]> = const { RefCell::new([const { None }; 3]) };
}

/// Returns the result of [`part`], without computing it if `text` is the last text for this purpose.
fn recent<const N: usize>(purpose: DigestPurpose, text: &[u8]) -> [u8; N] {
    RECENT.with_borrow_mut(|recent| {
        let last = &mut recent[purpose as usize];
        match last {
            Some((known, digest)) if **known == *text => first(digest),
            _ => {
                let digest = whole(purpose, text);
                let bytes = first(&digest);
                *last = Some((text.into(), digest));
                bytes
            }
        }
    })
}

/// Returns the first bytes of a digest of `text`; digests for different purposes differ.
fn part<const N: usize>(purpose: DigestPurpose, text: &[u8]) -> [u8; N] {
    first(&whole(purpose, text))
}

fn whole(purpose: DigestPurpose, text: &[u8]) -> Digest {
    let purpose: &[u8] = match purpose {
        DigestPurpose::Profile => b"profile",
        DigestPurpose::Principal => b"principal",
        DigestPurpose::Rights => b"rights",
    };
    digest(&SHA256, &[purpose, b"\0", text].concat())
}

fn first<const N: usize>(digest: &Digest) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(&digest.as_ref()[..N]);
    bytes
}

impl SessionClaims {
    /// Creates the claims for a new session.
    pub(crate) fn new(
        key: SessionKey,
        issued: u64,
        (era, askable): (&'static Era, Askable),
        (identity, profile, snapshot): (&Identity, usize, &Snapshot),
    ) -> Self {
        Self { key, issued, era, askable, owner: OwnerDigests::of(identity, profile, snapshot) }
    }

    /// Returns true if a caller with the rights of `identity` opened the session at this profile.
    pub(crate) fn is_of(&self, identity: &Identity, profile: usize, snapshot: &Snapshot) -> bool {
        self.owner == OwnerDigests::of(identity, profile, snapshot)
    }

    /// Returns the claims as bytes.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let OwnerDigests { profile, principal, rights } = &self.owner;
        // No flag is defined yet, and there is only one replica.
        let (flags, replica) = ([0], [0, 0]);
        let era = era::number(self.era).unwrap_or(u8::MAX);
        [
            &self.key[..],
            &self.issued.to_be_bytes()[3..],
            &[era, self.askable.bits()],
            &flags,
            profile,
            &replica,
            principal,
            rights,
        ]
        .concat()
    }

    /// Reads the facts; returns `None` for bytes in any other form.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; LENGTH] = bytes.try_into().ok()?;
        let mut rest = &bytes[..];
        let mut issued = [0; 8];
        let key = *rest.split_off(..16)?.first_chunk()?;
        issued[3..].copy_from_slice(rest.split_off(..5)?);
        let [era, askable, _flags] = *rest.split_off(..3)?.first_chunk()?;
        let profile = *rest.split_off(..8)?.first_chunk()?;
        let _replica = rest.split_off(..2)?;
        let principal = *rest.split_off(..16)?.first_chunk()?;
        let rights = *rest.first_chunk()?;
        Some(Self {
            key,
            issued: u64::from_be_bytes(issued),
            era: era::by_number(era)?,
            askable: Askable::from_bits(askable),
            owner: OwnerDigests { profile, principal, rights },
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use config::{Lookup, load};
    use engine::access::{Principal, Scheme};
    use engine::passed_headers::PassedHeaders;
    use proptest::prelude::*;
    use proto::era::ERAS;

    use super::*;

    fn snapshot(rest: &str) -> Snapshot {
        let nothing = Lookup { env: &|_| None, file: &|_| Err("no files".to_owned()) };
        let text =
            format!("mcpServers: {{ a: {{ native: demo }} }}\nprofiles: {{ p: {{ servers: [a] }} }}\n{rest}");
        Snapshot::compile(&load(&text, "test", &nothing).unwrap().config, "0")
    }

    fn known(id: &str) -> Identity {
        Identity::of(Arc::new(Principal::new(id, Scheme::Key)), None)
    }

    fn claims(key: [u8; 16], issued: u64, era: usize, bits: u8) -> SessionClaims {
        let kind = (ERAS[era], Askable::from_bits(bits));
        SessionClaims::new(key, issued, kind, (&known("key:ann"), 0, &snapshot("")))
    }

    #[test]
    fn a_session_is_its_owners_at_its_profile_with_its_rights() {
        let (plain, claims) = (snapshot(""), claims([7; 16], 9, 5, 3));
        assert_eq!(claims.bytes().len(), LENGTH);
        assert!(claims.is_of(&known("key:ann"), 0, &plain));
        assert!(!claims.is_of(&known("key:ben"), 0, &plain));
        assert!(!claims.is_of(&known("key:ann"), 1, &plain));
        let headers =
            http::HeaderMap::from_iter([(http::HeaderName::from_static("x-team"), "a".parse().unwrap())]);
        let passed = PassedHeaders::read(&headers, &[http::HeaderName::from_static("x-team")]);
        let passing = Identity { passed, ..known("key:ann") };
        assert!(!claims.is_of(&passing, 0, &plain), "it passes on other headers");
        let ruled = snapshot("access: [ { deny: a__echo, who: { key: ann } } ]\n");
        assert!(!claims.is_of(&known("key:ann"), 0, &ruled), "it has other rights");
        let other = snapshot("access: [ { deny: a__echo, who: { key: ben } } ]\n");
        assert!(claims.is_of(&known("key:ann"), 0, &other), "the rule is about somebody else");
    }

    proptest! {
        #[test]
        fn any_facts_are_read_back(key: [u8; 16], issued in 0_u64..1 << 40, era in 0..ERAS.len(), bits in 0_u8..32) {
            let claims = claims(key, issued, era, bits);
            prop_assert_eq!(SessionClaims::parse(&claims.bytes()), Some(claims));
        }

        #[test]
        fn no_bytes_are_too_odd_to_be_read(bytes in prop::collection::vec(any::<u8>(), 0..70)) {
            if let Some(claims) = SessionClaims::parse(&bytes) {
                prop_assert_eq!(bytes.len(), LENGTH);
                prop_assert_eq!(SessionClaims::parse(&claims.bytes()), Some(claims));
            }
        }
    }
}
