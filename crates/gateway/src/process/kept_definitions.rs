//! The record of servers' definitions in its file. A separate thread writes lists, so no link waits for a disk.
//! This module must not know how definitions are compared.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use config::{DefinitionPolicy, Link};
use engine::pinning::Fingerprint;
use engine::snapshot::UpstreamSpec;
use parking_lot::{Condvar, Mutex};
use store::catalogues::ServerDigest;
use store::definitions::{
    ApprovalRefused, ApprovalRequest, Definitions, ListedDefinitions, ServerApprovals, StoredDefinition,
};
use upstream::definitions::{DefinitionStore, StoredRecord};

use super::definition_news::DefinitionNews;

/// The time between two attempts to write to a file that cannot be written.
const PAUSE: Duration = Duration::from_secs(1);

/// The file, and the lists that wait to be written to it: at most one for each server.
struct RecordFile {
    file: Mutex<OpenRecord>,
    waiting: Mutex<UnwrittenLists>,
    changed: Condvar,
    news: DefinitionNews,
}

struct OpenRecord {
    file: Definitions,
    /// The version of the file when it was last read.
    version: i64,
}

#[derive(Default)]
struct UnwrittenLists {
    rows: HashMap<ServerDigest, ListedDefinitions>,
    is_over: bool,
}

/// The record of definitions. [`KeptDefinitions::close`] writes all lists that are still waiting to be written.
pub(crate) struct KeptDefinitions {
    state: Arc<RecordFile>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

impl KeptDefinitions {
    /// Opens the record in this folder, if one of these servers needs a record. If the record cannot be opened,
    /// definitions are not compared, and this is logged. This function blocks.
    ///
    /// # Errors
    /// Returns the reason why the record cannot be used, if one of the servers withholds tools that are not approved.
    pub(crate) fn open_for(
        folder: Option<&Path>,
        servers: &[UpstreamSpec],
    ) -> Result<Option<Arc<Self>>, String> {
        let is_compared = |one: &&UpstreamSpec| {
            one.definitions != DefinitionPolicy::Allow && !matches!(one.link, Link::Native(_))
        };
        let compared: Vec<&UpstreamSpec> = servers.iter().filter(is_compared).collect();
        if compared.is_empty() {
            return Ok(None);
        }
        let why = match Self::open(folder) {
            Ok(opened) => return Ok(Some(opened)),
            Err(why) => why,
        };
        if let Some(one) = compared.iter().find(|one| one.definitions == DefinitionPolicy::Hold) {
            return Err(format!("server {:?} has `definitions: hold`, but {why}", one.name));
        }
        tracing::warn!("changes to tools' definitions are not detected: {why}");
        Ok(None)
    }

    fn open(folder: Option<&Path>) -> Result<Arc<Self>, String> {
        let folder =
            folder.ok_or("there is no state folder for approvals; set `stateFolder` in the configuration")?;
        let mut fresh = [0; 32];
        getrandom::fill(&mut fresh).map_err(|e| e.to_string())?;
        let described = |e: store::Error| format!("{e}; {}", e.help());
        let file = Definitions::open(folder, &fresh).map_err(described)?;
        let version = file.version().map_err(described)?;
        let (file, waiting) = (Mutex::new(OpenRecord { file, version }), Mutex::default());
        let state =
            Arc::new(RecordFile { file, waiting, changed: Condvar::new(), news: DefinitionNews::default() });
        let written = state.clone();
        let writer =
            std::thread::Builder::new().name("definitions".to_owned()).spawn(move || written.write());
        let writer =
            writer.map_err(|e| format!("the thread that writes the record cannot be started: {e}"))?;
        Ok(Arc::new(Self { state, writer: Mutex::new(Some(writer)) }))
    }

    /// Returns the servers whose definitions may differ from those of the other gateways of the cluster.
    pub(crate) fn news(&self) -> &DefinitionNews {
        &self.state.news
    }

    /// Returns true if another process has changed the file since the last call. This blocks.
    pub(crate) fn look(&self) -> bool {
        let mut open = self.state.file.lock();
        match open.file.version() {
            Ok(version) => std::mem::replace(&mut open.version, version) != version,
            Err(e) => {
                tracing::debug!("cannot check if definitions were approved: {e}");
                false
            }
        }
    }

    /// Returns the definitions of a server, with their texts, and a code for everything that awaits approval. This blocks.
    ///
    /// # Errors
    /// Fails if the file cannot be read or written.
    pub(crate) fn of_server(
        &self,
        server: &ServerDigest,
    ) -> Result<(Vec<StoredDefinition>, String), store::Error> {
        let mut open = self.state.file.lock();
        self.state.flush(&mut open.file)?;
        let all = open.file.of_server(server, true)?;
        let revision = open.file.revision(&all);
        Ok((all, revision))
    }

    /// Approves definitions; returns the names of the approved tools. This blocks.
    ///
    /// # Errors
    /// Fails if the file cannot be written, or if the request is refused.
    pub(crate) fn approve(
        &self,
        server: &ServerDigest,
        request: ApprovalRequest<'_>,
    ) -> Result<Result<Vec<String>, ApprovalRefused>, store::Error> {
        let mut open = self.state.file.lock();
        self.state.flush(&mut open.file)?;
        let approved = open.file.approve(server, request, now_ms())?;
        self.state.news.all();
        Ok(approved)
    }

