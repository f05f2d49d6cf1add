//! Catalogues of servers, stored in a file by a separate thread. This module must not know what is stored.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use parking_lot::{Condvar, Mutex};
use store::catalogues::{ServerDigest, StoredCatalogues};
use upstream::catalogue::CatalogueStore;

/// The minimum time between two writes; if several changes occur in between, only the last state is stored.
const PAUSE: Duration = Duration::from_secs(1);

/// The file, and the texts to be written to it: at most one for each configured server.
struct FileState {
    file: Mutex<StoredCatalogues>,
    waiting: Mutex<UnwrittenCatalogues>,
    changed: Condvar,
}

#[derive(Default)]
struct UnwrittenCatalogues {
    rows: HashMap<ServerDigest, String>,
    is_over: bool,
}

/// The catalogues in the file. [`KeptCatalogues::close`] writes all catalogues that are still waiting to be
/// written.
pub(crate) struct KeptCatalogues {
    state: Arc<FileState>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

impl KeptCatalogues {
    /// Opens the file in this folder. Without a folder, or if the file cannot be used, returns `None`, and catalogues
    /// are kept in memory only; an unusable file is logged.
    pub(crate) fn open(folder: Option<&Path>) -> Option<Arc<Self>> {
        let folder = folder?;
        let mut fresh = [0; 32];
        let opened = getrandom::fill(&mut fresh)
            .map_err(|e| e.to_string())
            .and_then(|()| StoredCatalogues::open(folder, &fresh).map_err(|e| e.to_string()));
        let (file, moved) = opened
            .inspect_err(|why| tracing::warn!("the servers' lists are not stored for the next start: {why}"))
            .ok()?;
        if let Some(aside) = moved {
            tracing::warn!(aside = %aside.display(), "the file of stored lists was damaged and has been moved; the lists are fetched again");
        }
        let (file, waiting) = (Mutex::new(file), Mutex::default());
        let state = Arc::new(FileState { file, waiting, changed: Condvar::new() });
        let its = state.clone();
        let writer =
            std::thread::Builder::new().name("catalogues".to_owned()).spawn(move || its.write()).ok()?;
        Some(Arc::new(Self { state, writer: Mutex::new(Some(writer)) }))
    }
}

impl KeptCatalogues {
    /// Writes all catalogues that are still waiting, and ends the writing thread. Later changes are not stored.
    pub(crate) fn close(&self) {
        self.state.waiting.lock().is_over = true;
        self.state.changed.notify_one();
        if let Some(writer) = self.writer.lock().take()
            && writer.join().is_err()
        {
            tracing::warn!(
                "the servers' lists were not stored for the next start: the thread that writes them failed"
            );
        }
    }
}

impl FileState {
    /// Writes waiting texts until the store is closed.
    fn write(&self) {
        loop {
            let (rows, is_over) = {
                let mut waiting = self.waiting.lock();
                while waiting.rows.is_empty() && !waiting.is_over {
                    self.changed.wait(&mut waiting);
                }
                (std::mem::take(&mut waiting.rows), waiting.is_over)
            };
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let now = i64::try_from(now.as_millis()).unwrap_or(i64::MAX);
            let texts = rows.iter().map(|(server, text)| (server, text.as_bytes()));
            if !rows.is_empty()
                && let Err(e) = self.file.lock().save(texts, now)
            {
                tracing::warn!("the servers' lists were not stored for the next start: {e}");
            }
            let mut waiting = self.waiting.lock();
            if is_over || waiting.is_over {
                if waiting.rows.is_empty() {
                    return;
                }
                continue;
            }
            // This wait ends early when the process ends.
            let _ = self.changed.wait_while_for(&mut waiting, |waiting| !waiting.is_over, PAUSE);
        }
    }
}

impl CatalogueStore for KeptCatalogues {
    fn digest(&self, server: &[u8]) -> ServerDigest {
        self.state.file.lock().digest(server)
    }

    fn load(&self, server: &ServerDigest) -> Option<Vec<u8>> {
        let loaded = self.state.file.lock().load(server);
        loaded
            .inspect_err(|e| tracing::warn!("the stored lists of a server cannot be read: {e}"))
            .ok()
            .flatten()
    }

    fn save(&self, server: &ServerDigest, text: String) {
        self.state.waiting.lock().rows.insert(*server, text);
        self.state.changed.notify_one();
    }
}
