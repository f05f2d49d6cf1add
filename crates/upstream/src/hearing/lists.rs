//! Announced list changes: the lists are fetched before clients are notified. This module must not know what a list
//! holds.

use std::sync::Arc;
use std::time::Instant;

use proto::mcp::Notice;

use super::LinkMonitor;
use crate::catalogue::Learner;
use crate::changes::HeardChanges;
use crate::egress::Announcement;
use crate::link::{LinkUser, OpenLink};
use crate::upstream::Upstream;

impl LinkMonitor {
    /// Handles an announcement in a separate task, so that the server's other messages need not wait for its lists.
    pub(super) fn announced(&self, link: &Arc<OpenLink>, list: Notice) {
        let Some(upstream) = self.upstream.upgrade() else { return };
        let wanted = upstream.catalogue.note_announced(!link.own);
        if self.changes.note(list, wanted, || self.before_change(link)) {
            let (monitor, link) = (self.clone(), link.clone());
            transport::task::spawn(async move { monitor.look(&link).await });
        }
    }

    /// Prepares the notifications before the lists are fetched. They are sent after the fetch, so a client that
    /// requests a list immediately does not get the old one.
    fn before_change(&self, link: &Arc<OpenLink>) -> Vec<Announcement> {
        let users = if link.own { link.recipients.users() } else { Vec::new() };
        if users.is_empty() {
            return self.egress.audience().map(|all| all.before_change(&link.server)).into_iter().collect();
        }
        let users = users.into_iter().filter(|user| user.may_use(link.server.spec.id));
        users.map(LinkUser::before_change).collect()
    }

    /// Handles changes until there are no more. Changes that arrive in a burst are handled together.
    pub(super) async fn look(&self, link: &Arc<OpenLink>) {
        while let Some(due) = self.changes.due(Instant::now()) {
            tokio::time::sleep_until(due.into()).await;
            let Some(upstream) = self.upstream.upgrade() else { return };
            let heard = self.changes.take(Instant::now());
            let differs = if link.own {
                self.changed_for_its_users(&upstream, link, heard).await
            } else {
                self.changed(&upstream, link, heard).await
            };
            self.changes.found(differs);
        }
    }

    /// Fetches the lists that have changed, and notifies clients after that: a client that requests a list
    /// immediately must not get the old one. Returns true if the lists differ.
    async fn changed(&self, upstream: &Upstream, link: &Arc<OpenLink>, heard: HeardChanges) -> bool {
        let news = upstream.announced.news(&heard.lists, link.heard_on(), Instant::now());
        let before = upstream.catalogue.lists();
        upstream.catalogue.refresh_to(&self.egress, heard.wanted).await;
        heard.announce(&news);
        upstream.catalogue.differs_from(&before)
    }

    /// Handles changes that were received on a link that serves one client at a time. Fetches the items of that
    /// client's class again; if they differ, all clients of the class are notified. If they do not differ, the
    /// client that has the link is notified nevertheless: the server may keep separate lists for each connection,
    /// and the known items may come from another connection.
    async fn changed_for_its_users(
        &self,
        upstream: &Upstream,
        link: &Arc<OpenLink>,
        heard: HeardChanges,
    ) -> bool {
        let before = upstream.catalogue.lists();
        // If several sessions reach the server, it notifies all of them. Their common lists must be fetched before any
        // of them is notified.
        if !link.heard_on().is_own_process {
            upstream.catalogue.refresh_to(&self.egress, heard.wanted).await;
        }
        let differs = self.learns_again(upstream, link).await;
        if differs {
            // If other links announce this change as well, their announcements are echoes: the clients of those links
            // were notified because of the difference.
            upstream.announced.news(&heard.lists, link.heard_on(), Instant::now());
        } else {
            let lists = upstream.announced.no_echoes(&heard.lists, link.heard_on(), Instant::now());
            heard.announce(&lists);
        }
        differs || upstream.catalogue.differs_from(&before)
    }

    /// Fetches the items again for the class to which the link's client belongs. Returns true if clients were
    /// notified of a difference.
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
