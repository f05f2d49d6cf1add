//! Sessions, stored in a file by a separate thread. This module must not know what a session is for.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::{Condvar, Mutex, MutexGuard};
use store::random_key::RandomKeyHash;
use store::sessions::{SessionEnd, SessionKey, SessionRow, StoredSessions};

use crate::session::kept::{RowSource, SessionStore, millis, now_ms};

/// The minimum time between two writes; if several changes occur in between, only the last state is stored.
const PAUSE: Duration = Duration::from_secs(1);

/// The maximum number of sessions that wait to be written. If more sessions change, the disk is too slow for the
/// clients, and the additional changes are not stored.
const MOST_WAITING: usize = 100_000;

/// The file, and the rows that wait to be written to it: at most one for each session.
struct SessionsFile {
    /// Empty until the file is open, and `None` if it cannot be used.
    file: OnceLock<Option<Mutex<StoredSessions>>>,
    kept: Mutex<Duration>,
    waiting: Mutex<UnwrittenSessions>,
    changed: Condvar,
}

#[derive(Default)]
struct UnwrittenSessions {
    rows: HashMap<SessionKey, UnwrittenSession, RandomKeyHash>,
    is_over: bool,
}

/// A session that has yet to be written.
enum UnwrittenSession {
    Open(Arc<dyn RowSource>),
    Ended(SessionEnd),
}

impl UnwrittenSession {
    /// Returns true if the file may contain the session as open. The file does not contain a session that is still
    /// waiting to be written for the first time.
    fn may_be_stored(&self) -> bool {
        match self {
            Self::Open(session) => session.is_stored(),
            Self::Ended(end) => end.was_stored,
        }
    }

    fn row(&self) -> SessionRow {
        match self {
            Self::Open(session) => session.row(),
            Self::Ended(end) => SessionRow::Ended(*end),
        }
    }
}

/// The sessions in the file. [`KeptSessions::close`] writes all sessions that are still waiting to be written.
pub(crate) struct KeptSessions {
    state: Arc<SessionsFile>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

impl KeptSessions {
    /// Uses the file in this folder, which the writing thread opens; the file's rows are kept for the time `kept` after
    /// their last use. Without a folder, returns `None`, and nothing is stored. If the file cannot be used, nothing is
    /// stored either, and this is logged.
    pub(crate) fn open(folder: Option<&Path>, kept: Duration) -> Option<Arc<Self>> {
        let folder = folder?.to_owned();
        let (kept, waiting) = (Mutex::new(kept), Mutex::default());
        let state = Arc::new(SessionsFile { file: OnceLock::new(), kept, waiting, changed: Condvar::new() });
        let its = state.clone();
        let work = move || {
            its.file.get_or_init(|| opened(&folder).map(Mutex::new));
            its.write();
        };
        let writer = std::thread::Builder::new().name("sessions".to_owned()).spawn(work).ok()?;
        Some(Arc::new(Self { state, writer: Mutex::new(Some(writer)) }))
    }

    /// Changes the time for which rows are kept after their last use.
    pub(crate) fn keep_for(&self, kept: Duration) {
        *self.state.kept.lock() = kept;
    }

    /// Writes all sessions that are still waiting, and ends the writing thread. Later changes are not stored.
    pub(crate) fn close(&self) {
        self.state.waiting.lock().is_over = true;
        self.state.changed.notify_one();
        if let Some(writer) = self.writer.lock().take()
            && writer.join().is_err()
        {
            tracing::warn!("sessions were not stored: the thread that writes them failed");
        }
    }
}

/// Opens the file; `None` if it cannot be used.
fn opened(folder: &Path) -> Option<StoredSessions> {
    let opened = StoredSessions::open(folder).inspect_err(|e| {
        tracing::warn!(
            help = e.help(),
            "sessions are not stored, so after a restart only the data in their ids is left: {e}"
        );
    });
    let (file, moved) = opened.ok()?;
    if let Some(aside) = moved {
        tracing::warn!(
            aside = %aside.display(),
            "the file of sessions was damaged and has been moved; the sessions in it lost everything that their ids do not \
             contain"
        );
    }
    Some(file)
}

impl SessionsFile {
    /// Returns the file, after waiting until it is open; `None` if it cannot be used.
    fn file(&self) -> Option<MutexGuard<'_, StoredSessions>> {
        self.file.wait().as_ref().map(Mutex::lock)
    }

    /// Records a change to a session, to be written a little later. `change` receives the change that is already
    /// waiting for this session, and returns its replacement, if any.
    fn note(
        &self,
        key: SessionKey,
        change: impl FnOnce(Option<&UnwrittenSession>) -> Option<UnwrittenSession>,
    ) {
        let mut waiting = self.waiting.lock();
        // The writer sleeps only while nothing is waiting, or during its pause.
        let (is_first, is_full) = (waiting.rows.is_empty(), waiting.rows.len() >= MOST_WAITING);
        match waiting.rows.entry(key) {
            Entry::Occupied(mut row) => {
                change(Some(row.get())).map(|changed| row.insert(changed));
            }
            Entry::Vacant(_) if is_full => {
                return tracing::debug!("a session was not stored: too many are waiting to be written");
            }
            Entry::Vacant(row) => {
                change(None).map(|changed| row.insert(changed));
            }
        }
        drop(waiting);
        if is_first {
            self.changed.notify_one();
        }
    }

    /// Writes waiting rows until the store is closed.
    fn write(&self) {
        loop {
            {
                let mut waiting = self.waiting.lock();
                while waiting.rows.is_empty() && !waiting.is_over {
                    self.changed.wait(&mut waiting);
                }
            }
            // Lock the file first, so that every session is found either in the file or among the waiting ones.
            let mut file = self.file();
            let (rows, is_over) = {
                let mut waiting = self.waiting.lock();
                (std::mem::take(&mut waiting.rows), waiting.is_over)
            };
            let rows: Vec<(SessionKey, SessionRow)> =
                rows.iter().map(|(key, one)| (*key, one.row())).collect();
            if !rows.is_empty()
                && let Some(file) = &mut file
                && let Err(e) = file.save(&rows, now_ms(), millis(*self.kept.lock()))
            {
                tracing::warn!(help = e.help(), "sessions were not stored: {e}");
            }
            drop(file);
            if is_over {
                return;
            }
            let mut waiting = self.waiting.lock();
            // This wait ends early when the process ends.
            let _ = self.changed.wait_while_for(&mut waiting, |waiting| !waiting.is_over, PAUSE);
        }
    }
}

impl SessionStore for KeptSessions {
    fn changed(&self, key: SessionKey, session: Arc<dyn RowSource>) {
        // A session that has ended stays ended.
        self.state.note(key, |waiting| waiting.is_none().then(|| UnwrittenSession::Open(session)));
    }

    fn ended(&self, key: SessionKey) {
        self.state.note(key, |waiting| {
            let was_stored = waiting.is_none_or(UnwrittenSession::may_be_stored);
            Some(UnwrittenSession::Ended(SessionEnd { at_ms: now_ms(), was_stored }))
        });
    }

    fn load(&self, key: &SessionKey) -> Option<SessionRow> {
        if let Some(waiting) = self.state.waiting.lock().rows.get(key) {
            return Some(waiting.row());
        }
        let loaded = self.state.file()?.load(key);
        loaded.inspect_err(|e| tracing::warn!("a stored session cannot be read: {e}")).ok().flatten()
    }
}