    /// Returns the decisions about the tools of a server; `None` if there are none yet. This blocks.
    ///
    /// # Errors
    /// Fails if the file cannot be read or written.
    pub(crate) fn approvals(&self, server: &ServerDigest) -> Result<Option<ServerApprovals>, store::Error> {
        let mut open = self.state.file.lock();
        self.state.flush(&mut open.file)?;
        open.file.approvals(server)
    }

    /// Merges decisions of other gateways about the tools of a server with this name. Returns the decisions that apply now, and true if
    /// they differ from those before; `None` if the file has no room for the server. This blocks.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub(crate) fn merge(
        &self,
        server: &ServerDigest,
        (name, theirs): (&str, ServerApprovals),
    ) -> Result<Option<(ServerApprovals, bool)>, store::Error> {
        let mut open = self.state.file.lock();
        self.state.flush(&mut open.file)?;
        open.file.merge_approvals(server, (name, theirs), now_ms())
    }

    /// Writes all lists that are still waiting, and ends the writing thread. Later lists are not stored.
    pub(crate) fn close(&self) {
        self.state.waiting.lock().is_over = true;
        self.state.changed.notify_one();
        if let Some(writer) = self.writer.lock().take()
            && writer.join().is_err()
        {
            tracing::warn!("definitions of tools were not stored: the thread that writes them failed");
        }
    }
}

impl RecordFile {
    /// Writes waiting lists until the record is closed.
    fn write(&self) {
        let mut has_failed = false;
        loop {
            let is_over = {
                let mut waiting = self.waiting.lock();
                while waiting.rows.is_empty() && !waiting.is_over {
                    self.changed.wait(&mut waiting);
                }
                waiting.is_over
            };
            let written = self.flush(&mut self.file.lock().file);
            if let Err(e) = &written
                && !has_failed
            {
                tracing::warn!(
                    "definitions of tools cannot be stored now; Dragoman will try again: {e}; {}",
                    e.help()
                );
            }
            has_failed = written.is_err();
            let mut waiting = self.waiting.lock();
            if is_over && (has_failed || waiting.rows.is_empty()) {
                return;
            }
            if has_failed {
                // This wait ends early when the process ends.
                let _ = self.changed.wait_while_for(&mut waiting, |waiting| !waiting.is_over, PAUSE);
            }
        }
    }

    /// Writes the waiting lists. Lists that cannot be written remain in the queue.
    fn flush(&self, file: &mut Definitions) -> Result<(), store::Error> {
        let rows = std::mem::take(&mut self.waiting.lock().rows);
        if !rows.is_empty() {
            self.news.all();
        }
        let mut outcome = Ok(());
        for (server, listed) in rows {
            if outcome.is_ok() {
                outcome = file.record(&server, &listed, now_ms()).map(|has_room| {
                    if !has_room {
                        // Another process added servers after this one had been checked.
                        let name = &listed.name;
                        tracing::warn!(server = %name, "the record of definitions has no room for another server");
                    }
                });
            }
            if outcome.is_err() {
                let mut waiting = self.waiting.lock();
                let newer = waiting.rows.remove(&server);
                let row = newer.map_or_else(|| listed.clone(), |newer| merged(listed.clone(), newer));
                waiting.rows.insert(server, row);
            }
        }
        outcome
    }
}

/// Merges two lists of one server that wait to be written. Definitions that are no longer listed are dropped, unless they
/// were approved.
fn merged(old: ListedDefinitions, newer: ListedDefinitions) -> ListedDefinitions {
    let ListedDefinitions { name, audiences, incomplete, new, listed } = newer;
    let is_listed: HashSet<(&str, &[u8; 32])> =
        listed.iter().map(|(tool, one)| (tool.as_str(), one)).collect();
    let mut all = old.new;
    all.retain(|one| one.is_approved || is_listed.contains(&(one.tool.as_str(), &one.fingerprint)));
    all.extend(new);
    ListedDefinitions { name, audiences, incomplete, new: all, listed }
}

fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}

/// Reads the record of a server.
fn read_record(file: &Definitions, server: &ServerDigest) -> Result<StoredRecord, store::Error> {
    let mut record = StoredRecord { is_full: !file.has_room(server)?, ..StoredRecord::default() };
    if let Some(known) = file.server(server)? {
        known.audiences.into_iter().for_each(|audience| record.pins.add_audience(audience));
        record.pins.set_incomplete(known.incomplete);
    }
    for one in file.of_server(server, false)? {
        let (tool, fingerprint): (Arc<str>, _) = (one.tool.into(), Fingerprint(one.fingerprint));
        if one.is_listed {
            record.listed.insert((tool.clone(), fingerprint));
        }
        record.pins.add(tool, fingerprint, one.approved_ms.is_some());
    }
    Ok(record)
}

impl DefinitionStore for KeptDefinitions {
    fn digest(&self, server: &[u8]) -> ServerDigest {
        self.state.file.lock().file.digest(server)
    }

    fn load(&self, server: &ServerDigest) -> Result<StoredRecord, String> {
        let mut open = self.state.file.lock();
        let read = self.state.flush(&mut open.file).and_then(|()| read_record(&open.file, server));
        read.map_err(|e| format!("the definitions of tools cannot be read: {e}; {}", e.help()))
    }

    fn record(&self, server: &ServerDigest, listed: ListedDefinitions) {
        let mut waiting = self.state.waiting.lock();
        let row = match waiting.rows.remove(server) {
            Some(old) => merged(old, listed),
            None => listed,
        };
        waiting.rows.insert(*server, row);
        self.state.changed.notify_one();
    }
}
