//! A client's session, in the eras that have sessions.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use config::Limits;
use engine::session::Asks;
use parking_lot::Mutex;
use proto::bridge::shape;
use proto::era::{ClientHello, Era};
use proto::mcp::Notice;
use proto::rpc::Frame;
use store::sessions::SessionKey;
use tokio::sync::mpsc;
use upstream::{Egress, Upstream};

use super::followed::Subscriptions;
use super::kept::KeptState;
use super::session_client::SessionClient;
use super::session_links::SessionLinks;
use super::task_ids::TaskOwner;
use crate::admission::client_label;
use crate::admission::identity::Identity;
use crate::session::open_requests::OpenRequests;
use crate::session::question_origin::QuestionOrigin;
use crate::session::sealer::StateSealer;
use crate::session::streams::Streams;
use crate::session::table::Evictable;
use crate::session::until::StayExpiry;
use crate::session::usage::Usage;
use crate::view::ViewContext;
use crate::view::view_cell::ViewCell;

/// The maximum number of questions that may wait for one client.
const MAX_ASKS: usize = 64;

/// The channel through which a session's client is reached.
pub enum ClientChannel {
    /// Event streams.
    Http(Streams),
    /// Lines on a single pipe.
    Pipe(mpsc::Sender<Bytes>),
}

/// One client's session.
pub struct Session {
    /// The id that the client sends with each request.
    pub id: Box<str>,
    /// The digest of the session's id, as hexadecimal digits, which traces contain instead of the id; set once a request
    /// of the session is traced.
    pub(crate) trace_digest: OnceLock<[u8; 16]>,
    /// The state that is stored for the next process; `None` if the session ends with its stream or pipe.
    pub(super) kept: Option<KeptState>,
    /// The number of the profile in the configuration.
    pub profile: usize,
    /// The caller that opened the session; no other caller may use it.
    pub identity: Identity,
    /// The time until which the session may stay open.
    pub(crate) until: StayExpiry,
    /// The data that the client sent about itself.
    pub client: SessionClient,
    /// The channel through which the client is reached.
    pub channel: ClientChannel,
    view: Mutex<Option<Arc<ViewCell>>>,
    pub(crate) links: SessionLinks,
    /// The open questions to the client.
    pub asks: Mutex<Asks<QuestionOrigin>>,
    /// The session's running requests.
    pub requests: OpenRequests,
    /// The resources and notices in which the client is interested.
    pub interests: ClientInterests,
    pub(super) tasks: TaskOwner,
    /// The times of the session's opening and last use.
    pub usage: Usage,
}

/// The messages that the client asked for.
#[derive(Default)]
pub struct ClientInterests {
    /// The log level, a JSON string.
    pub(super) level: Mutex<Option<Bytes>>,
    /// The resources that the client listens to.
    pub subscriptions: Subscriptions,
}

/// The data from which a new session is created.
pub(crate) struct NewSession {
    pub(crate) id: Box<str>,
    /// The key under which the session is stored for the next process, if it is stored.
    pub(crate) key: Option<SessionKey>,
    pub(crate) profile: usize,
    pub(crate) identity: Identity,
    pub(crate) era: &'static Era,
    pub(crate) hello: ClientHello,
    pub(crate) channel: ClientChannel,
}

impl Session {
    pub(crate) fn new(new_session: NewSession, limits: &Limits, sealer: Arc<StateSealer>) -> Arc<Self> {
        let NewSession { id, key, profile, mut identity, era, hello, channel } = new_session;
        let process = sealer.short_number();
        identity.client_label = hello.info.as_deref().and_then(client_label::program);
        Arc::new(Self {
            tasks: TaskOwner::new(&identity, &id, sealer),
            id,
            trace_digest: OnceLock::new(),
            kept: key.map(KeptState::new),
            profile,
            until: StayExpiry::of(&identity.principal),
            identity,
            client: SessionClient::new(era, hello),
            channel,
            view: Mutex::new(None),
            links: SessionLinks::default(),
            asks: Mutex::new(Asks::new(MAX_ASKS, limits.request_state_lifetime, process)),
            requests: OpenRequests::new(limits.calls_per_session),
            interests: ClientInterests::default(),
            usage: Usage::new(),
        })
    }

