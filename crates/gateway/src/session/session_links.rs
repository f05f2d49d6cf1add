//! The links to servers that a session uses. This module must not know what is sent over them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use config::Affinity;
use engine::catalogue::UpstreamId;
use parking_lot::Mutex;
use proto::bridge::shape;
use proto::mcp::Method;
use proto::rpc::Frame;
use transport::up::{LinkError, Owner};
use upstream::catalogue::Learner;
use upstream::link::requests::request;
use upstream::link::{LinkUser, OpenLink};
use upstream::pool::LinkCell;
use upstream::{Egress, Upstream};

use super::session::Session;

/// The links of one session.
pub(crate) struct SessionLinks {
    /// The owner of messages that servers send about the session's calls.
    pub(crate) attribution: Owner,
    pub(super) used: Mutex<BTreeMap<UpstreamId, Arc<UsedLink>>>,
    /// True once the session has ended; it is set while `used` is locked, and never cleared.
    pub(super) has_ended: AtomicBool,
}

impl Default for SessionLinks {
    fn default() -> Self {
        Self { attribution: Owner::unique(), used: Mutex::default(), has_ended: AtomicBool::new(false) }
    }
}

/// A link that a session uses.
pub(crate) struct UsedLink {
    pub(crate) cell: Arc<LinkCell>,
    /// The tenancy of the link that the session has joined. A link with a new tenancy must first receive the
    /// session's state.
    pub(crate) joined: AtomicU64,
}

impl UsedLink {
    /// Returns true if the link belongs to this session alone, although a shared link is sufficient by now.
    fn needs_not_be_own(&self, upstream: &Upstream) -> bool {
        self.cell.is_own() && upstream.server.spec.affinity != Affinity::Session && !upstream.server.may_ask()
    }
}

impl UsedLink {
    /// Returns true if the session can continue over the shared link when no other link is available, because
    /// servers can ask its client only for the client's roots.
    fn can_do_without(&self, session: &Session, upstream: &Upstream) -> bool {
        self.cell.is_own()
            && upstream.server.spec.affinity != Affinity::Session
            && session.client.class().askable.is_roots_alone()
    }
}

impl Session {
    /// Returns the link over which this session reaches an upstream.
    pub(crate) fn cell(self: &Arc<Self>, upstream: &Arc<Upstream>) -> Arc<LinkCell> {
        self.used_link(upstream).cell.clone()
    }

    fn used_link(self: &Arc<Self>, upstream: &Arc<Upstream>) -> Arc<UsedLink> {
        let mut links = self.links.used.lock();
        // The server may have become a per-caller server by now.
        if links.get(&upstream.server.spec.id).is_some_and(|used| !used.cell.is_to(&upstream.server)) {
            links.remove(&upstream.server.spec.id);
        }
        let used = links.entry(upstream.server.spec.id).or_insert_with(|| {
            let own = match upstream.server.spec.affinity {
                Affinity::Session => true,
                Affinity::Shared | Affinity::Caller => {
                    self.client.can_be_asked && upstream.server.may_ask() && !upstream.server.spec.is_single()
                }
            };
            let cell = if own {
                let holder = self.identity.holder();
                upstream.own_link(&self.client.key, self.client.params.clone(), weak_user(self), holder)
            } else {
                upstream.shared_link(self.era())
            };
            // The session has ended, so nobody would release a link that is opened now.
            if own && self.links.has_ended.load(Ordering::Relaxed) {
                cell.retire();
            }
            Arc::new(UsedLink { cell, joined: AtomicU64::new(0) })
        });
        used.clone()
    }

    /// Switches to the shared link.
    async fn share_link(&self, egress: &Egress, upstream: &Arc<Upstream>) -> Arc<UsedLink> {
        let used = Arc::new(UsedLink { cell: upstream.shared_link(self.era()), joined: AtomicU64::new(0) });
        let old = self.links.used.lock().insert(upstream.server.spec.id, used.clone());
        if let Some(old) = old.filter(|old| old.cell.is_own()) {
            old.cell.retire();
            old.cell.close(egress).await;
        }
        used
    }

    /// Returns the link to an upstream, if it is open and this session has joined it.
    pub(crate) fn ready_link(&self, upstream: &Upstream) -> Option<Arc<OpenLink>> {
        let links = self.links.used.lock();
        let used = links.get(&upstream.server.spec.id).filter(|used| used.cell.is_to(&upstream.server))?;
        used.cell.current().filter(|link| used.joined.load(Ordering::Acquire) == link.tenancy())
    }

