//! Compares the lists of a catalogue with the record of definitions, and withholds the tools that await approval. This module
//! must not know who sees the lists.

use std::sync::Arc;

use engine::catalogue::{ListKind, UpstreamCatalogue};
use proto::bridge::input::Askable;

use super::cell::Catalogue;
use super::face::Face;
use super::served::ServedLists;
use crate::definitions::{ListSlot, ListSource};
use crate::egress::{Egress, Updating};

impl Catalogue {
    /// Compares a list with the record of definitions, and withholds the tools that must not be served.
    pub(super) fn serve(&self, slot: ListSlot, listed: UpstreamCatalogue) -> ServedLists {
        let is_complete = listed.failure(ListKind::Tools).is_none();
        let tools = listed.list(ListKind::Tools);
        let judged = self.server.definitions.judge(self.server.name(), self.source(slot), tools, is_complete);
        if let Some(note) = &judged.note {
            let name = self.server.name();
            tracing::warn!(server = %name, "{note}; review them with: dragoman definitions {name}");
        }
        ServedLists::without(Arc::new(listed), &judged.held)
    }

    /// Stores the lists of a lifecycle, and withholds the tools that must not be served.
    pub(super) fn keep(&self, face: &Face, listed: UpstreamCatalogue) {
        let revision = self.server.definitions.revision();
        face.keep(self.serve(ListSlot::Face(face.index()), listed));
        self.judge_if_newer(revision);
    }

    /// Stores the items of a class; returns `true` if they differ from the previous ones.
    pub(super) fn keep_class(&self, class: Askable, listed: UpstreamCatalogue) -> bool {
        let revision = self.server.definitions.revision();
        let differs = self.gated.keep(class, self.serve(ListSlot::Class(class), listed));
        self.judge_if_newer(revision);
        differs
    }

    /// Judges the lists again if the record was replaced after this revision: a list that was being judged during the
    /// replacement may have been judged by the earlier record.
    fn judge_if_newer(&self, revision: u64) {
        if self.server.definitions.revision() != revision {
            self.judge_again();
        }
    }

    /// Withholds the tools that the current record does not allow to be served. Returns true if the set of withheld
    /// tools has changed.
    fn judge_again(&self) -> bool {
        let held = |slot| self.server.definitions.held(self.source(slot));
        let mut differs = false;
        for face in &self.faces {
            differs |= face.judge_again(&held(ListSlot::Face(face.index())));
        }
        self.gated.judge_again(|class| held(ListSlot::Class(class))) | differs
    }

    /// Applies a changed record or a changed policy to the known lists, and notifies the clients that see the server.
    pub fn follow_definitions(&self, egress: &Egress) -> Updating {
        // A list that was not compared under the previous policy may have to be recorded under the new one.
        for face in &self.faces {
            if let Some(listed) = face.known() {
                self.serve(ListSlot::Face(face.index()), (*listed).clone());
            }
        }
        for (class, listed) in self.gated.all() {
            self.serve(ListSlot::Class(class), (*listed).clone());
        }
        if self.judge_again() { self.tell(egress) } else { Updating::done() }
    }

    /// Applies a record that somebody changed to the known lists, and notifies the clients that see the server.
    pub fn follow_approvals(&self, egress: &Egress) -> Updating {
        if self.judge_again() { self.tell(egress) } else { Updating::done() }
    }

    pub(super) fn source(&self, slot: ListSlot) -> ListSource {
        (self.number, slot)
    }
}

impl Drop for Catalogue {
    fn drop(&mut self) {
        self.server.definitions.forget(self.number);
    }
}
