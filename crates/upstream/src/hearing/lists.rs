//! Announced list changes: the lists are fetched before clients are notified. It must not know what a list holds.

use std::sync::Arc;
use std::time::Instant;

use proto::mcp::Notice;

use super::Ear;
use crate::catalogue::Learner;
use crate::link::OpenLink;
use crate::upstream::Upstream;

impl Ear {
    /// Handles changes until there are no more.
    pub(super) async fn look(&self, link: &Arc<OpenLink>) {
        loop {
            let lists = self.changes.take();
            if lists.is_empty() {
                return;
            }
            self.changed(link, &lists).await;
        }
    }

    /// Fetches the changed lists before it notifies clients: a client that asks at once must not get the old list.
    async fn changed(&self, link: &Arc<OpenLink>, lists: &[Notice]) {
        let Some(upstream) = self.upstream.upgrade() else { return };
        if link.own {
            return self.changed_for_its_users(&upstream, link, lists).await;
        }
        let announcement = self.egress.audience().map(|all| all.before_change(&link.server));
        let news = upstream.announced.news(lists, link.heard_on(), Instant::now());
        upstream.catalogue.refresh(&self.egress).await;
        if let Some(announce) = announcement.filter(|_| !news.is_empty()) {
            announce(&news);
        }
    }

    /// Does the same on a link that one client at a time has for itself. The items of that client's class are learned again,
    /// and the clients that see a difference are notified. Without a difference, the users of the link are notified all the
    /// same: the server may keep different lists for each connection, and the known ones were learned on another connection.
    async fn changed_for_its_users(&self, upstream: &Upstream, link: &Arc<OpenLink>, lists: &[Notice]) {
        if self.learns_again(upstream, link).await {
            // If other links announce the same change, it then counts as an echo: the difference has notified all other
            // clients.
            upstream.announced.news(lists, link.heard_on(), Instant::now());
        } else {
            let lists = &upstream.announced.no_echoes(lists, link.heard_on(), Instant::now())[..];
            let users = link.recipients.users();
            if users.is_empty()
                && let Some(all) = self.egress.audience()
            {
                return all.before_change(&link.server)(lists);
            }
            for user in users.iter().filter(|user| user.may_use(link.server.spec.id)) {
                for list in lists {
                    user.notify_changed(*list);
                }
            }
        }
    }

    /// Learns the items of the link's class again. Returns true if clients were notified of a difference.
    async fn learns_again(&self, upstream: &Upstream, link: &Arc<OpenLink>) -> bool {
        if self.askable.is_nothing() {
            return false;
        }
        if let Some(cell) = upstream.links.dedicated.holder(link).or_else(|| self.cell.upgrade()) {
            let (dedicated, capabilities) = (None, cell.capabilities().clone());
            let learner = Learner { era: cell.era(), cell, dedicated, capabilities };
            return upstream.catalogue.learn_again(&self.egress, self.askable, &learner).await;
        }
        false
    }
}