    /// Returns the open link to an upstream, once the upstream has received this session's log level and subscriptions.
    pub(crate) async fn link(
        self: &Arc<Self>,
        egress: &Egress,
        upstream: &Arc<Upstream>,
    ) -> Result<Arc<OpenLink>, LinkError> {
        let mut used = self.used_link(upstream);
        let opened = used.cell.get(egress).await;
        let mut link = match opened {
            Err(LinkError::Busy(_)) if used.can_do_without(self, upstream) => {
                upstream.links.dedicated.tell_without_roots();
                used = self.share_link(egress, upstream).await;
                used.cell.get(egress).await?
            }
            opened => opened?,
        };
        if used.needs_not_be_own(upstream) {
            used = self.share_link(egress, upstream).await;
            link = used.cell.get(egress).await?;
        }
        // Concurrent calls wait as well, because none of them has joined the link yet. A client that is not listening now
        // receives a question only on the stream of a call that has been sent.
        if self.is_listening() && link.settle_roots(self.client.class().askable).await {
            upstream.catalogue.save();
        }
        let tenancy = link.tenancy();
        if used.joined.swap(tenancy, Ordering::AcqRel) != tenancy {
            link.add_user(&user(self));
            self.send_state(egress, &link).await;
        }
        Ok(link)
    }

    /// Sends the session's state over a link that is new to this session. In eras without sessions, each request
    /// contains the state.
    pub(crate) async fn send_state(&self, egress: &Egress, link: &Arc<OpenLink>) {
        if !link.era.has_sessions() || self.denies_server(link.server.spec.id) {
            return;
        }
        if self.needs_level(link) {
            self.send_level(egress, link).await;
        }
        let view = self.view().map(|cell| cell.view());
        for (uri, own) in self.interests.subscriptions.taken(link.server.spec.id) {
            if view.as_ref().and_then(|v| v.resource_owner(&uri)) == Some(link.server.spec.id) {
                let params = format!("\"uri\":{}", proto::json::quote(&own));
                request(egress, link, Method::Subscribe, &params).await;
            }
        }
    }

    /// Returns the link over which to fetch the items that a server shows only to clients that can answer its
    /// questions. This is the link that the session's calls will need anyway, or a link on which each request
    /// declares the client's capabilities.
    pub(super) fn learner(self: &Arc<Self>, upstream: &Arc<Upstream>) -> Option<Learner> {
        let cell = self.cell(upstream);
        let states_them = cell.is_own() || !upstream.server.link_era(self.era()).has_sessions();
        let (era, capabilities) = (self.era(), self.client.key.capabilities.clone());
        states_them.then_some(Learner { cell, dedicated: None, capabilities, era })
    }

    /// Sends a client's notification to every upstream whose link belongs to this session alone. A `foreign`
    /// notification, which is not part of the standard, is also sent over shared links that no other session uses.
    /// On other shared links, the server could not tell which client sent the notification.
    pub(crate) fn broadcast(&self, egress: &Egress, message: &Frame, foreign: bool) {
        let open = self.open_links();
        let alone = |link: &OpenLink| {
            link.recipients.users().iter().all(|user| user.attribution() == self.links.attribution)
        };
        for link in open.iter().filter(|link| link.own || (foreign && alone(link))) {
            let said = if link.era == self.era() {
                Some(message.text().clone())
            } else {
                shape::client_notification(message, self.era(), link.era)
            };
            if let Some(text) = said {
                link.enqueue(egress, text);
            }
        }
    }

    /// Returns the session's dedicated links.
    pub fn own_cells(&self) -> Vec<Arc<LinkCell>> {
        let links = self.links.used.lock();
        links.values().filter(|used| used.cell.is_own()).map(|used| used.cell.clone()).collect()
    }
}

/// Returns a session in the form that links use.
pub(crate) fn user(session: &Arc<Session>) -> Arc<dyn LinkUser> {
    session.clone()
}

/// Returns a session in the form that links use, for owners that must not keep it alive.
pub(crate) fn weak_user(session: &Arc<Session>) -> Weak<dyn LinkUser> {
    let user: Weak<Session> = Arc::downgrade(session);
    user
}