    /// Returns the key under which the session is stored; `None` if it ends with its connection.
    pub(crate) fn stored_key(&self) -> Option<SessionKey> {
        self.kept.as_ref().map(|kept| kept.key)
    }

    /// Returns the protocol version that the session's client uses.
    pub fn era(&self) -> &'static Era {
        self.client.key.era
    }

    /// Finds the session's view, and stores it. Until then, the session has no view.
    pub(crate) async fn find_view(self: &Arc<Self>, context: &Arc<ViewContext>) -> Arc<ViewCell> {
        let learner = |upstream: &Arc<Upstream>| self.learner(upstream);
        let cell = context
            .state
            .views
            .get(context, self.profile, self.client.class(), &self.identity, learner)
            .await;
        self.show(cell.clone());
        cell
    }

    /// Waits for servers in the session's view whose lists are unknown.
    pub(crate) async fn complete_view(self: &Arc<Self>, context: &Arc<ViewContext>, frame: &Frame) {
        if let Some(cell) = self.view() {
            cell.complete(context, frame).await;
        }
    }

    /// Returns the session's view, once it has been found.
    pub(crate) fn view(&self) -> Option<Arc<ViewCell>> {
        self.view.lock().clone()
    }

    /// Sets the session's view.
    pub(super) fn show(&self, view: Arc<ViewCell>) {
        *self.view.lock() = Some(view);
    }

    /// Returns true if the session's view was made under older rules than those of this number.
    pub(super) fn is_outdated(&self, regime: u64) -> bool {
        self.view.lock().as_ref().is_some_and(|view| view.regime < regime)
    }

    /// Sets the session's log level, and sends it to the open links.
    pub(crate) async fn set_level(&self, egress: &Egress, level: Bytes) {
        *self.interests.level.lock() = Some(level);
        for link in self.open_links().iter().filter(|link| self.needs_level(link)) {
            self.send_level(egress, link).await;
        }
    }

    /// Returns the log level that the client requested, a JSON string.
    pub(crate) fn level(&self) -> Option<Bytes> {
        self.interests.level.lock().clone()
    }

    /// Withdraws the questions of this origin, because the origin no longer awaits the answers.
    pub(crate) fn forget_questions(&self, origin: &QuestionOrigin) {
        let open = self.asks.lock().forget(origin);
        for id in open.into_iter().filter(|_| self.era().shapes.cancellation) {
            let params = format!("\"requestId\":{id}");
            self.send(proto::era::notice(Notice::Cancelled.name(), params.as_bytes()), true);
        }
    }

    /// Passes an upstream's message to the client, in the form of the client's era.
    pub(crate) fn hear(&self, era: &'static Era, message: &Frame, keep: bool) {
        if era == self.era() {
            return self.send(message.text().clone(), keep);
        }
        if let Some(text) = shape::notification(message, era, self.era()) {
            self.send(text, keep);
        }
    }

    /// Sends the client a message that belongs to no request. With `keep`, the message waits if the client is not
    /// listening at the moment.
    pub(crate) fn send(&self, message: Bytes, keep: bool) {
        match &self.channel {
            ClientChannel::Http(streams) => streams.push_standing(message, keep),
            ClientChannel::Pipe(lines) => {
                let _ = lines.try_send(message);
            }
        }
    }

    /// Returns true if messages that belong to no request reach the client immediately.
    pub(crate) fn is_listening(&self) -> bool {
        match &self.channel {
            ClientChannel::Http(streams) => streams.has_standing(),
            ClientChannel::Pipe(_) => true,
        }
    }

    /// Records that the session was used.
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
