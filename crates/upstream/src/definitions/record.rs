//! The record of one server's definitions while the process runs. The per-caller upstreams of a server share it: an approval
//! applies to all callers, and a definition counts as listed if any caller is shown it. This module must not know how lists
//! are fetched.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{Hash as _, Hasher as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use aws_lc_rs::digest;
use bytes::Bytes;
use engine::catalogue::Item;
use engine::config::DefinitionPolicy;
use engine::pinning::{COMMON, Fingerprint, PinVerdict, Pins, Sighting, normal_form, visible};
use engine::snapshot::UpstreamSpec;
use parking_lot::Mutex;
use proto::bridge::input::Askable;
use store::catalogues::ServerDigest;
use store::definitions::{ListedDefinitions, NewDefinition};

use super::store::{DefinitionStore, OpenedRecord, identity};

/// The maximum number of tools that a log line names, and the maximum length of each name in it.
const NAMED: usize = 8;
const NAME: usize = 64;

/// The number of descriptions that are remembered.
const MOST_TOLD: usize = 256;

/// A list of one catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum ListSlot {
    /// The list of a lifecycle, which all clients may see.
    Face(usize),
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
    /// The number of catalogues so far.
    catalogues: AtomicU64,
}

struct RecordState {
    policy: DefinitionPolicy,
    pins: Pins,
    /// The number of times that the record or the policy has been replaced. Lists that were judged at an earlier
    /// revision are judged again.
    revision: u64,
    /// The number of lists that have changed the record.
    taken: u64,
    /// The definitions that each list contains now. Equal lists share one allocation.
    sources: HashMap<ListSource, Arc<[Sighting]>>,
    /// The texts of tools as last listed, with the fingerprints of their definitions. The texts share memory with the
    /// lists.
    texts: HashMap<Arc<str>, (Bytes, Sighting)>,
    /// The digests of the descriptions that were returned before, for any caller.
    told: HashSet<u64>,
    /// The definitions that the stored record marks as listed.
    stored: BTreeSet<(Arc<str>, Fingerprint)>,
}

/// A list after it was compared with the record.
pub(crate) struct Judged {
    /// The tools that must not be served.
    pub(crate) held: HashSet<Arc<str>>,
    /// A description of the tools that nobody has approved; `None` if there are none, or if the same description was
    /// returned before.
    pub(crate) note: Option<String>,
}

impl DefinitionRecord {
    /// Creates an empty record. Nothing is compared until the record is opened.
    pub(crate) fn new(policy: DefinitionPolicy) -> Arc<Self> {
        let state = RecordState {
            policy,
            pins: Pins::default(),
            revision: 0,
            taken: 0,
            sources: HashMap::new(),
            texts: HashMap::new(),
            told: HashSet::new(),
            stored: BTreeSet::new(),
        };
        Arc::new(Self { opened: OnceLock::new(), state: Mutex::new(state), catalogues: AtomicU64::new(0) })
    }

    /// Reads the stored record of a server, and stores every change from now on. May wait for a disk.
    ///
    /// # Errors
    /// Returns why the stored record cannot be read.
    pub(crate) fn open(&self, store: &Arc<dyn DefinitionStore>, spec: &UpstreamSpec) -> Result<(), String> {
        let Some(identity) = identity(spec) else { return Ok(()) };
        let digest = store.digest(&identity);
        let pins = store.load(&digest)?;
        if self.opened.set((store.clone(), digest)).is_ok() {
            self.state.lock().pins = pins;
        }
        Ok(())
    }

