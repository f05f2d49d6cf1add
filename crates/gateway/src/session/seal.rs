//! Seals states that pass through clients, under the keys of a ring that may be replaced at any time. This module must
//! not know where the ring comes from.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::ArcSwap;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use store::keyring::{Purpose, PurposeKeys, Ring, RingKeyId, Role};

/// The error if the operating system's random number generator fails.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the operating system's random number generator failed")]
pub(crate) struct NoRandomness;

/// Fills `bytes` with random bytes from the operating system. The generator of aws-lc would first gather entropy
/// for tens of milliseconds, most of the startup time.
pub(crate) fn fill(bytes: &mut [u8]) -> Result<(), NoRandomness> {
    getrandom::fill(bytes).map_err(|_| NoRandomness)
}

type Nonce = [u8; 12];

/// Random nonces that no text has been sealed with. Nonces are no secrets, so they can wait in memory: asking the operating system
/// for each of them would take as long as a part of the sealing itself.
struct NonceBatch {
    nonces: [Nonce; 64],
    left: usize,
}

thread_local! {
    static NONCES: RefCell<NonceBatch> = const { RefCell::new(NonceBatch { nonces: [[0; 12]; 64], left: 0 }) };
}

impl NonceBatch {
    /// Takes a nonce; each is used once.
    fn next(&mut self) -> Result<Nonce, NoRandomness> {
        if self.left == 0 {
            fill(self.nonces.as_flattened_mut())?;
            self.left = self.nonces.len();
        }
        self.left -= 1;
        Ok(self.nonces[self.left])
    }
}

/// The maximum length of a text that can be a session's id, in bytes.
const LONGEST_ID: usize = 128;

/// The gateway's keys, each for its purpose.
pub(crate) struct Seal {
    keys: ArcSwap<RingKeys>,
    /// The number of texts sealed under the current sealing key.
    seals: AtomicU64,
}

/// The keys of one ring at one point in time.
struct RingKeys {
    sessions: PurposeKeys,
    states: PurposeKeys,
    tasks: PurposeKeys,
    shared: PurposeKeys,
    sealing: Option<RingKeyId>,
}

impl RingKeys {
    fn new(ring: &Ring, now_ms: u64) -> Self {
        Self {
            sessions: ring.keys_for(Purpose::Session, now_ms),
            states: ring.keys_for(Purpose::State, now_ms),
            tasks: ring.keys_for(Purpose::Task, now_ms),
            shared: ring.keys_for(Purpose::Shared, now_ms),
            sealing: ring.sealing_id(Role::Seals, now_ms),
        }
    }
}

impl Seal {
    /// Creates a seal that uses the keys of a ring.
    pub(crate) fn new(ring: &Ring, now_ms: u64) -> Self {
        Self { keys: ArcSwap::from_pointee(RingKeys::new(ring, now_ms)), seals: AtomicU64::new(0) }
    }

    /// Uses the keys of this ring from now on.
    pub(crate) fn take(&self, ring: &Ring, now_ms: u64) {
        let before = self.keys.swap(RingKeys::new(ring, now_ms).into());
        if before.sealing != ring.sealing_id(Role::Seals, now_ms) {
            self.seals.store(0, Ordering::Relaxed);
        }
    }

    /// Returns the number of texts that were sealed under the current key.
    pub(crate) fn seals(&self) -> u64 {
        self.seals.load(Ordering::Relaxed)
    }

    /// Seals `plain`; [`Seal::open`] requires the same `bound`.
    pub(crate) fn seal(&self, plain: &[u8], bound: &[u8]) -> String {
        // Nothing can be sealed without randomness. The result is then an empty text, which cannot be opened, so the
        // client has to start again.
        let sealed = self.nonce().ok().and_then(|nonce| self.keys.load().states.seal(plain, bound, nonce));
        written(sealed)
    }

    /// Seals the facts of a session as its id.
    ///
    /// # Errors
    /// Fails if the operating system's random number generator fails.
    pub(crate) fn seal_session(&self, facts: &[u8]) -> Result<String, NoRandomness> {
        let nonce = self.nonce()?;
        Ok(written(self.keys.load().sessions.seal(facts, b"", nonce)))
    }

    /// Opens the id of a session; returns `None` for any other text.
    pub(crate) fn open_session(&self, id: &str) -> Option<Vec<u8>> {
        if id.len() > LONGEST_ID {
            return None;
        }
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(id).ok()?;
        self.keys.load().sessions.open(&bytes, b"")
    }

    fn nonce(&self) -> Result<Nonce, NoRandomness> {
        let nonce = NONCES.with_borrow_mut(NonceBatch::next)?;
        self.seals.fetch_add(1, Ordering::Relaxed);
        Ok(nonce)
    }

    /// Seals `plain` like [`Seal::seal`], but always returns the same text for the same `plain`.
    pub(crate) fn seal_name(&self, plain: &[u8], bound: &[u8]) -> String {
        written(self.keys.load().tasks.seal_name(plain, bound))
    }

    /// Opens a text that was sealed with the same `bound`; returns `None` for anything else.
    pub(crate) fn open(&self, sealed: &str, bound: &[u8]) -> Option<Vec<u8>> {
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(sealed).ok()?;
        let keys = self.keys.load();
        // Each text contains the id of its key, so at most one of the two can open it.
        keys.states.open(&bytes, bound).or_else(|| keys.tasks.open(&bytes, bound))
    }
}

/// Separates marks of servers from other sealed names.
const MARK: &[u8] = b"mark of a server";

impl upstream::ServerMarks for Seal {
    fn mark(&self, server: &str) -> Box<str> {
        self.seal_name(server.as_bytes(), MARK).into_boxed_str()
    }

