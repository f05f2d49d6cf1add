//! The gateway's key ring: opened at startup, checked every second, and rotated when a rotation is due. This module
//! must not know what is sealed.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use store::keyring::{FreshKey, Ring, RingFile, Role};
use upstream::NO_RANDOM;

use crate::session::seal::{Seal, fill};

/// The number of sealed texts after which a key is replaced. Nonces are random, and no nonce may occur twice under
/// one key.
const MOST_SEALS: u64 = 1 << 31;

/// The minimum time between two attempts to renew the ring, in milliseconds.
const AGAIN_MS: u64 = 60 * 60 * 1000;

/// The ring, and the keys in it that the gateway uses.
pub(crate) struct KeyRing {
    /// The keys that seal and open texts.
    pub(crate) seal: Arc<Seal>,
    kept: Mutex<Duration>,
    state: Mutex<RingState>,
}

struct RingState {
    ring: Ring,
    /// The file of the ring; `None` if the ring exists only in memory.
    file: Option<RingFile>,
    /// The time before which no rotation is attempted, in milliseconds since 1970.
    not_before_ms: u64,
    /// True until the most recently added key is used for sealing.
    is_new: bool,
}

impl KeyRing {
    /// Opens the ring: the file `named` in the configuration, or else the file in the state folder. If there is no
    /// usable file, the ring exists only in memory, and this is logged. For the time `kept`, replaced keys can still
    /// open the texts that they sealed.
    ///
    /// # Errors
    /// Fails if the file that the configuration names cannot be used, or if the random number generator fails.
    pub(crate) fn open(named: Option<&Path>, folder: Option<&Path>, kept: Duration) -> Result<Self, String> {
        let (fresh, now) = ([random_key()?, random_key()?], now_ms());
        let in_folder = || folder.map(RingFile::path_in);
        let path = named.map(PathBuf::from).or_else(in_folder);
        let opened = path.map(|path| RingFile::open(&path, &fresh, now));
        let (file, ring) = match opened {
            Some(Ok((file, ring))) => (Some(file), ring),
            Some(Err(e)) if named.is_some() => return Err(format!("keyRing: {e}; {}", e.help())),
            Some(Err(e)) => {
                tracing::warn!(
                    help = e.help(),
                    "keys are kept in memory, so the sealed data of clients becomes invalid after a restart: {e}"
                );
                (None, Ring::new(&fresh, now))
            }
            None => {
                tracing::info!(
                    "keys are kept in memory, because there is no state folder: the sealed data of clients becomes invalid after \
                     a restart"
                );
                (None, Ring::new(&fresh, now))
            }
        };
        let seal = Arc::new(Seal::new(&ring, now));
        let state = Mutex::new(RingState { ring, file, not_before_ms: 0, is_new: false });
        Ok(Self { seal, kept: Mutex::new(kept), state })
    }

    /// Changes the time for which replaced keys can still open the texts that they sealed.
    pub(crate) fn keep_for(&self, kept: Duration) {
        *self.kept.lock() = kept;
    }

    /// Reads the file again if it has changed, and rotates the ring if a rotation is due. This blocks.
    pub(crate) fn look(&self) {
        self.look_at(now_ms());
    }

    fn look_at(&self, now: u64) {
        let state = &mut *self.state.lock();
        if let Some(file) = &mut state.file {
            match file.look() {
                Ok(Some(ring)) => {
                    tracing::info!(keys = ring.keys().len(), "reloaded the key ring");
                    (state.ring, state.is_new) = (ring, true);
                }
                Ok(None) => {}
                Err(e) => tracing::warn!(
                    help = e.help(),
                    "the key ring cannot be reloaded; its keys stay in use until the process ends: {e}"
                ),
            }
        }
        let is_due = state.ring.is_due(now) || self.seal.seals() >= MOST_SEALS;
        let mut pruned = state.ring.clone();
        if now >= state.not_before_ms && (is_due || pruned.prune(now, self.kept_ms())) {
            state.not_before_ms = now + AGAIN_MS;
            self.renew(state, now, is_due);
        }
        if state.is_new {
            self.seal.take(&state.ring, now);
            state.is_new = Role::ALL.iter().any(|role| state.ring.has_waiting(*role, now));
        }
    }

    fn kept_ms(&self) -> u64 {
        u64::try_from(self.kept.lock().as_millis()).unwrap_or(u64::MAX)
    }

    /// Rotates the ring if `is_due` is true, and removes old keys.
    fn renew(&self, state: &mut RingState, now: u64, is_due: bool) {
        let Ok(fresh) = random_key() else { return };
        let before = state.ring.sealing_id(Role::Seals, now);
        let renewed = |ring: &mut Ring| {
            // Another process may have rotated the ring already.
            let rotates =
                is_due && ring.sealing_id(Role::Seals, now) == before && !ring.has_waiting(Role::Seals, now);
            if rotates {
                ring.rotate(Role::Seals, &fresh, now);
            }
            ring.prune(now, self.kept_ms()) || rotates
        };
        let Some(file) = &mut state.file else {
            state.is_new |= renewed(&mut state.ring);
            return;
        };
        match file.change(renewed) {
            Ok(ring) => {
                tracing::info!(keys = ring.keys().len(), "renewed the key ring");
                (state.ring, state.is_new) = (ring, true);
            }
            Err(e) => tracing::warn!(
                help = e.help(),
                "the key ring is due for a new key, but cannot be written; its keys stay in use: {e}"
            ),
        }
    }
}

fn random_key() -> Result<FreshKey, String> {
    let mut fresh = [0; 36];
    fill(&mut fresh).map_err(|_| NO_RANDOM.to_owned())?;
    Ok(fresh)
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
