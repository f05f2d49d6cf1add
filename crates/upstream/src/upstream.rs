//! One server with all that hangs on it: its links, what it offers, what is listened to there. It must not know clients.

use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;

use crate::catalogue::{OfferCell, Offers};
use crate::egress::Egress;
use crate::hearing;
use crate::link::{LinkUser, OpenLink, Wire};
use crate::pool::link_cell::OpenedLink;
use crate::pool::{LinkCell, LinkListener, Links};
use crate::server::{Kind, Server};
use crate::subscriptions::topics::Listener;
use crate::subscriptions::{Listening, Topics, follower, telling};

/// One configured upstream.
pub struct Upstream {
    /// The server itself.
    pub server: Arc<Server>,
    /// The links to it that are no session's own.
    pub links: Arc<Links>,
    /// What it offers to which kind of client.
    pub offers: Arc<Offers>,
    /// The resources that anybody listens to.
    pub topics: Arc<Topics>,
}

impl Upstream {
    /// A server without links.
    pub fn new(server: Server) -> Arc<Self> {
        let server = Arc::new(server);
        Arc::new_cyclic(|own: &Weak<Self>| Self {
            links: Arc::new(Links::new(server.clone(), own.clone())),
            offers: Offers::new(server.clone()),
            topics: Arc::default(),
            server,
        })
    }

    /// Its configured name.
    pub fn name(&self) -> &Arc<str> {
        self.server.name()
    }

    /// What it offers to clients of this kind.
    pub fn offer(&self, kind: &Kind) -> Arc<OfferCell> {
        self.offers.offer(kind)
    }

    /// The link that clients of this kind share.
    pub fn shared_link(&self, kind: &Kind) -> Arc<LinkCell> {
        self.links.shared_link(kind)
    }

    /// A link for one session alone; `params` are the client's own of `initialize`.
    pub fn own_link(&self, kind: &Kind, params: Bytes, session: Weak<dyn LinkUser>) -> Arc<LinkCell> {
        let link = self.links.own_link(kind, params, session);
        if let Some(offer) = self.offers.known_offer(kind) {
            offer.note_link(&link);
        }
        link
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
        telling::is_behind(&self.topics, link)
    }

    /// Tells a link what is listened to here; goes on beside the caller when that takes longer.
    pub async fn tell_also(&self, egress: &Egress, link: &Arc<OpenLink>) {
        telling::tell_also(egress, &self.links, &self.topics, link).await;
    }

    /// Asks anew for what it offers, because it may now let us in, or no longer.
    pub fn ask_again(&self, egress: &Egress) {
        for (kind, offer) in self.offers.all() {
            let link = offer.last_link().unwrap_or_else(|| self.shared_link(&kind));
            let egress = egress.clone();
            tokio::spawn(async move { offer.fetch_again(&egress, link).await });
        }
    }

    /// The offers that may have grown old without anybody saying so, with the link to ask over.
    pub fn old_offers(&self) -> Vec<(Arc<OfferCell>, Arc<LinkCell>)> {
        // A child that rests has not changed.
        let can_be_asked = |link: &Arc<LinkCell>| self.server.over_http() || link.current().is_some();
        let asked = |(kind, offer): (Kind, Arc<OfferCell>)| {
            let link = self.links.known_shared_link(&kind).or_else(|| offer.last_link());
            Some((offer, link.filter(can_be_asked)?))
        };
        self.offers.all().into_iter().filter(|(_, offer)| offer.is_old()).filter_map(asked).collect()
    }

    /// Lets go of links that nobody has used for so long; they open again when somebody needs them.
    pub fn rest_idle(&self, egress: &Egress, after: Duration) {
        self.links.rest_idle(egress, after, |kind, link| self.is_heard(egress, kind, link));
    }

    /// Returns true if somebody would hear no more of changes without the link that clients of a kind share.
    fn is_heard(&self, egress: &Egress, kind: &Kind, link: &OpenLink) -> bool {
        if self.topics.is_followed() {
            return true;
        }
        let kinds = self.offers.kinds_beside(kind);
        // A child that starts again is asked for its lists.
        let is_child = matches!(link.wire, Wire::Pipe(_));
        egress.audience().is_some_and(|audience| audience.listens(&self.server, &kinds, !is_child))
    }

    /// Forgets its links and what it offered, once all of it is closed: they know it as well, and would keep it.
    pub fn forget_all(&self) {
        self.links.forget_all();
        self.offers.forget_all();
    }
}

impl LinkListener for Upstream {
    fn opened(self: Arc<Self>, egress: &Egress, opened: OpenedLink<'_>) {
        let OpenedLink { link, cell, seen_as, was_gone, users } = opened;
        hearing::start(egress, &self, link, &seen_as, cell);
        for user in users {
            user.rejoin(egress, self.server.spec.id);
        }
        // A server that was gone may have come back with other lists, or as another.
        let offer = self.offer(&seen_as);
        if was_gone || offer.is_of_another_era(link.era) {
            let (egress, link) = (egress.clone(), link.clone());
            tokio::spawn(async move { offer.refresh(&egress, &link).await });
        }
    }
}
