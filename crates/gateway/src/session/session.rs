//! A client's session, in the eras that have them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use bytes::Bytes;
use engine::catalogue::UpstreamId;
use engine::config::{Affinity, Limits};
use engine::session::Asks;
use parking_lot::Mutex;
use proto::bridge::input::Askable;
use proto::bridge::shape;
use proto::era::{ClientHello, Era};
use proto::mcp::{Method, Notice};
use proto::rpc::Frame;
use store::sessions::SessionKey;
use tokio::sync::mpsc;
use transport::up::{LinkError, Owner};

use super::followed::Subscriptions;
use super::kept::KeptState;
use crate::admission::client_label;
use crate::admission::identity::Identity;
use crate::session::asker::Asker;
use crate::session::open_requests::OpenRequests;
use crate::session::sealer::StateSealer;
use crate::session::streams::Streams;
use crate::session::table::Evictable;
use crate::session::until::Until;
use crate::session::usage::Usage;
use crate::view::view_cell::ViewCell;
use crate::view::{ClientClass, ViewContext};
use upstream::catalogue::Learner;
use upstream::link::requests::request;
use upstream::link::{LinkUser, OpenLink};
use upstream::pool::LinkCell;
use upstream::{Egress, LinkKey, Upstream};

/// The number of questions that may wait for one client.
const MAX_ASKS: usize = 64;

/// The channel by which a session's client is reached.
pub(crate) enum Face {
    /// Event streams.
    Http(Streams),
    /// Lines on one pipe.
    Pipe(mpsc::Sender<Bytes>),
}

/// A link that a session uses.
pub(crate) struct Used {
    pub(crate) cell: Arc<LinkCell>,
    /// The tenancy of the link that the session has joined; a new one must first receive the session's state.
    pub(crate) joined: AtomicU64,
}

impl Used {
    /// Returns true if it is the session's own, but a shared link would do by now.
    fn needs_not_be_own(&self, upstream: &Upstream) -> bool {
        self.cell.is_own() && upstream.server.spec.affinity != Affinity::Session && !upstream.server.may_ask()
    }
}

/// One client's session.
pub(crate) struct Session {
    pub(crate) id: Box<str>,
    /// Its facts on disk; `None` if it ends with its stream or pipe.
    pub(super) kept: Option<KeptState>,
    pub(crate) profile: usize,
    /// The owner of messages that servers send about its calls.
    pub(crate) attribution: Owner,
    /// The caller that opened it; no other caller may use it.
    pub(crate) identity: Identity,
    /// Until when it may stay open.
    pub(crate) until: Until,
    /// The owner of its tasks: this session of that principal.
    owner: Box<str>,
    pub(crate) kind: LinkKey,
    pub(crate) face: Face,
    pub(super) params: Bytes,
    /// All of the client's capabilities, as it wrote them.
    pub(crate) capabilities: Bytes,
    /// The client's name and version, as it wrote them.
    pub(crate) client_info: Option<Bytes>,
    can_be_asked: bool,
    pub(crate) view: ArcSwapOption<ViewCell>,
    pub(crate) links: Mutex<HashMap<UpstreamId, Arc<Used>>>,
    /// Set while `links` is locked, and never cleared.
    pub(super) ended: AtomicBool,
    pub(crate) asks: Mutex<Asks<Asker>>,
    /// Its running requests.
    pub(crate) requests: OpenRequests,
    pub(super) level: Mutex<Option<Bytes>>,
    /// The resources that the client listens to.
    pub(crate) subscriptions: Subscriptions,
    pub(crate) usage: Usage,
    pub(crate) sealer: Arc<StateSealer>,
}

/// The input of a new session.
pub(crate) struct Birth {
    pub(crate) id: Box<str>,
    /// The number under which it is kept for the next process, if it is.
    pub(crate) key: Option<SessionKey>,
    pub(crate) profile: usize,
    pub(crate) identity: Identity,
    pub(crate) era: &'static Era,
    pub(crate) hello: ClientHello,
    pub(crate) face: Face,
}

impl Session {
    pub(crate) fn new(birth: Birth, limits: &Limits, sealer: Arc<StateSealer>) -> Arc<Self> {
        let Birth { id, key, profile, mut identity, era, hello, face } = birth;
        identity.program = hello.info.as_deref().and_then(client_label::program);
        let capabilities =
            if hello.can_be_asked { hello.capabilities.clone() } else { Bytes::from_static(b"{}") };
        Arc::new(Self {
            attribution: Owner::unique(),
            owner: format!("{}\0{id}", identity.id()).into(),
            id,
            kept: key.map(KeptState::new),
            profile,
            until: Until::of(&identity.principal),
            identity,
            kind: LinkKey { era, capabilities },
            face,
            client_info: hello.info,
            params: hello.params,
            capabilities: hello.capabilities,
            can_be_asked: hello.can_be_asked,
            view: ArcSwapOption::empty(),
            links: Mutex::default(),
            ended: AtomicBool::new(false),
            asks: Mutex::new(Asks::new(MAX_ASKS, limits.request_state_lifetime)),
            requests: OpenRequests::new(limits.calls_per_session),
            level: Mutex::default(),
            subscriptions: Subscriptions::default(),
            usage: Usage::new(),
            sealer,
        })
    }

