//! What outlives the process: tokens and registrations, in the vault of the state folder. Without a folder it is kept as
//! long as the process lives. It must not know what is done with them.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;
use secrecy::ExposeSecret as _;
use secrecy::SecretString;
use serde::Serialize;
use serde::de::DeserializeOwned;
use store::vault::Vault;

/// The vault, opened when it is needed.
#[derive(Clone)]
pub(super) struct Kept(Arc<Place>);

struct Place {
    folder: Option<PathBuf>,
    vault: Mutex<Option<Vault>>,
    /// Where there is no folder.
    here: Mutex<HashMap<String, SecretString>>,
}

impl Kept {
    pub(super) fn new(folder: Option<PathBuf>) -> Self {
        Self(Arc::new(Place { folder, vault: Mutex::default(), here: Mutex::default() }))
    }

    /// What is kept under a name; `None` where that is nothing, or cannot be read.
    pub(super) async fn get<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let (place, own) = (self.0.clone(), name.to_owned());
        let text = blocking(move || place.get(&own)).await?;
        serde_json::from_str(text.expose_secret()).ok()
    }

    /// Keeps something under a name.
    pub(super) async fn put<T: Serialize>(&self, name: &str, what: &T) {
        let Ok(text) = serde_json::to_string(what) else { return };
        let (place, name, text) = (self.0.clone(), name.to_owned(), SecretString::from(text));
        blocking(move || place.put(&name, text)).await;
    }

    /// Forgets what is kept under a name.
    pub(super) async fn remove(&self, name: &str) {
        let (place, name) = (self.0.clone(), name.to_owned());
        blocking(move || place.remove(&name)).await;
    }
}

/// Does something that may wait for a disk; what went wrong is in the log, since those who consent can mend nothing.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<Option<T>, String> + Send + 'static,
) -> Option<T> {
    let done = tokio::task::spawn_blocking(work).await;
    match done.map_err(|error| error.to_string()).and_then(|done| done) {
        Ok(done) => done,
        Err(why) => {
            tracing::error!("consents cannot be kept: {why}");
            None
        }
    }
}

fn random<const N: usize>() -> Result<[u8; N], String> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| "the operating system gives no random numbers".to_owned())?;
    Ok(bytes)
}

impl Place {
    fn get(&self, name: &str) -> Result<Option<SecretString>, String> {
        let Some(folder) = &self.folder else { return Ok(self.here.lock().get(name).cloned()) };
        let mut vault = self.vault.lock();
        if vault.is_none() {
            *vault = Vault::open_existing(folder, &random()?).map_err(|e| format!("{e}; {}", e.mend()))?;
        }
        let Some(vault) = &*vault else { return Ok(None) };
        vault.get(name).map_err(|e| format!("{e}; {}", e.mend()))
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
        let mut open = opened.map_err(|e| format!("{e}; {}", e.mend()))?;
        let put = open.put(name, &text, random()?).map_err(|e| format!("{e}; {}", e.mend()));
        *vault = Some(open);
        put.map(Some)
    }

    fn remove(&self, name: &str) -> Result<Option<()>, String> {
        self.here.lock().remove(name);
        let Some(folder) = &self.folder else { return Ok(None) };
        let mut vault = self.vault.lock();
        if vault.is_none() {
            *vault = Vault::open_existing(folder, &random()?).map_err(|e| format!("{e}; {}", e.mend()))?;
        }
        let Some(vault) = &mut *vault else { return Ok(None) };
        vault.remove(name).map(|_| None).map_err(|e| format!("{e}; {}", e.mend()))
    }
}
