//! One server with everything that depends on it: its links, its catalogue, its subscriptions. This module must not
//! know clients.

use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;
use proto::era::Era;
use tokio::task::JoinSet;

use crate::catalogue::Catalogue;
use crate::changes::Announced;
use crate::definitions::DefinitionStore;
use crate::egress::Egress;
use crate::link::{LinkUser, OpenLink, Wire};
use crate::link_key::LinkKey;
use crate::pool::{LinkCell, Links};
use crate::quota::Holder;
use crate::server::Server;
use crate::subscriptions::topics::Listener;
use crate::subscriptions::{ListenerGuard, Topics, announcing, follower};

/// One configured upstream.
pub struct Upstream {
    /// The server itself.
    pub server: Arc<Server>,
    /// The links to the server that belong to no session.
    pub links: Arc<Links>,
    /// The server's lists, and the rules for who may see them.
    pub catalogue: Arc<Catalogue>,
    /// The resources that clients listen to.
    pub topics: Arc<Topics>,
    /// The changes that the server announced a short time ago.
    pub(crate) announced: Announced,
}

impl Upstream {
    /// Creates an upstream without links.
    pub fn new(server: Server) -> Arc<Self> {
        Self::beside(server, None)
    }

    /// Creates the upstream of one caller, whose links count toward the same limit as those of all other callers.
    pub(crate) fn of_caller(server: Server, common: &Self) -> Arc<Self> {
        Self::beside(server, Some(common))
    }

    fn beside(server: Server, common: Option<&Self>) -> Arc<Self> {
        let server = Arc::new(server);
        Arc::new_cyclic(|own: &Weak<Self>| {
            let common = common.map(|common| &*common.links);
            let links = Arc::new(Links::new(server.clone(), own.clone(), common));
            let catalogue = Catalogue::new(server.clone(), Arc::downgrade(&links));
            Self { links, catalogue, topics: Arc::default(), announced: Announced::default(), server }
        })
    }

    /// Reads the stored record of the server's definitions, and stores every change from now on.
    ///
    /// # Errors
    /// Returns the reason why the record cannot be read.
    pub fn record_definitions(&self, store: &Arc<dyn DefinitionStore>) -> Result<(), String> {
        self.server.definitions.open(store, &self.server.spec)
    }

    /// Returns the server's configured name.
    pub fn name(&self) -> &Arc<str> {
        self.server.name()
    }

    /// Returns the link that clients of this version share.
    pub fn shared_link(&self, client: &'static Era) -> Arc<LinkCell> {
        self.links.shared_link(client)
    }

    /// Returns a link for one session; `params` are the params of the client's `initialize`.
    pub fn own_link(
        &self,
        kind: &LinkKey,
        params: Bytes,
        session: Weak<dyn LinkUser>,
        holder: Holder,
    ) -> Arc<LinkCell> {
        self.links.own_link(kind, params, session, holder)
    }

    /// Returns all links that belong to no session.
    pub fn cells(&self) -> Vec<Arc<LinkCell>> {
        self.links.cells()
    }

    /// Adds a listener for resources.
    pub fn listen(&self, egress: &Egress, listener: Listener) -> ListenerGuard {
        follower::listen(egress, &self.links, &self.topics, listener)
    }

    /// Returns true if a shared child has not received all subscriptions yet.
    pub fn is_behind(&self, link: &OpenLink) -> bool {
        announcing::is_behind(&self.topics, link)
    }

    /// Sends the subscriptions on a link; continues in the background if this takes longer than a moment.
    pub async fn announce_topics(&self, egress: &Egress, link: &Arc<OpenLink>) {
        announcing::announce_topics(egress, &self.links, &self.topics, link).await;
    }

    /// Fetches the server's lists again, because the server may now accept the gateway, or may have stopped accepting
    /// it.
    pub fn ask_again(&self, egress: &Egress) {
        let (catalogue, egress) = (self.catalogue.clone(), egress.clone());
        transport::task::spawn(async move { catalogue.fetch_again(&egress).await });
    }

    /// Closes all links, which ends the server's processes, and fetches the lists again over new links.
    pub async fn restart(&self, egress: &Egress) {
        let mut closing = JoinSet::new();
        for cell in self.cells() {
            let egress = egress.clone();
            closing.spawn(transport::task::boxed(async move { cell.close(&egress).await }));
        }
        while closing.join_next().await.is_some() {}
        self.catalogue.fetch_again(egress).await;
    }

    /// Closes links that have not been used for the time `after`; they are opened again on demand.
    pub fn rest_idle(&self, egress: &Egress, after: Duration) {
        self.links.rest_idle(egress, after, |asked, link| self.is_heard(egress, asked, link));
    }

    /// Returns true if clients need this shared link to be notified of changes.
    fn is_heard(&self, egress: &Egress, asked: &'static Era, link: &OpenLink) -> bool {
        if self.topics.is_followed() {
            return true;
        }
        // If a child is started again, its lists are fetched again.
        let is_child = matches!(link.wire, Wire::Pipe(_));
        self.catalogue.is_heard_on(asked)
            && egress.audience().is_some_and(|audience| audience.listens(&self.server, !is_child))
    }

    /// Forgets the links and the catalogue once all links are closed. Otherwise, the links and the catalogue would
    /// keep each other in memory.
    pub fn forget_all(&self) {
        self.links.forget_all();
        self.catalogue.forget_all();
    }
}
