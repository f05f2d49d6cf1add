//! The record of one server in memory, and the lists that were compared with it. This module must not know how lists are
//! fetched, or where the record is stored.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use bytes::Bytes;
use config::DefinitionPolicy;
use engine::pinning::{Fingerprint, ListedDefinition, PinVerdict, Pins};
use store::definitions::{ListedDefinitions, NewDefinition};

use super::note::DefinitionNote;
use super::record::ListSource;

/// The number of notes that are remembered.
const MOST_NOTED: usize = 256;

/// The record, and the lists that were compared with it.
pub(super) struct RecordState {
    pub(super) policy: DefinitionPolicy,
    pub(super) pins: Pins,
    /// The number of times that the record or the policy has been replaced. Lists that were judged at an earlier
    /// revision are judged again.
    pub(super) revision: u64,
    /// The number of lists that have changed the record.
    pub(super) taken: u64,
    /// The definitions that each list contains now. Equal lists share one allocation.
    pub(super) sources: HashMap<ListSource, Arc<[ListedDefinition]>>,
    /// The texts of tools as last listed, with the fingerprints of their definitions. The texts share memory with the
    /// lists.
    pub(super) texts: HashMap<Arc<str>, (Bytes, ListedDefinition)>,
    /// The digests of the notes that were returned before, for any caller.
    pub(super) noted: HashSet<[u8; 32]>,
    /// The definitions that are in the stored record and marked as listed there.
    pub(super) stored: BTreeSet<(Arc<str>, Fingerprint)>,
}

impl RecordState {
    /// Creates an empty record.
    pub(super) fn new(policy: DefinitionPolicy) -> Self {
        Self {
            policy,
            pins: Pins::default(),
            revision: 0,
            taken: 0,
            sources: HashMap::new(),
            texts: HashMap::new(),
            noted: HashSet::new(),
            stored: BTreeSet::new(),
        }
    }

    /// Returns the tools of a list that must not be served.
    pub(super) fn held(&self, seen: &[ListedDefinition]) -> HashSet<Arc<str>> {
        if self.policy != DefinitionPolicy::Hold {
            return HashSet::new();
        }
        let is_held = |one: &&ListedDefinition| self.pins.judge(one) != PinVerdict::Approved;
        seen.iter().filter(is_held).map(|one| one.tool.clone()).collect()
    }

    /// Returns true if the stored record has a definition.
    pub(super) fn is_stored(&self, one: &ListedDefinition) -> bool {
        self.pins.judge(one) == PinVerdict::Approved
            || self.stored.contains(&(one.tool.clone(), one.fingerprint))
    }

    /// Returns the definitions to store after a list was judged; `None` if they are stored already.
    pub(super) fn news(
        &mut self,
        server: &Arc<str>,
        new: Vec<NewDefinition>,
        listed: BTreeSet<(Arc<str>, Fingerprint)>,
        changed: bool,
    ) -> Option<ListedDefinitions> {
        if !changed && listed == self.stored {
            return None;
        }
        let all = listed.iter().map(|(tool, one)| (tool.to_string(), one.0)).collect();
        // The stored record may lack definitions of other lists, which are stored when these lists are judged again.
        let sent: HashSet<(String, [u8; 32])> =
            new.iter().map(|one| (one.tool.clone(), one.fingerprint)).collect();
        let mut stored = listed;
        stored.retain(|(tool, one)| {
            let sighting = ListedDefinition { tool: tool.clone(), fingerprint: *one };
            self.is_stored(&sighting) || sent.contains(&(tool.to_string(), one.0))
        });
        self.stored = stored;
        let (audiences, incomplete) = (self.pins.audiences().collect(), self.pins.incomplete());
        Some(ListedDefinitions { name: server.to_string(), audiences, incomplete, new, listed: all })
    }

    /// Returns true if a note was not returned before.
    pub(super) fn is_news(&mut self, note: &DefinitionNote) -> bool {
        if self.noted.len() >= MOST_NOTED {
            self.noted.clear();
        }
        self.noted.insert(note.digest)
    }

    /// Records the definitions that a list contains now.
    pub(super) fn insert(
        &mut self,
        source: ListSource,
        seen: Vec<ListedDefinition>,
    ) -> Arc<[ListedDefinition]> {
        let known = self.distinct().find(|known| known[..] == seen[..]).cloned();
        let seen = known.unwrap_or_else(|| seen.into());
        self.sources.insert(source, seen.clone());
        seen
    }

    /// Returns the lists; equal lists are returned only once.
    pub(super) fn distinct(&self) -> impl Iterator<Item = &Arc<[ListedDefinition]>> {
        let mut known = HashSet::new();
        self.sources.values().filter(move |seen| known.insert(seen.as_ptr()))
    }

    /// Returns the definitions in all lists.
    pub(super) fn listed(&self) -> BTreeSet<(Arc<str>, Fingerprint)> {
        let all = self.distinct().flat_map(|seen| seen.iter());
        all.map(|one| (one.tool.clone(), one.fingerprint)).collect()
    }

    /// Returns a definition as it is stored; `body` is its normal form.
    pub(super) fn new_definition(&self, one: &ListedDefinition, body: &Bytes) -> NewDefinition {
        let is_approved = self.pins.judge(one) == PinVerdict::Approved;
        NewDefinition {
            tool: one.tool.to_string(),
            fingerprint: one.fingerprint.0,
            body: body.to_vec(),
            is_approved,
        }
    }
}
