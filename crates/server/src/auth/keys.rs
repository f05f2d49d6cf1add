//! API keys: who may look one up, and what its holder becomes. It must not know headers or files.

use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::access::{Principal, Scheme};
use parking_lot::Mutex;
use store::keys::{Key, KeyState, KeyText, LastUses};

use super::Moment;
use super::denied::Refused;
use super::turns::Turns;

/// Keys that are looked up at a time, and that wait for that.
const AT_ONCE: usize = 2;
const IN_LINE: usize = 256;
/// When who finds the file busy may try again.
const RETRY: Duration = Duration::from_secs(5);
/// Uses are written this often at most.
const WRITE_USES: Duration = Duration::from_secs(30);

/// Who knows keys. Called where blocking is allowed.
pub(crate) trait KeyBook: Send + Sync {
    /// The key with this text, whatever its state; that it is used at `now_ms` (milliseconds since 1970) is noted.
    ///
    /// # Errors
    /// Says what is wrong with the book, for its owner.
    fn look_up(&self, text: &KeyText, now_ms: u64) -> Result<Option<Key>, String>;
}

/// The keys of the store.
pub(crate) struct StoredKeys {
    keys: Mutex<store::keys::Keys>,
    uses: LastUses,
    written: Mutex<Instant>,
}

impl StoredKeys {
    /// The keys of an open file.
    pub(crate) fn new(keys: store::keys::Keys) -> Self {
        Self { keys: Mutex::new(keys), uses: LastUses::default(), written: Mutex::new(Instant::now()) }
    }

    fn write_uses(&self) {
        if let Err(error) = self.keys.lock().touch(&self.uses.take()) {
            tracing::warn!(%error, "cannot write when API keys were last used");
        }
    }
}

impl KeyBook for StoredKeys {
    fn look_up(&self, text: &KeyText, now_ms: u64) -> Result<Option<Key>, String> {
        let found = self.keys.lock().find(&text.digest()).map_err(|error| error.to_string())?;
        if let Some(key) = found.as_ref().filter(|key| key.state(now_ms) == KeyState::Active) {
            self.uses.note(key.id, now_ms);
            let due = {
                let mut written = self.written.lock();
                let due = written.elapsed() >= WRITE_USES;
                if due {
                    *written = Instant::now();
                }
                due
            };
            if due {
                self.write_uses();
            }
        }
        Ok(found)
    }
}

impl Drop for StoredKeys {
    fn drop(&mut self) {
        self.write_uses();
    }
}

/// Keys as one way to come in.
pub(super) struct Keys {
    book: Arc<dyn KeyBook>,
    turns: Turns,
}

impl Keys {
    pub(super) fn new(book: Arc<dyn KeyBook>) -> Self {
        Self { book, turns: Turns::new(AT_ONCE, IN_LINE) }
    }

    /// Whose key this is, and for how long that holds, in milliseconds since 1970.
    pub(super) async fn check(
        &self,
        text: &str,
        now: Moment,
    ) -> Result<(Arc<Principal>, Option<u64>), Refused> {
        let text = KeyText::parse(text)
            .map_err(|_| Refused::Bad("it is no API key of this kind: mistyped, or cut"))?;
        let (book, now_ms) = (Arc::clone(&self.book), now.unix_ms);
        let turn = self.turns.take().await?;
        let found = self.turns.run(turn, move || book.look_up(&text, now_ms)).await?;
        let found = found.map_err(|error| {
            tracing::error!(error, "cannot look API keys up");
            Refused::Unavailable("API keys cannot be looked up at the moment".to_owned(), RETRY)
        })?;
        let key = found.ok_or(Refused::Bad("this API key is not known here"))?;
        match key.state(now.unix_ms) {
            KeyState::Revoked => Err(Refused::Bad("this API key was revoked")),
            KeyState::Expired => Err(Refused::Bad("this API key has expired")),
            KeyState::Active => Ok((principal(&key), key.expires_ms)),
        }
    }
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keys")
    }
}

fn principal(key: &Key) -> Arc<Principal> {
    let profiles = key.profiles.as_ref();
    Arc::new(Principal {
        user: Some(key.name.as_str().into()),
        profiles: profiles.map(|names| names.iter().map(|name| name.as_str().into()).collect()),
        ..Principal::new(&format!("key:{}", key.prefix), Scheme::Key)
    })
}
