//! The record of one server's definitions while the process runs. The per-caller upstreams of a server share it: an approval
//! applies to all callers, and a definition counts as listed if any caller is shown it. This module must not know how lists
//! are fetched.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use aws_lc_rs::digest;
use bytes::Bytes;
use config::DefinitionPolicy;
use engine::catalogue::Item;
use engine::pinning::{COMMON, Fingerprint, ListedDefinition, PinVerdict, normal_form};
use engine::snapshot::UpstreamSpec;
use parking_lot::Mutex;
use proto::bridge::input::Askable;
use store::catalogues::ServerDigest;
use store::definitions::NewDefinition;

use super::note::note;
use super::state::RecordState;
use super::store::{DefinitionStore, OpenedRecord, identity, shared_name};

/// A list of one catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum ListSlot {
    /// The list of a lifecycle, which all clients may see.
    Lifecycle(usize),
    /// The additional items for a class of clients.
    Class(Askable),
}

/// The origin of a list: the number of a catalogue, and one of its lists.
pub(crate) type ListSource = (u64, ListSlot);

/// The number of tools in each state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DefinitionCounts {
    /// Tools with a definition that differs from the approved one.
    pub changed: usize,
    /// Tools without an approved definition.
    pub new: usize,
    /// Approved tools that are no longer listed.
    pub vanished: usize,
}

/// The record of one server.
pub struct DefinitionRecord {
    opened: OnceLock<OpenedRecord>,
    state: Mutex<RecordState>,
    /// True if the stored record has changed, but could not be read.
    is_outdated: AtomicBool,
    /// The number of catalogues so far.
    catalogues: AtomicU64,
}

/// A list after it was compared with the record.
pub(crate) struct ComparedList {
    /// The definitions in the list; `None` if the list was not compared.
    pub(crate) sightings: Option<Arc<[ListedDefinition]>>,
    /// The tools that must not be served.
    pub(crate) held: HashSet<Arc<str>>,
    /// A description of the tools that nobody has approved; `None` if there are none, or if the same description was
    /// returned before.
    pub(crate) note: Option<String>,
}

impl DefinitionRecord {
    /// Creates an empty record. Nothing is compared until the record is opened.
    pub(crate) fn new(policy: DefinitionPolicy) -> Arc<Self> {
        Arc::new(Self {
            opened: OnceLock::new(),
            state: Mutex::new(RecordState::new(policy)),
            is_outdated: AtomicBool::new(false),
            catalogues: AtomicU64::new(0),
        })
    }

    /// Reads the stored record of a server, and stores every change from now on. If the store has no room for the server,
    /// nothing is compared, and nothing is approved. May wait for a disk.
    ///
    /// # Errors
    /// Returns why the stored record cannot be read.
    pub(crate) fn open(&self, store: &Arc<dyn DefinitionStore>, spec: &UpstreamSpec) -> Result<(), String> {
        let Some(identity) = identity(spec) else { return Ok(()) };
        let digest = store.digest(&identity);
        let stored = store.load(&digest)?;
        if stored.is_full {
            let name = &spec.name;
            tracing::warn!(server = %name, "the record of definitions has no room for another server: its tools are not \
                compared, and with `definitions: hold` they are hidden; move definitions.db to another folder to \
                begin a new record");
            return Ok(());
        }
        let opened = OpenedRecord { store: store.clone(), digest, shared_name: shared_name(&identity) };
        if self.opened.set(opened).is_ok() {
            // The first list is always stored, so `stored` stays empty until then.
            self.state.lock().pins = stored.pins;
        }
        Ok(())
    }

    /// Returns the digest under which the record is stored; `None` if definitions are not recorded.
    pub fn digest(&self) -> Option<ServerDigest> {
        self.opened.get().map(|opened| opened.digest)
    }

