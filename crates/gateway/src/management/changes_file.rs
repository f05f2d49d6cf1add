//! The file that stores changes to the configuration. This module must not know what a change means.

use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use store::changes::FreshBytes;

use crate::changes::{Changes, Refusal};

/// The file of stored changes.
#[derive(Clone)]
pub(crate) struct ChangesFile {
    folder: Arc<Path>,
    /// The open file; it is opened once there is something to store.
    file: Arc<Mutex<Option<store::changes::StoredChanges>>>,
}

impl ChangesFile {
    /// Opens the file in this folder; returns the changes that are stored in it.
    ///
    /// # Errors
    /// Returns the reason why the file cannot be used, and what to do about it.
    pub(crate) fn open(folder: &Path) -> Result<(Self, Changes), String> {
        let told = |e: store::Error| format!("{e}; {}", e.help());
        let file = store::changes::StoredChanges::open_existing(folder, &fresh_bytes()?).map_err(told)?;
        let text = match &file {
            Some(file) => file.text().map_err(told)?,
            None => None,
        };
        let changes = match text {
            Some(text) => Changes::parse(&text).map_err(|e| {
                format!(
                    "changes.db in {} contains unreadable changes ({e}); move the file to another folder",
                    folder.display()
                )
            })?,
            None => Changes::default(),
        };
        Ok((Self { folder: folder.into(), file: Arc::new(Mutex::new(file)) }, changes))
    }

    /// Stores changes, replacing earlier ones.
    pub(crate) async fn keep(&self, text: String) -> Result<(), Refusal> {
        let (file, folder) = (self.file.clone(), self.folder.clone());
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let now = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        let fresh = fresh_bytes().and_then(|fresh| Ok((fresh, random()?))).map_err(Refusal::internal)?;
        let kept = transport::task::spawn_blocking(move || {
            let (fresh, nonce) = fresh;
            let mut file = file.lock();
            let open = match file.take() {
                Some(open) => open,
                None => store::changes::StoredChanges::open(&folder, &fresh)?,
            };
            file.insert(open).keep(&text, now, nonce)
        });
        let kept = kept.await;
        match kept {
            Ok(Ok(())) => Ok(()),
            Ok(Err(e)) => Err(Refusal::internal(format!("cannot store the change: {e}; {}", e.help()))),
            Err(e) => Err(Refusal::internal(format!("cannot store the change: {e}"))),
        }
    }
}

fn fresh_bytes() -> Result<FreshBytes, String> {
    Ok(FreshBytes { key: random()?, nonce: random()? })
}

fn random<const N: usize>() -> Result<[u8; N], String> {
    let mut bytes = [0; N];
    let failed = "the operating system's random number generator failed";
    getrandom::fill(&mut bytes).map_err(|_| failed.to_owned())?;
    Ok(bytes)
}
