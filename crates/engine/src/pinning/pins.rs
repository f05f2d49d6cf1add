//! The record of one server's definitions: which are approved, and which are known but not approved. This module must not know
//! how a record is stored, or what happens to tools that are not approved.

use std::collections::{BTreeSet, HashMap};
use std::fmt::{self, Write as _};
use std::sync::Arc;

use config::DefinitionPolicy;

/// The audience of the lists that every client may see. Each other audience is a class of clients that can be asked
/// questions; a server may list more tools to them.
pub const COMMON: u32 = 0;

/// The number of incomplete common lists after which a complete list no longer approves new tools. Until then, the
/// first complete list is approved like the very first list. Without this limit, a server that never completes a
/// list could have new tools approved at any later time.
const MOST_INCOMPLETE: u32 = 5;

/// The SHA-256 digest of a definition's normal form.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint(pub [u8; 32]);

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut short = String::new();
        self.0.iter().take(4).try_for_each(|byte| write!(short, "{byte:02x}"))?;
        f.write_str(&short)
    }
}

/// A definition that a server lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedDefinition {
    /// The server's own name for the tool.
    pub tool: Arc<str>,
    /// The fingerprint of the definition.
    pub fingerprint: Fingerprint,
}

/// The state of a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PinVerdict {
    /// The definition is approved.
    Approved,
    /// Another definition of the tool is approved.
    Changed,
    /// No definition of the tool is approved.
    New,
}

/// The record of one server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pins {
    /// The known definitions by tool; true if the definition is approved. A tool has several approved definitions if the
    /// server shows different ones at the same time, for example to different callers.
    tools: HashMap<Arc<str>, Vec<(Fingerprint, bool)>>,
    /// The audiences whose first lists have been seen.
    audiences: BTreeSet<u32>,
    /// The number of incomplete common lists. Counting ends once the first common lists are considered seen.
    incomplete: u32,
}

impl Pins {
    /// Adds a definition from the stored record.
    pub fn add(&mut self, tool: Arc<str>, fingerprint: Fingerprint, is_approved: bool) {
        let known = self.tools.entry(tool).or_default();
        match known.iter_mut().find(|(one, _)| *one == fingerprint) {
            Some((_, approved)) => *approved |= is_approved,
            None => known.push((fingerprint, is_approved)),
        }
    }

    /// Adds an audience whose lists have been seen.
    pub fn add_audience(&mut self, audience: u32) {
        self.audiences.insert(audience);
    }

    /// The audiences whose lists have been seen.
    pub fn audiences(&self) -> impl Iterator<Item = u32> + '_ {
        self.audiences.iter().copied()
    }

    /// The number of incomplete common lists. Counting ends once the first common lists are considered seen.
    pub fn incomplete(&self) -> u32 {
        self.incomplete
    }

    /// Sets the number of incomplete common lists from the stored record.
    pub fn set_incomplete(&mut self, lists: u32) {
        self.incomplete = lists;
    }

    /// Forgets the definitions that are neither approved nor listed. Otherwise, a server that lists another definition
    /// each time would fill the memory.
    pub fn forget_unlisted(&mut self, is_listed: impl Fn(&Arc<str>, Fingerprint) -> bool) {
        self.tools.retain(|tool, known| {
            known.retain(|(one, is_approved)| *is_approved || is_listed(tool, *one));
            !known.is_empty()
        });
    }

    /// Returns true if the definition is in the record, approved or not.
    pub fn knows(&self, one: &ListedDefinition) -> bool {
        self.tools.get(&one.tool).is_some_and(|known| known.iter().any(|(own, _)| *own == one.fingerprint))
    }

    /// The state of a definition.
    pub fn judge(&self, one: &ListedDefinition) -> PinVerdict {
        let known = self.tools.get(&one.tool).map_or(&[][..], |known| known);
        let mut approved = known.iter().filter(|(_, is_approved)| *is_approved).peekable();
        if approved.peek().is_none() {
            return PinVerdict::New;
        }
        if approved.any(|(own, _)| *own == one.fingerprint) {
            PinVerdict::Approved
        } else {
            PinVerdict::Changed
        }
    }

    /// The tools with an approved definition.
    pub fn approved_tools(&self) -> impl Iterator<Item = &Arc<str>> {
        let is_approved = |known: &[(Fingerprint, bool)]| known.iter().any(|(_, approved)| *approved);
        self.tools.iter().filter(move |(_, known)| is_approved(known)).map(|(tool, _)| tool)
    }

    /// Records the list that an audience sees. Returns true if the record changed.
    ///
    /// The very first list of a server is approved: there is nothing to compare it with. If it was incomplete, the first
    /// complete list is approved as well, unless too many incomplete lists arrive before it. If a server shows more tools to
    /// a class of clients, the first list for that class does not count as a change, except under `hold`, where a person sees
    /// each tool before clients do. A tool with a known definition is never approved here.
    pub fn take(
        &mut self,
        seen: &[ListedDefinition],
        (audience, is_complete): (u32, bool),
        policy: DefinitionPolicy,
    ) -> bool {
        // Some servers list nothing until they have started completely; later lists cannot be compared with an empty one.
        if seen.is_empty() {
            return false;
        }
        let approves_new = self.approves_new(audience, is_complete, policy);
        let mut changed = false;
        for one in seen {
            if !self.knows(one) {
                let is_approved = approves_new && !self.tools.contains_key(&one.tool);
                self.add(one.tool.clone(), one.fingerprint, is_approved);
                changed = true;
            }
        }
        self.note_list(audience, is_complete) || changed
    }

    /// Returns true if this list approves the tools in it that have no known definition.
    fn approves_new(&self, audience: u32, is_complete: bool, policy: DefinitionPolicy) -> bool {
        if self.audiences.contains(&audience) {
            return false;
        }
        let is_very_first = self.incomplete == 0 && self.tools.is_empty() && self.audiences.is_empty();
        let completes_first = audience == COMMON && is_complete && self.incomplete > 0;
        let is_first_of_audience =
            policy != DefinitionPolicy::Hold && (audience != COMMON || self.incomplete == 0);
        is_very_first || completes_first || is_first_of_audience
    }

    /// Records that an audience has seen a list with tools. Returns true if this changed the record.
    fn note_list(&mut self, audience: u32, is_complete: bool) -> bool {
        if self.audiences.contains(&audience) {
            return false;
        }
        if audience == COMMON && !is_complete {
            self.incomplete = self.incomplete.saturating_add(1);
            if self.incomplete < MOST_INCOMPLETE {
                return true;
            }
        }
        self.audiences.insert(audience)
    }
}
