//! Detects servers whose lists lead back to this gateway. Through such a server, the gateway would list its own
//! items, and its lists would grow with every fetch. Therefore each gateway includes marks in its lists, which
//! identify the servers behind it. If a gateway finds one of its own marks, it asks the other gateway to leave out
//! the items that come from it. This module must not know how lists are fetched.

use engine::catalogue::UpstreamCatalogue;

use super::cell::Catalogue;
use crate::egress::{Announcement, Egress};

impl Catalogue {
    /// Returns this gateway's mark for the server if these lists of the server contain the mark. The lists then
    /// lead back to this gateway.
    pub(super) fn own_mark(&self, egress: &Egress, lists: &UpstreamCatalogue) -> Option<Box<str>> {
        let marks = egress.marks()?;
        lists.behind.iter().find(|mark| marks.is_of(mark, self.server.name())).cloned()
    }

    /// Returns this gateway's mark for the server if the server's known lists lead back here.
    pub(super) fn known_circle(&self, egress: &Egress) -> Option<Box<str>> {
        self.lists().iter().flatten().find_map(|lists| self.own_mark(egress, lists))
    }

    /// Prepares the notification that the set of servers behind this server has changed. Even if the server's lists
    /// are the same, a client that is a gateway may now have to request them without its own items.
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
