//! The storage of tokens and registrations that survives the end of the process: the vault of the state folder.
//! Without a state folder, the values are kept in memory. Changes that the vault cannot store are kept in memory
//! until it can. This module must not know what the stored values are used for.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use secrecy::ExposeSecret as _;
use secrecy::SecretString;
use serde::Serialize;
use serde::de::DeserializeOwned;
use store::vault::Vault;

/// The maximum number of changes that wait in memory until the vault can be written.
const MOST_UNSTORED: usize = 4096;

/// The vault, which is opened on first use.
#[derive(Clone)]
pub(super) struct TokenStore(Arc<TokenStoreState>);

struct TokenStoreState {
    folder: Option<PathBuf>,
    vault: Mutex<Option<Vault>>,
    /// Without a folder: all values. With a folder: the changes that could not be stored yet; `None` means that the
    /// value is removed.
    here: Mutex<HashMap<String, Option<SecretString>>>,
}

impl TokenStore {
    pub(super) fn new(folder: Option<PathBuf>) -> Self {
        Self(Arc::new(TokenStoreState { folder, vault: Mutex::default(), here: Mutex::default() }))
    }

    /// Returns the value with this name; `None` if there is no such value, or if it cannot be read.
    pub(super) async fn get<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let text = self.text(name).await?;
        serde_json::from_str(text.expose_secret()).ok()
    }

    /// Returns the text with this name; `None` if there is no such text, or if it cannot be read.
    pub(super) async fn text(&self, name: &str) -> Option<SecretString> {
        let (place, own) = (self.0.clone(), name.to_owned());
        blocking(move || place.get(&own)).await
    }

    /// Stores a text under a name.
    pub(super) async fn put_text(&self, name: &str, text: SecretString) {
        let (place, name) = (self.0.clone(), name.to_owned());
        blocking(move || place.put(&name, text)).await;
    }

    /// Stores a value under a name.
    pub(super) async fn put<T: Serialize>(&self, name: &str, what: &T) {
        let Ok(text) = serde_json::to_string(what) else { return };
        self.put_text(name, SecretString::from(text)).await;
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
        let Some(folder) = &self.folder else { return Ok(self.here.lock().get(name).cloned().flatten()) };
        let mut vault = self.vault.lock();
        let unstored = self.here.lock().get(name).cloned();
        if let Some(value) = unstored {
            if write(&mut vault, folder, name, value.as_ref()).is_ok() {
                self.here.lock().remove(name);
            }
            return Ok(value);
        }
        match existing(&mut vault, folder)? {
            Some(vault) => vault.get(name).map_err(|e| told(&e)),
            None => Ok(None),
        }
    }

    fn put(&self, name: &str, text: SecretString) -> Result<Option<()>, String> {
        self.change(name, Some(text)).map(Some)
    }

    fn remove(&self, name: &str) -> Result<Option<()>, String> {
        self.change(name, None).map(Some)
    }

    /// Stores or removes a value. If the vault cannot be written, the change is kept in memory. If a renewed token
    /// were lost, the consent would end; if a revocation were lost, the consent could be used again.
    fn change(&self, name: &str, value: Option<SecretString>) -> Result<(), String> {
        let Some(folder) = &self.folder else {
            let mut here = self.here.lock();
            if value.is_some() {
                here.insert(name.to_owned(), value)
            } else {
                here.remove(name)
            };
            return Ok(());
        };
        let mut vault = self.vault.lock();
        let written = write(&mut vault, folder, name, value.as_ref());
        let mut here = self.here.lock();
        match written {
            Ok(()) => {
                here.remove(name);
                Ok(())
            }
            Err(why) if here.len() < MOST_UNSTORED || here.contains_key(name) => {
                here.insert(name.to_owned(), value);
                Err(format!("{why}; until then, the change is in memory only"))
            }
            Err(why) => {
                Err(format!("{why}; this change is lost, because {MOST_UNSTORED} others are already waiting"))
            }
        }
    }
}

/// The vault of the folder, if there is one.
fn existing<'a>(vault: &'a mut Option<Vault>, folder: &Path) -> Result<Option<&'a mut Vault>, String> {
    if vault.is_none() {
        *vault = Vault::open_existing(folder, &random()?).map_err(|e| told(&e))?;
    }
    Ok(vault.as_mut())
}

/// Writes a value to the vault of the folder; if `value` is `None`, removes the stored value.
fn write(
    vault: &mut Option<Vault>,
    folder: &Path,
    name: &str,
    value: Option<&SecretString>,
) -> Result<(), String> {
    let Some(text) = value else {
        let Some(vault) = existing(vault, folder)? else { return Ok(()) };
        return vault.remove(name).map(drop).map_err(|e| told(&e));
    };
    if vault.is_none() {
        *vault = Some(Vault::open(folder, &random()?).map_err(|e| told(&e))?);
    }
    let Some(vault) = vault else { return Ok(()) };
    vault.put(name, text, random()?).map_err(|e| told(&e))
}

fn told(error: &store::Error) -> String {
    format!("{error}; {}", error.help())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A new folder for one test, which is removed at the end of the test.
    struct TokenFolder(PathBuf);

    impl TokenFolder {
        fn new(test: &str) -> Self {
            let path = std::env::temp_dir().join(format!("dragoman-tokens-{}-{test}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }
    }

    impl Drop for TokenFolder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn store(folder: &Path) -> TokenStoreState {
        TokenStoreState { folder: Some(folder.to_owned()), vault: Mutex::default(), here: Mutex::default() }
    }

    fn read(store: &TokenStoreState, name: &str) -> Option<String> {
        store.get(name).ok().flatten().map(|text| text.expose_secret().to_owned())
    }

    #[test]
    fn a_value_that_cannot_be_stored_waits_in_memory() {
        let folder = TokenFolder::new("waits");
        let file = folder.0.join("vault.db");
        fs::write(&file, "no database ".repeat(100)).unwrap();
        let first = store(&folder.0);
        assert!(first.put("consent", SecretString::from("new")).is_err());
        assert_eq!(read(&first, "consent").as_deref(), Some("new"));
        fs::remove_file(&file).unwrap();
        assert_eq!(read(&first, "consent").as_deref(), Some("new"));
        assert!(first.here.lock().is_empty(), "it was stored at the first opportunity");
        drop(first);
        assert_eq!(read(&store(&folder.0), "consent").as_deref(), Some("new"));
    }

    #[test]
    fn a_removed_value_is_not_used_even_if_the_vault_cannot_be_written() {
        let folder = TokenFolder::new("removed");
        let (file, aside) = (folder.0.join("vault.db"), folder.0.join("aside"));
        store(&folder.0).put("consent", SecretString::from("old")).unwrap();
        fs::rename(&file, &aside).unwrap();
        fs::write(&file, "no database ".repeat(100)).unwrap();
        let second = store(&folder.0);
        assert!(second.remove("consent").is_err());
        fs::rename(&aside, &file).unwrap();
        assert_eq!(read(&second, "consent"), None);
        drop(second);
        assert_eq!(read(&store(&folder.0), "consent"), None);
    }
}
