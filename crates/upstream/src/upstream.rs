//! One server with all that hangs on it: its links, what it offers, what is listened to there. It must not know clients.

use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;
use proto::era::Era;

use crate::catalogue::Catalogue;
use crate::changes::Announced;
use crate::egress::Egress;
use crate::link::{LinkUser, OpenLink, Wire};
use crate::link_key::LinkKey;
use crate::pool::{LinkCell, Links};
use crate::quota::Holder;
use crate::server::Server;
use crate::subscriptions::topics::Listener;
use crate::subscriptions::{Listening, Topics, announcing, follower};

/// One configured upstream.
pub struct Upstream {
    /// The server itself.
    pub server: Arc<Server>,
    /// The links to it that are no session's own.
    pub links: Arc<Links>,
    /// Its lists, and who may see what of them.
    pub catalogue: Arc<Catalogue>,
    /// The resources that anybody listens to.
    pub topics: Arc<Topics>,
    /// The changes that it announced just now.
    pub(crate) announced: Announced,
}

impl Upstream {
    /// A server without links.
    pub fn new(server: Server) -> Arc<Self> {
        let server = Arc::new(server);
        Arc::new_cyclic(|own: &Weak<Self>| {
            let links = Arc::new(Links::new(server.clone(), own.clone()));
            let catalogue = Catalogue::new(server.clone(), Arc::downgrade(&links));
            Self { links, catalogue, topics: Arc::default(), announced: Announced::default(), server }
        })
    }

    /// Its configured name.
    pub fn name(&self) -> &Arc<str> {
        self.server.name()
    }

    /// The link that clients of this version share.
    pub fn shared_link(&self, client: &'static Era) -> Arc<LinkCell> {
        self.links.shared_link(client)
    }

    /// A link for one session alone; `params` are the client's own of `initialize`.
    pub fn own_link(
        &self,
        kind: &LinkKey,
        params: Bytes,
        session: Weak<dyn LinkUser>,
        holder: Holder,
    ) -> Arc<LinkCell> {
        self.links.own_link(kind, params, session, holder)
    }

    /// All links that are not some session's own.
    pub fn cells(&self) -> Vec<Arc<LinkCell>> {
        self.links.cells()
    }

    /// Listens to resources for somebody.
    pub fn listen(&self, egress: &Egress, listener: Listener) -> Listening {
        follower::listen(egress, &self.links, &self.topics, listener)
    }

    /// Returns true if a child that calls share has not been told what is listened to here.
    pub fn is_behind(&self, link: &OpenLink) -> bool {
        announcing::is_behind(&self.topics, link)
    }

    /// Tells a link what is listened to here; goes on beside the caller when that takes longer.
    pub async fn announce_topics(&self, egress: &Egress, link: &Arc<OpenLink>) {
        announcing::announce_topics(egress, &self.links, &self.topics, link).await;
    }

    /// Asks anew for what it offers, because it may now let us in, or no longer.
    pub fn ask_again(&self, egress: &Egress) {
        let (catalogue, egress) = (self.catalogue.clone(), egress.clone());
        tokio::spawn(async move { catalogue.fetch_again(&egress).await });
    }

    /// Lets go of links that nobody has used for so long; they open again when somebody needs them.
    pub fn rest_idle(&self, egress: &Egress, after: Duration) {
        self.links.rest_idle(egress, after, |asked, link| self.is_heard(egress, asked, link));
    }

    /// Returns true if somebody would hear no more of changes without this link, which clients share.
    fn is_heard(&self, egress: &Egress, asked: &'static Era, link: &OpenLink) -> bool {
        if self.topics.is_followed() {
            return true;
        }
        // A child that starts again is asked for its lists.
        let is_child = matches!(link.wire, Wire::Pipe(_));
        self.catalogue.is_heard_on(asked)
            && egress.audience().is_some_and(|audience| audience.listens(&self.server, !is_child))
    }

    /// Forgets its links and what it offered, once all of it is closed: they know it as well, and would keep it.
    pub fn forget_all(&self) {
        self.links.forget_all();
        self.catalogue.forget_all();
    }
}
