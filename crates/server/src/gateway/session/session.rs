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
use proto::bridge::shape;
use proto::era::{ClientHello, Era};
use proto::mcp::{Method, Notice};
use proto::rpc::Frame;
use tokio::sync::mpsc;
use transport::up::{LinkError, Owner};

use super::followed::Subscriptions;
use crate::gateway::admission::client_label;
use crate::gateway::admission::identity::Identity;
use crate::gateway::session::asker::Asker;
use crate::gateway::session::open_requests::OpenRequests;
use crate::gateway::session::sealer::StateSealer;
use crate::gateway::session::streams::Streams;
use crate::gateway::session::until::Until;
use crate::gateway::session::usage::Usage;
use crate::gateway::view::ViewContext;
use crate::gateway::view::view_cell::ViewCell;
use upstream::link::requests::request;
use upstream::link::{LinkUser, OpenLink};
use upstream::pool::LinkCell;
use upstream::{Egress, Kind, Upstream};

/// The number of questions that may wait for one client.
const MAX_ASKS: usize = 64;

/// How a session's client is reached.
pub(crate) enum Face {
    /// By event streams.
    Http(Streams),
    /// By lines on one pipe.
    Pipe(mpsc::Sender<Bytes>),
}

/// A link as one session uses it.
pub(crate) struct Used {
    pub(crate) cell: Arc<LinkCell>,
    /// The link that the session has joined; another one must first be told the session's state.
    pub(crate) joined: AtomicU64,
}

impl Used {
    /// Returns true if it is the session's own, opened before anybody knew better, and a shared one would be as good.
    fn needs_not_be_own(&self, upstream: &Upstream) -> bool {
        self.cell.is_own()
            && upstream.server.spec.affinity == Affinity::Auto
            && !upstream.server.may_ask_by_requests()
    }
}

/// One client's session.
pub(crate) struct Session {
    pub(crate) id: Box<str>,
    pub(crate) profile: usize,
    /// Whose what servers say is that belongs to its calls.
    pub(crate) attribution: Owner,
    /// Who opened it; nobody else may use it.
    pub(crate) identity: Identity,
    /// Until when it may stay open.
    pub(crate) until: Until,
    /// Whose its tasks are: this session's of that principal.
    owner: Box<str>,
    pub(crate) kind: Kind,
    pub(crate) face: Face,
    params: Bytes,
    /// All of the client's capabilities, as it wrote them.
    pub(crate) capabilities: Bytes,
    /// The client's name and version, as it wrote them.
    pub(crate) client_info: Option<Bytes>,
    can_be_asked: bool,
    pub(crate) view: ArcSwapOption<ViewCell>,
    pub(crate) links: Mutex<HashMap<UpstreamId, Arc<Used>>>,
    /// Raised while `links` is locked, and never lowered.
    pub(super) ended: AtomicBool,
    pub(crate) asks: Mutex<Asks<Asker>>,
    /// Its requests that are open.
    pub(crate) requests: OpenRequests,
    level: Mutex<Option<Bytes>>,
    /// What the client listens to.
    pub(crate) subscriptions: Subscriptions,
    pub(crate) usage: Usage,
    pub(crate) sealer: Arc<StateSealer>,
}

/// What a session begins with.
pub(crate) struct Birth {
    pub(crate) id: Box<str>,
    pub(crate) profile: usize,
    pub(crate) identity: Identity,
    pub(crate) era: &'static Era,
    pub(crate) hello: ClientHello,
    pub(crate) face: Face,
}