    /// Returns the digest under which the record is stored; `None` if definitions are not recorded.
    pub fn digest(&self) -> Option<ServerDigest> {
        self.opened.get().map(|(_, digest)| *digest)
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
        let Some((store, digest)) = self.opened.get() else { return Ok(false) };
        loop {
            let before = self.state.lock().taken;
            let pins = store.load(digest)?;
            let mut state = self.state.lock();
            // A list that arrived in the meantime may have been approved on first sight.
            if state.taken != before {
                continue;
            }
            let differs = state.pins != pins;
            if differs {
                state.pins = pins;
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
    ) -> Judged {
        let (opened, policy) = (self.opened.get(), self.policy());
        if policy == DefinitionPolicy::Allow || (opened.is_none() && policy != DefinitionPolicy::Hold) {
            self.forget_list(source);
            return Judged { held: HashSet::new(), note: None };
        }
        let (seen, bodies) = self.sightings(tools);
        let mut state = self.state.lock();
        let all = seen.iter().zip(tools).zip(bodies);
        let new = all
            .filter(|((one, _), _)| !state.pins.knows(one))
            .map(|((one, tool), body)| (one.clone(), body.unwrap_or_else(|| normal_form(&tool.text))));
        let new: Vec<(Sighting, Bytes)> = new.collect();
        let mut changed = false;
        if opened.is_some() {
            let policy = state.policy;
            changed = state.pins.take(&seen, (audience(source.1), is_complete), policy);
            state.taken += u64::from(changed);
        }
        let judged =
            Judged { held: state.held(&seen), note: state.note(&seen).filter(|note| state.is_news(note)) };
        state.insert(source, seen);
        if let Some((store, digest)) = opened
            && let Some(now) = state.news(server, new, changed)
        {
            // This happens under the lock, so that lists are stored in the order in which they were judged.
            store.record(digest, now);
        }
        judged
    }

    /// Returns the definitions in a list (each as a tool's name and a fingerprint), and the normal forms that had to be
    /// computed. If a definition's text was seen before, its fingerprint is reused.
    fn sightings(&self, tools: &[Item]) -> (Vec<Sighting>, Vec<Option<Bytes>>) {
        let known: Vec<Option<Sighting>> = {
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
            let one = Sighting { tool: tool.key.as_str().into(), fingerprint: fingerprint(&body) };
            (one, Some(body))
        });
        let (seen, bodies): (Vec<Sighting>, Vec<Option<Bytes>>) = pairs.unzip();
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
    pub(crate) fn held(&self, source: ListSource) -> HashSet<Arc<str>> {
        let state = self.state.lock();
        state.sources.get(&source).map(|seen| state.held(seen)).unwrap_or_default()
    }

    /// Notes that a list is the same as another one.
    pub(crate) fn adopt(&self, from: ListSource, to: ListSource) {
        let mut state = self.state.lock();
        if let Some(seen) = state.sources.get(&from).cloned() {
            state.sources.insert(to, seen);
        }
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

    /// Returns the numbers of tools that await approval.
    pub fn counts(&self) -> DefinitionCounts {
        let state = self.state.lock();
        let (mut open, mut listed) = (HashMap::new(), HashSet::new());
        for one in state.sources.values().flat_map(|seen| seen.iter()) {
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

impl RecordState {
    fn held(&self, seen: &[Sighting]) -> HashSet<Arc<str>> {
        if self.policy != DefinitionPolicy::Hold {
            return HashSet::new();
        }
        let is_held = |one: &&Sighting| self.pins.judge(one) != PinVerdict::Approved;
        seen.iter().filter(is_held).map(|one| one.tool.clone()).collect()
    }

    /// Returns a description of the tools that nobody has approved.
    fn note(&self, seen: &[Sighting]) -> Option<String> {
        let of = |verdict: PinVerdict| {
            let all: Vec<&Sighting> = seen.iter().filter(|one| self.pins.judge(one) == verdict).collect();
            let shown = all.iter().take(NAMED).map(|one| {
                let name: String = one.tool.chars().take(NAME).collect();
                format!("{:?} ({:?})", visible(&name), one.fingerprint)
            });
            let mut text = shown.collect::<Vec<_>>().join(", ");
            if all.len() > NAMED {
                text = format!("{text} and {} more", all.len() - NAMED);
            }
            (!all.is_empty()).then_some(text)
        };
        let parts = [("changed", PinVerdict::Changed), ("new", PinVerdict::New)];
        let parts: Vec<String> = parts
            .into_iter()
            .filter_map(|(what, verdict)| Some(format!("{what}: {}", of(verdict)?)))
            .collect();
        let effect = match self.policy {
            DefinitionPolicy::Hold => "they are hidden until somebody approves them",
            _ => "they are served nevertheless",
        };
        (!parts.is_empty()).then(|| format!("tools that nobody has approved: {}; {effect}", parts.join("; ")))
    }

    /// Returns the definitions to store after a list was judged; `None` if they are stored already.
    fn news(
        &mut self,
        server: &Arc<str>,
        new: Vec<(Sighting, Bytes)>,
        changed: bool,
    ) -> Option<ListedDefinitions> {
        let listed = self.listed();
        if !changed && listed == self.stored {
            return None;
        }
        let new = new.into_iter().map(|(one, body)| self.new_definition(&one, &body)).collect();
        let all = listed.iter().map(|(tool, one)| (tool.to_string(), one.0)).collect();
        self.stored = listed;
        let audiences = self.pins.audiences().collect();
        Some(ListedDefinitions { name: server.to_string(), audiences, new, listed: all })
    }

    /// Returns true if a description was not returned before.
    fn is_news(&mut self, note: &str) -> bool {
        if self.told.len() >= MOST_TOLD {
            self.told.clear();
        }
        let mut digest = DefaultHasher::new();
        note.hash(&mut digest);
        self.told.insert(digest.finish())
    }

    fn insert(&mut self, source: ListSource, seen: Vec<Sighting>) {
        let known = self.sources.values().find(|known| known[..] == seen[..]).cloned();
        self.sources.insert(source, known.unwrap_or_else(|| seen.into()));
    }

    fn listed(&self) -> BTreeSet<(Arc<str>, Fingerprint)> {
        let all = self.sources.values().flat_map(|seen| seen.iter());
        all.map(|one| (one.tool.clone(), one.fingerprint)).collect()
    }

    fn new_definition(&self, one: &Sighting, body: &Bytes) -> NewDefinition {
        let is_approved = self.pins.judge(one) == PinVerdict::Approved;
        NewDefinition {
            tool: one.tool.to_string(),
            fingerprint: one.fingerprint.0,
            body: body.to_vec(),
            is_approved,
        }
    }
}

/// Returns the number that stands for the audience of a list.
fn audience(slot: ListSlot) -> u32 {
    match slot {
        ListSlot::Face(_) => COMMON,
        ListSlot::Class(class) => u32::from(class.bits()),
    }
}

/// Returns the fingerprint of a definition's normal form.
pub(super) fn fingerprint(body: &[u8]) -> Fingerprint {
    let mut fingerprint = [0; 32];
    fingerprint.copy_from_slice(digest::digest(&digest::SHA256, body).as_ref());
    Fingerprint(fingerprint)
}
