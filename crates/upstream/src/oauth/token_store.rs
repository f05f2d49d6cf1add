//! The storage that outlives the process: tokens and registrations, in the vault of the state folder. Without a state
//! folder, they are kept in memory. This module must not know what the stored values are used for.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;
use secrecy::ExposeSecret as _;
use secrecy::SecretString;
use serde::Serialize;
use serde::de::DeserializeOwned;
use store::vault::Vault;

/// The vault, which is opened on first use.
#[derive(Clone)]
pub(super) struct TokenStore(Arc<TokenStoreState>);

struct TokenStoreState {
    folder: Option<PathBuf>,
    vault: Mutex<Option<Vault>>,
    /// The values that are kept in memory if there is no folder.
    here: Mutex<HashMap<String, SecretString>>,
}

impl TokenStore {
    pub(super) fn new(folder: Option<PathBuf>) -> Self {
        Self(Arc::new(TokenStoreState { folder, vault: Mutex::default(), here: Mutex::default() }))
    }

    /// Returns the value with this name; `None` if there is no such value, or if it cannot be read.
    pub(super) async fn get<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let (place, own) = (self.0.clone(), name.to_owned());
        let text = blocking(move || place.get(&own)).await?;
        serde_json::from_str(text.expose_secret()).ok()
    }

    /// Stores a value under a name.
    pub(super) async fn put<T: Serialize>(&self, name: &str, what: &T) {
        let Ok(text) = serde_json::to_string(what) else { return };
        let (place, name, text) = (self.0.clone(), name.to_owned(), SecretString::from(text));
        blocking(move || place.put(&name, text)).await;
    }

    /// Removes the value with this name.
    pub(super) async fn remove(&self, name: &str) {
        let (place, name) = (self.0.clone(), name.to_owned());
        blocking(move || place.remove(&name)).await;
    }
}

/// Runs work that may wait for a disk. Errors are logged, because the users who give consent cannot fix them.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<Option<T>, String> + Send + 'static,
) -> Option<T> {
    let done = transport::task::spawn_blocking(work).await;
    match done.map_err(|error| error.to_string()).and_then(|done| done) {
        Ok(done) => done,
        Err(why) => {
            tracing::error!("cannot store consents: {why}");
            None
        }
    }
}

fn random<const N: usize>() -> Result<[u8; N], String> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| {
        "the operating system's random number generator \
        failed"
            .to_owned()
    })?;
    Ok(bytes)
}

impl TokenStoreState {
    fn get(&self, name: &str) -> Result<Option<SecretString>, String> {
        let Some(folder) = &self.folder else { return Ok(self.here.lock().get(name).cloned()) };
        let mut vault = self.vault.lock();
        if vault.is_none() {
            *vault = Vault::open_existing(folder, &random()?).map_err(|e| format!("{e}; {}", e.help()))?;
        }
        let Some(vault) = &*vault else { return Ok(None) };
        vault.get(name).map_err(|e| format!("{e}; {}", e.help()))
    }

    fn put(&self, name: &str, text: SecretString) -> Result<Option<()>, String> {
        let Some(folder) = &self.folder else {
            self.here.lock().insert(name.to_owned(), text);
            return Ok(None);
        };
        let mut vault = self.vault.lock();
        let opened = match vault.take() {
            Some(open) => Ok(open),
            None => Vault::open(folder, &random()?),
        };
        let mut open = opened.map_err(|e| format!("{e}; {}", e.help()))?;
        let put = open.put(name, &text, random()?).map_err(|e| format!("{e}; {}", e.help()));
        *vault = Some(open);
        put.map(Some)
    }

    fn remove(&self, name: &str) -> Result<Option<()>, String> {
        self.here.lock().remove(name);
        let Some(folder) = &self.folder else { return Ok(None) };
        let mut vault = self.vault.lock();
        if vault.is_none() {
            *vault = Vault::open_existing(folder, &random()?).map_err(|e| format!("{e}; {}", e.help()))?;
        }
        let Some(vault) = &mut *vault else { return Ok(None) };
        vault.remove(name).map(|_| None).map_err(|e| format!("{e}; {}", e.help()))
    }
}