impl Session {
    pub(crate) fn new(birth: Birth, limits: &Limits, sealer: Arc<StateSealer>) -> Arc<Self> {
        let Birth { id, profile, mut identity, era, hello, face } = birth;
        identity.program = hello.info.as_deref().and_then(client_label::program);
        let capabilities =
            if hello.can_be_asked { hello.capabilities.clone() } else { Bytes::from_static(b"{}") };
        Arc::new(Self {
            attribution: Owner::unique(),
            owner: format!("{}\0{id}", identity.id()).into(),
            id,
            profile,
            until: Until::of(&identity.principal),
            identity,
            kind: Kind { era, capabilities },
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
        let link = |upstream: &Arc<Upstream>| self.list_link(&context.egress.snapshot, upstream);
        let cell = context.state.views.get(context, self.profile, &self.kind, &self.identity, link).await;
        self.view.store(Some(cell.clone()));
        cell
    }

    /// Waits for servers of its view of which nothing is known yet.
    pub(crate) async fn complete_view(self: &Arc<Self>, context: &Arc<ViewContext>, frame: &Frame) {
        if let Some(cell) = self.view() {
            cell.complete(context, frame, |upstream| self.cell(upstream)).await;
        }
    }

    /// The session's view, once it was found.
    pub(crate) fn view(&self) -> Option<Arc<ViewCell>> {
        self.view.load_full()
    }

    /// To whom the ids of its tasks are bound: nobody else's session knows what they stand for.
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
                Affinity::Shared => false,
                Affinity::Session => true,
                Affinity::Auto => self.can_be_asked && upstream.server.may_ask_by_requests(),
            };
            let cell = if own {
                upstream.own_link(&self.kind, self.params.clone(), weak_user(self))
            } else {
                upstream.shared_link(&self.kind)
            };
            // Nobody would let go of what opens now.
            if own && self.ended.load(Ordering::Relaxed) {
                cell.retire();
            }
            Arc::new(Used { cell, joined: AtomicU64::new(0) })
        });
        used.clone()
    }

    /// Goes over to the shared link.
    async fn share_link(&self, egress: &Egress, upstream: &Arc<Upstream>) -> Arc<Used> {
        let used = Arc::new(Used { cell: upstream.shared_link(&self.kind), joined: AtomicU64::new(0) });
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
        used.cell.current().filter(|link| used.joined.load(Ordering::Acquire) == link.id)
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
        if used.joined.swap(link.id, Ordering::AcqRel) != link.id {
            link.add_user(&user(self));
            self.tell_state(egress, &link).await;
        }
        Ok(link)
    }

    /// Tells a link that is new to this session what the session has asked for before. Where there are no sessions, each
    /// request says it.
    pub(crate) async fn tell_state(&self, egress: &Egress, link: &Arc<OpenLink>) {
        if !link.era.has_sessions() || self.shuts(link.server.spec.id) {
            return;
        }
        if self.needs_level(link) {
            self.tell_level(egress, link).await;
        }
        let view = self.view().map(|cell| cell.view());
        for uri in self.subscriptions.taken() {
            if view.as_ref().and_then(|v| v.resource_owner(&uri)) == Some(link.server.spec.id) {
                let params = format!("\"uri\":{}", proto::json::quote(&uri));
                request(egress, link, Method::Subscribe, &params).await;
            }
        }
    }

    /// Keeps the session's log level, and tells the links that are open.
    pub(crate) async fn set_level(&self, egress: &Egress, level: Bytes) {
        *self.level.lock() = Some(level);
        for link in self.open_links().iter().filter(|link| self.needs_level(link)) {
            self.tell_level(egress, link).await;
        }
    }

    /// The log level that the client asked for, a JSON string.
    pub(crate) fn level(&self) -> Option<Bytes> {
        self.level.lock().clone()
    }

    /// Takes back the questions that a call put whose answers nobody waits for any more.
    pub(crate) fn forget_questions(&self, asker: &Asker) {
        let open = self.asks.lock().forget(asker);
        for id in open.into_iter().filter(|_| self.kind.era.shapes.cancellation) {
            let params = format!("\"requestId\":{id}");
            self.tell(proto::era::notice(Notice::Cancelled.name(), params.as_bytes()), true);
        }
    }

    /// Tells the client what an upstream of this era says, in the words of the client's era.
    pub(crate) fn hear(&self, era: &'static Era, message: &Frame, keep: bool) {
        if era == self.kind.era {
            return self.tell(message.text().clone(), keep);
        }
        if let Some(text) = shape::notification(message, era, self.kind.era) {
            self.tell(text, keep);
        }
    }

    /// Says something to the client that belongs to no request. `keep` lets it wait for a client that does not listen.
    pub(crate) fn tell(&self, message: Bytes, keep: bool) {
        match &self.face {
            Face::Http(streams) => streams.push_standing(message, keep),
            Face::Pipe(lines) => {
                let _ = lines.try_send(message);
            }
        }
    }

    /// Sends a client's notification to every upstream whose link is this session's own; `foreign`, one that the
    /// standard does not know, also over shared links that no other session uses: only there it is clear who speaks.
    pub(crate) fn broadcast(&self, egress: &Egress, message: &Frame, foreign: bool) {
        let open = self.open_links();
        let alone = |link: &OpenLink| link.users().iter().all(|user| user.attribution() == self.attribution);
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

    /// The links that are its own.
    pub(crate) fn own_cells(&self) -> Vec<Arc<LinkCell>> {
        let links = self.links.lock();
        links.values().filter(|used| used.cell.is_own()).map(|used| used.cell.clone()).collect()
    }

    /// Notes that it is used.
    pub(crate) fn touch(&self) {
        self.usage.touch();
        self.usage.note();
    }

    /// Returns true if it is so old and was never used: no stream, no request, nothing but the introduction.
    pub(crate) fn is_unused_for(&self, age: Duration) -> bool {
        self.usage.is_unused_for(age) && !self.requests.is_busy()
    }
}

/// A session as links know it.
pub(crate) fn user(session: &Arc<Session>) -> Arc<dyn LinkUser> {
    session.clone()
}

/// The same, for whoever must not keep it open.
pub(crate) fn weak_user(session: &Arc<Session>) -> Weak<dyn LinkUser> {
    let user: Weak<Session> = Arc::downgrade(session);
    user
}