    /// Finds the session's view; it is empty until then.
    pub(crate) async fn find_view(self: &Arc<Self>, context: &Arc<ViewContext>) -> Arc<ViewCell> {
        let learner = |upstream: &Arc<Upstream>| self.learner(upstream);
        let cell =
            context.state.views.get(context, self.profile, self.clients(), &self.identity, learner).await;
        self.view.store(Some(cell.clone()));
        cell
    }

    /// The class of clients that it belongs to.
    pub(crate) fn clients(&self) -> ClientClass {
        ClientClass::new(self.kind.era, Askable::of(self.kind.era, &self.kind.capabilities))
    }

    /// The way to learn what a server shows only to clients that can be asked: the link that its calls will need anyway, or a
    /// request that states its capabilities.
    fn learner(self: &Arc<Self>, upstream: &Arc<Upstream>) -> Option<Learner> {
        let cell = self.cell(upstream);
        let states_them = cell.is_own() || !upstream.server.link_era(self.kind.era).has_sessions();
        let (era, capabilities) = (self.kind.era, self.kind.capabilities.clone());
        states_them.then_some(Learner { cell, lease: None, capabilities, era })
    }

    /// Waits for servers of its view whose lists are unknown.
    pub(crate) async fn complete_view(self: &Arc<Self>, context: &Arc<ViewContext>, frame: &Frame) {
        if let Some(cell) = self.view() {
            cell.complete(context, frame).await;
        }
    }

    /// The session's view, once it was found.
    pub(crate) fn view(&self) -> Option<Arc<ViewCell>> {
        self.view.load_full()
    }

    /// The owner of its task ids: they mean nothing in other sessions.
    pub(crate) fn owner(&self) -> &str {
        &self.owner
    }

    /// The link over which this session reaches an upstream.
    pub(crate) fn cell(self: &Arc<Self>, upstream: &Arc<Upstream>) -> Arc<LinkCell> {
        self.used_link(upstream).cell.clone()
    }

    fn used_link(self: &Arc<Self>, upstream: &Arc<Upstream>) -> Arc<Used> {
        let mut links = self.links.lock();
        // Callers may be apart there by now.
        if links.get(&upstream.server.spec.id).is_some_and(|used| !used.cell.is_to(&upstream.server)) {
            links.remove(&upstream.server.spec.id);
        }
        let used = links.entry(upstream.server.spec.id).or_insert_with(|| {
            let own = match upstream.server.spec.affinity {
                Affinity::Session => true,
                Affinity::Shared | Affinity::Caller => self.can_be_asked && upstream.server.may_ask(),
            };
            let cell = if own {
                let holder = self.identity.holder();
                upstream.own_link(&self.kind, self.params.clone(), weak_user(self), holder)
            } else {
                upstream.shared_link(self.kind.era)
            };
            // Nobody would let go of what opens now.
            if own && self.ended.load(Ordering::Relaxed) {
                cell.retire();
            }
            Arc::new(Used { cell, joined: AtomicU64::new(0) })
        });
        used.clone()
    }

    /// Switches to the shared link.
    async fn share_link(&self, egress: &Egress, upstream: &Arc<Upstream>) -> Arc<Used> {
        let used = Arc::new(Used { cell: upstream.shared_link(self.kind.era), joined: AtomicU64::new(0) });
        let old = self.links.lock().insert(upstream.server.spec.id, used.clone());
        if let Some(old) = old.filter(|old| old.cell.is_own()) {
            old.cell.retire();
            old.cell.close(egress).await;
        }
        used
    }

    /// The link to an upstream, if it is open and knows this session.
    pub(crate) fn ready_link(&self, upstream: &Upstream) -> Option<Arc<OpenLink>> {
        let links = self.links.lock();
        let used = links.get(&upstream.server.spec.id).filter(|used| used.cell.is_to(&upstream.server))?;
        used.cell.current().filter(|link| used.joined.load(Ordering::Acquire) == link.tenancy())
    }