    /// Returns the name under which gateways share the record; `None` if definitions are not recorded.
    pub fn shared_name(&self) -> Option<&str> {
        self.opened.get().map(|opened| opened.shared_name.as_str())
    }

    /// Returns the policy for tools that are not approved.
    pub fn policy(&self) -> DefinitionPolicy {
        self.state.lock().policy
    }

    /// Changes the policy. Returns true if the policy differs from the previous one; the lists must then be judged
    /// again.
    pub fn set_policy(&self, policy: DefinitionPolicy) -> bool {
        let mut state = self.state.lock();
        let differs = state.policy != policy;
        if differs {
            state.policy = policy;
            state.revision += 1;
        }
        differs
    }

    /// Reads the stored record again, because somebody approved definitions. Returns true if the record has changed; the
    /// lists must then be judged again. May wait for a disk.
    ///
    /// # Errors
    /// Returns why the stored record cannot be read.
    pub fn reload(&self) -> Result<bool, String> {
        let reloaded = self.read_again();
        self.is_outdated.store(reloaded.is_err(), Ordering::Relaxed);
        reloaded
    }

    /// Returns true if the last attempt to read the stored record again has failed.
    pub fn is_outdated(&self) -> bool {
        self.is_outdated.load(Ordering::Relaxed)
    }

    fn read_again(&self) -> Result<bool, String> {
        let Some(OpenedRecord { store, digest, .. }) = self.opened.get() else { return Ok(false) };
        loop {
            let before = self.state.lock().taken;
            let stored = store.load(digest)?;
            let mut state = self.state.lock();
            // A list that arrived in the meantime may have been approved on first sight.
            if state.taken != before {
                continue;
            }
            // Another process may have deleted rows, because the server lists other definitions to it.
            state.stored = stored.listed;
            let differs = state.pins != stored.pins;
            if differs {
                state.pins = stored.pins;
                state.revision += 1;
            }
            return Ok(differs);
        }
    }

    /// Returns the number of times that the record or the policy has been replaced.
    pub(crate) fn revision(&self) -> u64 {
        self.state.lock().revision
    }

    /// Compares a list with the record, and records what is new. Without a stored record, nothing is approved.
    pub(crate) fn judge(
        &self,
        server: &Arc<str>,
        source: ListSource,
        tools: &[Item],
        is_complete: bool,
    ) -> ComparedList {
        let (opened, policy) = (self.opened.get(), self.policy());
        if policy == DefinitionPolicy::Allow || (opened.is_none() && policy != DefinitionPolicy::Hold) {
            self.forget_list(source);
            return ComparedList { sightings: None, held: HashSet::new(), note: None };
        }
        let (seen, bodies) = self.sightings(tools);
        let mut state = self.state.lock();
        let known: Vec<bool> = seen.iter().map(|one| state.pins.knows(one)).collect();
        let mut changed = false;
        if opened.is_some() {
            let policy = state.policy;
            changed = state.pins.take(&seen, (audience(source.1), is_complete), policy);
            state.taken += u64::from(changed);
        }
        let (held, note) = (state.held(&seen), note(&state.pins, state.policy, &seen));
        let note = note.filter(|note| state.is_news(note)).map(|note| note.text);
        let seen = state.insert(source, seen);
        let listed = state.listed();
        state.pins.forget_unlisted(|tool, one| listed.contains(&(tool.clone(), one)));
        if let Some(OpenedRecord { store, digest, .. }) = opened {
            let all = seen.iter().zip(known).zip(tools.iter().zip(bodies));
            let new = all
                .filter(|((one, is_known), _)| !is_known || !state.is_stored(one))
                .map(|((one, _), (tool, body))| (one, body.unwrap_or_else(|| normal_form(&tool.text))));
            let new: Vec<NewDefinition> = new.map(|(one, body)| state.new_definition(one, &body)).collect();
            if let Some(now) = state.news(server, new, listed, changed) {
                // This happens under the lock, so that lists are stored in the order in which they were judged.
                store.record(digest, now);
            }
        }
        ComparedList { sightings: Some(seen), held, note }
    }

