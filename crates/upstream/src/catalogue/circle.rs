//! Servers whose lists lead back to this gateway: it would list itself through them, and its lists would grow with every fetch. Gateways
//! tell each other the servers behind them as marks. A gateway that finds a mark of its own asks the other one to leave out what comes
//! from here. This module must not know how lists are fetched.

use engine::catalogue::UpstreamCatalogue;

use super::cell::Catalogue;
use crate::egress::{Announcement, Egress};

impl Catalogue {
    /// Returns the mark of this server among those that its lists contain: its lists contain themselves.
    pub(super) fn own_mark(&self, egress: &Egress, lists: &UpstreamCatalogue) -> Option<Box<str>> {
        let marks = egress.marks()?;
        lists.behind.iter().find(|mark| marks.is_of(mark, self.server.name())).cloned()
    }

    /// Returns this server's mark if its known lists led back here.
    pub(super) fn known_circle(&self, egress: &Egress) -> Option<Box<str>> {
        self.lists().iter().flatten().find_map(|lists| self.own_mark(egress, lists))
    }

    /// Prepares for telling clients that other servers are behind this one now. Its lists may be the same, but a gateway among the
    /// clients may have to ask for less from now on.
    pub(super) fn turned(
        &self,
        egress: &Egress,
        before: Option<&UpstreamCatalogue>,
        lists: &UpstreamCatalogue,
    ) -> Option<Announcement> {
        before.filter(|before| before.behind != lists.behind)?;
        egress.audience().map(|clients| clients.before_change(&self.server))
    }

    /// Returns the marks of the servers that are known to be behind this server.
    pub fn marks_behind(&self) -> Vec<Box<str>> {
        let mut all: Vec<Box<str>> =
            self.lists().iter().flatten().flat_map(|lists| lists.behind.iter().cloned()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}
