//! API keys: looks up keys, and creates their principals. This module must not know headers or files.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use engine::access::{Principal, Scheme};
use parking_lot::Mutex;
use store::keys::{ApiKey, KeyState, KeyText, LastUses};

use super::Moment;
use super::denied::CredentialDenial;
use super::turns::Turns;

/// The maximum number of look-ups that run at the same time, and of look-ups that wait.
const AT_ONCE: usize = 2;
const IN_LINE: usize = 256;
/// The time after which a client may retry if the file is busy.
const RETRY: Duration = Duration::from_secs(5);
/// The minimum interval between two writes of the times of last use.
const WRITE_USES: Duration = Duration::from_secs(30);

/// A store of API keys. Its methods may block, and are called only where blocking is allowed.
pub(crate) trait KeyBook: Send + Sync {
    /// Looks up the key with this text, even if it has expired or was revoked, and notes its use at `now_ms`
    /// (milliseconds since 1970).
    ///
    /// # Errors
    /// Returns a description of the store's problem, for the operator.
    fn look_up(&self, text: &KeyText, now_ms: u64) -> Result<Option<ApiKey>, String>;

    /// Returns the prefixes of all revoked keys, if any key has changed since the last call.
    ///
    /// # Errors
    /// Fails in the same cases as `look_up`.
    fn revoked(&self) -> Result<Option<Vec<String>>, String>;
}

/// The keys in the store. Dropping this value writes the times of last use once more.
pub(crate) struct StoredKeys(Arc<Stored>);

struct Stored {
    keys: Mutex<store::keys::Keys>,
    uses: LastUses,
    written: Mutex<Instant>,
    /// The file's change counter at the last look-up of revoked keys.
    seen: Mutex<Option<i64>>,
}

impl StoredKeys {
    /// Creates the store of the keys in an open file.
    pub(crate) fn new(keys: store::keys::Keys) -> Self {
        Self(Arc::new(Stored {
            keys: Mutex::new(keys),
            uses: LastUses::default(),
            written: Mutex::new(Instant::now()),
            seen: Mutex::default(),
        }))
    }
}

impl Stored {
    fn write_uses(&self) {
        if let Err(error) = self.keys.lock().touch(&self.uses.take()) {
            tracing::warn!(%error, "cannot record the last use of API keys");
        }
    }
}

impl KeyBook for StoredKeys {
    fn look_up(&self, text: &KeyText, now_ms: u64) -> Result<Option<ApiKey>, String> {
        let Self(stored) = self;
        let found = stored.keys.lock().find(&text.digest()).map_err(|error| error.to_string())?;
        if let Some(key) = found.as_ref().filter(|key| key.state(now_ms) == KeyState::Active) {
            stored.uses.note(key.id, now_ms);
            let due = {
                let mut written = stored.written.lock();
                let due = written.elapsed() >= WRITE_USES;
                if due {
                    *written = Instant::now();
                }
                due
            };
            if due {
                stored.write_uses();
            }
        }
        Ok(found)
    }

    fn revoked(&self) -> Result<Option<Vec<String>>, String> {
        let stored = &*self.0;
        let keys = stored.keys.lock();
        let changes = keys.changes().map_err(|error| error.to_string())?;
        if *stored.seen.lock() == Some(changes) {
            return Ok(None);
        }
        let all = keys.list().map_err(|error| error.to_string())?;
        *stored.seen.lock() = Some(changes);
        Ok(Some(all.into_iter().filter(|key| key.revoked_ms.is_some()).map(|key| key.prefix).collect()))
    }
}

impl Drop for StoredKeys {
    fn drop(&mut self) {
        // The thread that drops this value may not be allowed to wait for a disk. Without a runtime, the write happens
        // here.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let stored = self.0.clone();
            runtime.spawn_blocking(move || drop(stored));
        }
    }
}

impl Drop for Stored {
    fn drop(&mut self) {
        self.write_uses();
    }
}

/// API keys as a method of authentication.
pub(super) struct Keys {
    book: Arc<dyn KeyBook>,
    turns: Turns,
    /// The principals whose keys were revoked.
    revoked: ArcSwap<HashSet<Box<str>>>,
}

impl Keys {
    pub(super) fn new(book: Arc<dyn KeyBook>) -> Self {
        Self { book, turns: Turns::new(AT_ONCE, IN_LINE), revoked: ArcSwap::default() }
    }

    /// Looks up revoked keys; returns true if the set of revoked keys has changed.
    pub(super) async fn look_again(&self) -> bool {
        let book = Arc::clone(&self.book);
        let Ok(turn) = self.turns.take(None).await else { return false };
        match self.turns.run(turn, move || book.revoked()).await {
            Ok(Ok(Some(prefixes))) => {
                let ids: HashSet<Box<str>> = prefixes.iter().map(|prefix| name(prefix).into()).collect();
                let others = **self.revoked.load() != ids;
                if others {
                    self.revoked.store(Arc::new(ids));
                }
                others
            }
            Ok(Ok(None)) | Err(_) => false,
            Ok(Err(error)) => {
                tracing::error!(error, "cannot look up which API keys were revoked");
                false
            }
        }
    }

    /// Returns true if the key of this principal was revoked, as of the last look-up.
    pub(super) fn is_revoked(&self, principal: &Principal) -> bool {
        let revoked = self.revoked.load();
        !revoked.is_empty() && principal.scheme == Scheme::Key && revoked.contains(&*principal.id)
    }

    /// Returns the principal of this key.
    pub(super) async fn check(&self, text: &str, now: Moment) -> Result<Arc<Principal>, CredentialDenial> {
        let text = KeyText::parse(text)
            .map_err(|_| CredentialDenial::Bad("not a valid API key: it is mistyped or truncated"))?;
        let (book, now_ms) = (Arc::clone(&self.book), now.unix_ms);
        let turn = self.turns.take(None).await?;
        let found = self.turns.run(turn, move || book.look_up(&text, now_ms)).await?;
        let found = found.map_err(|error| {
            tracing::error!(error, "cannot look up API keys");
            CredentialDenial::Unavailable("API keys cannot be looked up at the moment".to_owned(), RETRY)
        })?;
        let key = found.ok_or(CredentialDenial::Bad("unknown API key"))?;
        match key.state(now.unix_ms) {
            KeyState::Revoked => Err(CredentialDenial::Bad("this API key was revoked")),
            KeyState::Expired => Err(CredentialDenial::Bad("this API key has expired")),
            KeyState::Active => Ok(principal(&key)),
        }
    }
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keys")
    }
}

fn principal(key: &ApiKey) -> Arc<Principal> {
    let profiles = key.profiles.as_ref();
    Arc::new(Principal {
        user: Some(key.name.as_str().into()),
        profiles: profiles.map(|names| names.iter().map(|name| name.as_str().into()).collect()),
        until_ms: key.expires_ms,
        ..Principal::new(&name(&key.prefix), Scheme::Key)
    })
}

/// Returns the id of the principal of the key with this prefix.
fn name(prefix: &str) -> String {
    format!("key:{prefix}")
}
