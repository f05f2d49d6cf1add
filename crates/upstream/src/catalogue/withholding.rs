//! Compares the lists of a catalogue with the record of definitions, and withholds the tools that await approval. This module
//! must not know who sees the lists.

use std::sync::Arc;

use engine::catalogue::{ListKind, UpstreamCatalogue};
use proto::bridge::input::Askable;

use super::cell::Catalogue;
use super::lifecycle_lists::LifecycleLists;
use super::served::ServedLists;
use crate::definitions::{ListSlot, ListSource};
use crate::egress::{Egress, Updating};

impl Catalogue {
    /// Compares a list with the record of definitions, and withholds the tools that must not be served.
    fn serve(&self, slot: ListSlot, listed: Arc<UpstreamCatalogue>) -> ServedLists {
        let is_complete = listed.failure(ListKind::Tools).is_none();
        let tools = listed.list(ListKind::Tools);
        let judged = self.server.definitions.judge(self.server.name(), self.source(slot), tools, is_complete);
        if let Some(note) = &judged.note {
            let name = self.server.name();
            tracing::warn!(server = %name, "{note}; review them with: dragoman definitions {name}");
        }
        ServedLists::without(listed, judged.sightings, &judged.held)
    }

    /// Stores the lists of a lifecycle, and withholds the tools that must not be served.
    pub(super) fn keep(&self, lifecycle: &LifecycleLists, listed: UpstreamCatalogue) {
        let _turn = self.judging.lock();
        let revision = self.server.definitions.revision();
        lifecycle.keep(self.serve(ListSlot::Lifecycle(lifecycle.index()), Arc::new(listed)));
        self.judge_if_newer(revision);
    }

    /// Stores the items of a class; returns `true` if they differ from the previous ones.
    pub(super) fn keep_class(&self, class: Askable, listed: UpstreamCatalogue) -> bool {
        let _turn = self.judging.lock();
        let revision = self.server.definitions.revision();
        let differs = self.gated.keep(class, self.serve(ListSlot::Class(class), Arc::new(listed)));
        self.judge_if_newer(revision);
        differs
    }

    /// Shows lists that another catalogue of the same server has fetched; they are marked as unconfirmed.
    pub(super) fn show_borrowed(&self, lifecycle: &LifecycleLists, lists: &ServedLists) {
        let _turn = self.judging.lock();
        let definitions = &self.server.definitions;
        let revision = definitions.revision();
        let mut shown = UpstreamCatalogue::clone(&lists.listed);
        shown.is_confirmed = false;
        let held = lists.sightings.as_ref().map(|seen| {
            definitions.adopt(self.source(ListSlot::Lifecycle(lifecycle.index())), seen.clone());
            definitions.held(seen)
        });
        lifecycle.keep(ServedLists::without(
            Arc::new(shown),
            lists.sightings.clone(),
            &held.unwrap_or_default(),
        ));
        self.judge_if_newer(revision);
    }

    /// Judges all lists again if the record was replaced after `revision` was read. A list that was judged during
    /// the replacement may have been compared with the old record.
    fn judge_if_newer(&self, revision: u64) {
        if self.server.definitions.revision() != revision {
            self.judge_all(|slot, lists| self.judge_again(slot, lists));
        }
    }

    /// Withholds the tools of a list that the current record does not allow to be served.
    fn judge_again(&self, slot: ListSlot, lists: &ServedLists) -> ServedLists {
        match &lists.sightings {
            Some(seen) => lists.again(&self.server.definitions.held(seen)),
            // The previous policy did not require a comparison.
            None => self.serve(slot, lists.listed.clone()),
        }
    }

    /// Replaces each list by the result of `judge` for that list. Returns true if the set of withheld tools has
    /// changed.
    fn judge_all(&self, judge: impl Fn(ListSlot, &ServedLists) -> ServedLists) -> bool {
        let mut differs = false;
        for lifecycle in &self.lifecycles {
            differs |= lifecycle.judge_again(|lists| judge(ListSlot::Lifecycle(lifecycle.index()), lists));
        }
        self.gated.judge_again(|class, lists| judge(ListSlot::Class(class), lists)) | differs
    }

    /// Applies a changed policy to the known lists, and notifies the clients that see the server. All lists are compared
    /// again: a list that was not compared under the previous policy may have to be recorded under the new one.
    pub fn follow_definitions(&self, egress: &Egress) -> Updating {
        let differs = {
            let _turn = self.judging.lock();
            self.judge_all(|slot, lists| self.serve(slot, lists.listed.clone()))
        };
        if differs { self.tell(egress) } else { Updating::done() }
    }

    /// Compares the known lists with the record after somebody has changed it, and notifies the clients that see
    /// the server.
    pub fn follow_approvals(&self, egress: &Egress) -> Updating {
        let differs = {
            let _turn = self.judging.lock();
            self.judge_all(|slot, lists| self.judge_again(slot, lists))
        };
        if differs { self.tell(egress) } else { Updating::done() }
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