    /// The open link to an upstream, which knows this session's log level and subscriptions.
    pub(crate) async fn link(
        self: &Arc<Self>,
        egress: &Egress,
        upstream: &Arc<Upstream>,
    ) -> Result<Arc<OpenLink>, LinkError> {
        let mut used = self.used_link(upstream);
        let mut link = used.cell.get(egress).await?;
        if used.needs_not_be_own(upstream) {
            used = self.share_link(egress, upstream).await;
            link = used.cell.get(egress).await?;
        }
        let tenancy = link.tenancy();
        if used.joined.swap(tenancy, Ordering::AcqRel) != tenancy {
            link.add_user(&user(self));
            self.send_state(egress, &link).await;
        }
        Ok(link)
    }

    /// Sends a link that is new to this session the session's state. In eras without sessions, each request contains it.
    pub(crate) async fn send_state(&self, egress: &Egress, link: &Arc<OpenLink>) {
        if !link.era.has_sessions() || self.denies_server(link.server.spec.id) {
            return;
        }
        if self.needs_level(link) {
            self.send_level(egress, link).await;
        }
        let view = self.view().map(|cell| cell.view());
        for uri in self.subscriptions.taken() {
            if view.as_ref().and_then(|v| v.resource_owner(&uri)) == Some(link.server.spec.id) {
                let params = format!("\"uri\":{}", proto::json::quote(&uri));
                request(egress, link, Method::Subscribe, &params).await;
            }
        }
    }

    /// Sets the session's log level, and sends it to the open links.
    pub(crate) async fn set_level(&self, egress: &Egress, level: Bytes) {
        *self.level.lock() = Some(level);
        for link in self.open_links().iter().filter(|link| self.needs_level(link)) {
            self.send_level(egress, link).await;
        }
    }

    /// The log level that the client asked for, a JSON string.
    pub(crate) fn level(&self) -> Option<Bytes> {
        self.level.lock().clone()
    }

    /// Withdraws a call's questions whose answers are no longer awaited.
    pub(crate) fn forget_questions(&self, asker: &Asker) {
        let open = self.asks.lock().forget(asker);
        for id in open.into_iter().filter(|_| self.kind.era.shapes.cancellation) {
            let params = format!("\"requestId\":{id}");
            self.send(proto::era::notice(Notice::Cancelled.name(), params.as_bytes()), true);
        }
    }

    /// Passes an upstream's message to the client, in the client's era.
    pub(crate) fn hear(&self, era: &'static Era, message: &Frame, keep: bool) {
        if era == self.kind.era {
            return self.send(message.text().clone(), keep);
        }
        if let Some(text) = shape::notification(message, era, self.kind.era) {
            self.send(text, keep);
        }
    }

    /// Sends the client a message that belongs to no request. With `keep`, it waits for a client that does not listen
    /// now.
    pub(crate) fn send(&self, message: Bytes, keep: bool) {
        match &self.face {
            Face::Http(streams) => streams.push_standing(message, keep),
            Face::Pipe(lines) => {
                let _ = lines.try_send(message);
            }
        }
    }

    /// Sends a client's notification to every upstream whose link is this session's own. If `foreign`, a notification
    /// that the standard does not know, also over shared links that no other session uses: only there the sender is
    /// clear.
    pub(crate) fn broadcast(&self, egress: &Egress, message: &Frame, foreign: bool) {
        let open = self.open_links();
        let alone = |link: &OpenLink| {
            link.recipients.users().iter().all(|user| user.attribution() == self.attribution)
        };
        for link in open.iter().filter(|link| link.own || (foreign && alone(link))) {
            let said = if link.era == self.kind.era {
                Some(message.text().clone())
            } else {
                shape::client_notification(message, self.kind.era, link.era)
            };
            if let Some(text) = said {
                link.say(egress, text);
            }
        }
    }

    /// Its own links.
    pub(crate) fn own_cells(&self) -> Vec<Arc<LinkCell>> {
        let links = self.links.lock();
        links.values().filter(|used| used.cell.is_own()).map(|used| used.cell.clone()).collect()
    }

    /// Notes its use.
    pub(crate) fn touch(&self) {
        self.usage.touch();
        self.usage.note();
    }
}

impl Evictable for Session {
    fn age(&self) -> Duration {
        self.usage.age()
    }

    fn is_unused_for(&self, age: Duration) -> bool {
        self.usage.is_unused_for(age) && !self.requests.is_busy()
    }
}

/// A session in the form for links.
pub(crate) fn user(session: &Arc<Session>) -> Arc<dyn LinkUser> {
    session.clone()
}

/// The same, for owners that must not keep it open.
pub(crate) fn weak_user(session: &Arc<Session>) -> Weak<dyn LinkUser> {
    let user: Weak<Session> = Arc::downgrade(session);
    user
}