    fn is_of(&self, mark: &str, server: &str) -> bool {
        self.open(mark, MARK).is_some_and(|name| name == server.as_bytes())
    }
}

impl cluster::ValueSealer for Seal {
    fn seal(&self, plain: &[u8], context: &[u8]) -> Option<Vec<u8>> {
        let nonce = self.nonce().ok()?;
        self.keys.load().shared.seal(plain, context, nonce)
    }

    fn open(&self, sealed: &[u8], context: &[u8]) -> Option<Vec<u8>> {
        self.keys.load().shared.open(sealed, context)
    }

    fn digest(&self, name: &[u8], context: &[u8]) -> Option<cluster::NameDigest> {
        self.keys.load().tasks.digest(name, context)
    }

    fn generation(&self) -> String {
        format!("{:?}", self.keys.load().sealing)
    }
}

fn written(sealed: Option<Vec<u8>>) -> String {
    sealed.map(|bytes| BASE64_URL_SAFE_NO_PAD.encode(bytes)).unwrap_or_default()
}

/// Returns an unguessable text: 256 random bits in visible ASCII.
pub(crate) fn random_id() -> Result<String, NoRandomness> {
    let mut bytes = [0; 32];
    fill(&mut bytes)?;
    Ok(BASE64_URL_SAFE_NO_PAD.encode(bytes))
}

/// Returns an unguessable number.
///
/// # Errors
/// Fails if the operating system's random number generator fails.
pub(crate) fn random_number() -> Result<u64, NoRandomness> {
    let mut bytes = [0; 8];
    fill(&mut bytes)?;
    Ok(u64::from_ne_bytes(bytes))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Creates a seal with random keys that no other seal uses.
    pub(crate) fn random() -> Seal {
        Seal::new(&ring(0), 0)
    }

    fn ring(now_ms: u64) -> Ring {
        Ring::new(&[fresh(), fresh()], now_ms)
    }

    fn fresh() -> [u8; 36] {
        let mut fresh = [0; 36];
        fill(&mut fresh).unwrap();
        fresh
    }

    #[test]
    fn opens_only_what_it_sealed_for_the_same_thing() {
        let seal = random();
        let sealed = seal.seal(b"state", b"me");
        assert_eq!(seal.open(&sealed, b"me").as_deref(), Some(b"state".as_slice()));
        assert_eq!(seal.open(&sealed, b"you"), None);
        assert_eq!(random().open(&sealed, b"me"), None);
        for at in 0..sealed.len() {
            let mut altered = sealed.clone().into_bytes();
            altered[at] = if altered[at] == b'A' { b'B' } else { b'A' };
            assert_eq!(seal.open(std::str::from_utf8(&altered).unwrap(), b"me"), None, "byte {at}");
        }
        assert_eq!(seal.open("", b"me"), None);
    }

    #[test]
    fn a_name_is_always_the_same_for_one_and_never_for_another() {
        let seal = random();
        let name = seal.seal_name(b"task", b"me");
        assert_eq!(seal.seal_name(b"task", b"me"), name);
        assert_eq!(seal.open(&name, b"me").as_deref(), Some(b"task".as_slice()));
        assert_eq!(seal.open(&name, b"you"), None);
        let others =
            [seal.seal_name(b"task", b"m"), seal.seal_name(b"etask", b"m"), seal.seal_name(b"", b"metask")];
        let nonce = |text: &str| BASE64_URL_SAFE_NO_PAD.decode(text).unwrap()[5..17].to_vec();
        assert!(others.iter().all(|other| nonce(other) != nonce(&name)), "each has a nonce of its own");
        assert_ne!(random().seal_name(b"task", b"me"), name);
    }

    #[test]
    fn a_rotation_keeps_names_and_opens_what_was_sealed_before() {
        let mut ring = ring(0);
        let seal = Seal::new(&ring, 10_000);
        let (before, name) = (seal.seal(b"state", b"me"), seal.seal_name(b"task", b"me"));
        ring.rotate(Role::Seals, &fresh(), 10_000);
        seal.take(&ring, 10_000);
        assert_eq!(seal.seals(), 1, "the new key waits for other processes");
        seal.take(&ring, 20_000);
        assert_eq!(seal.seals(), 0);
        let after = seal.seal(b"state", b"me");
        let key = |text: &str| BASE64_URL_SAFE_NO_PAD.decode(text).unwrap()[1..5].to_vec();
        assert_ne!(key(&before), key(&after));
        assert_eq!(seal.seal_name(b"task", b"me"), name);
        for text in [&before, &after] {
            assert_eq!(seal.open(text, b"me").as_deref(), Some(b"state".as_slice()));
        }
        assert!(ring.prune(10_000_000, 1_000));
        seal.take(&ring, 10_000_000);
        assert_eq!(seal.open(&before, b"me"), None);
        assert!(seal.open(&after, b"me").is_some() && seal.open(&name, b"me").is_some());
    }

    #[test]
    fn no_nonce_is_used_twice() {
        let seal = random();
        let nonces = || (0..1000).map(|_| seal.nonce().unwrap()).collect::<Vec<_>>();
        let all: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(nonces)).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        let distinct: std::collections::HashSet<_> = all.iter().collect();
        assert_eq!((distinct.len(), all.len()), (4000, 4000));
        assert!(!distinct.contains(&[0; 12]));
    }

    #[test]
    fn ids_differ_and_are_visible_ascii() {
        let (a, b) = (random_id().unwrap(), random_id().unwrap());
        assert_ne!(a, b);
        assert!(a.len() == 43 && a.bytes().all(|b| b.is_ascii_graphic()));
    }
}