    /// Returns the definitions in a list (each as a tool's name and a fingerprint), and the normal forms that had to be
    /// computed. If a definition's text was seen before, its fingerprint is reused.
    fn sightings(&self, tools: &[Item]) -> (Vec<ListedDefinition>, Vec<Option<Bytes>>) {
        let known: Vec<Option<ListedDefinition>> = {
            let state = self.state.lock();
            let known = |tool: &Item| {
                let (text, one) = state.texts.get(&*tool.key)?;
                (*text == tool.text).then(|| one.clone())
            };
            tools.iter().map(known).collect()
        };
        let pairs = known.into_iter().zip(tools).map(|(known, tool)| {
            if let Some(known) = known {
                return (known, None);
            }
            let body = normal_form(&tool.text);
            let one = ListedDefinition { tool: tool.key.as_str().into(), fingerprint: fingerprint(&body) };
            (one, Some(body))
        });
        let (seen, bodies): (Vec<ListedDefinition>, Vec<Option<Bytes>>) = pairs.unzip();
        let mut state = self.state.lock();
        if state.texts.len() > (state.stored.len() + tools.len()) * 2 {
            state.texts.clear();
        }
        let texts =
            seen.iter().zip(tools).map(|(one, tool)| (one.tool.clone(), (tool.text.clone(), one.clone())));
        state.texts.extend(texts);
        (seen, bodies)
    }

    /// Returns the tools of a list that must not be served according to the current record.
    pub(crate) fn held(&self, seen: &[ListedDefinition]) -> HashSet<Arc<str>> {
        self.state.lock().held(seen)
    }

    /// Records that a list contains the definitions `seen`, which have already been judged in another list.
    pub(crate) fn adopt(&self, source: ListSource, seen: Arc<[ListedDefinition]>) {
        self.state.lock().sources.insert(source, seen);
    }

    /// Returns a number for a new catalogue of the server.
    pub(crate) fn next_catalogue(&self) -> u64 {
        self.catalogues.fetch_add(1, Ordering::Relaxed)
    }

    /// Forgets a list.
    pub(crate) fn forget_list(&self, source: ListSource) {
        self.state.lock().sources.remove(&source);
    }

    /// Forgets the lists of a catalogue.
    pub(crate) fn forget(&self, catalogue: u64) {
        self.state.lock().sources.retain(|(own, _), _| *own != catalogue);
    }

    /// Returns the numbers of changed, new and vanished tools.
    pub fn counts(&self) -> DefinitionCounts {
        let state = self.state.lock();
        let (mut open, mut listed) = (HashMap::new(), HashSet::new());
        for one in state.distinct().flat_map(|seen| seen.iter()) {
            listed.insert(&*one.tool);
            match state.pins.judge(one) {
                PinVerdict::Approved => {}
                verdict => drop(open.insert(&*one.tool, verdict)),
            }
        }
        let changed = open.values().filter(|verdict| **verdict == PinVerdict::Changed).count();
        let vanished = if listed.is_empty() {
            0
        } else {
            state.pins.approved_tools().filter(|tool| !listed.contains(&***tool)).count()
        };
        DefinitionCounts { changed, new: open.len() - changed, vanished }
    }
}

/// Returns the number that stands for the audience of a list.
fn audience(slot: ListSlot) -> u32 {
    match slot {
        ListSlot::Lifecycle(_) => COMMON,
        ListSlot::Class(class) => u32::from(class.bits()),
    }
}

/// Returns the fingerprint of a definition's normal form.
pub(super) fn fingerprint(body: &[u8]) -> Fingerprint {
    let mut fingerprint = [0; 32];
    fingerprint.copy_from_slice(digest::digest(&digest::SHA256, body).as_ref());
    Fingerprint(fingerprint)
}
