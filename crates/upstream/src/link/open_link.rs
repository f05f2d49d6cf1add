//! An open link to an upstream over any transport, and its users.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use engine::catalogue::declares;
use proto::bridge::input::Askable;
use proto::era::{Era, ServerHello};
use proto::mcp::Method;
use proto::rpc::Frame;
use transport::net::Stop;
use transport::net::client::Client;
use transport::up::{LinkError, OpenCalls, Owner};

use super::activity::LinkActivity;
use super::announced::AnnouncedState;
use super::outbox::Outbox;
use super::probe::LinkProbe;
use super::recipients::LinkRecipients;
use super::roots::{self, RootsQuestion};
use super::user::LinkUser;
use crate::changes::HeardOn;
use crate::negotiation::wire::Wire;
use crate::server::Server;

/// One open link.
pub struct OpenLink {
    /// The link's number, unique in the process.
    pub id: u64,
    pub(crate) tenancy: LinkTenancy,
    /// The server to which the link leads.
    pub server: Arc<Server>,
    /// The era in use.
    pub era: &'static Era,
    /// The link's transport.
    pub wire: Wire,
    /// The upstream's introduction.
    pub hello: ServerHello,
    /// True if the link serves only one client session at a time, so the upstream may ask that client.
    pub own: bool,
    /// The receivers of the upstream's messages.
    pub recipients: LinkRecipients,
    /// The calls that the upstream has not answered yet, with their owners.
    pub calls: Arc<OpenCalls>,
    /// The state that was sent to the upstream on this link.
    pub announced: AnnouncedState,
    /// The server's question for the roots of its client.
    pub roots: RootsQuestion,
    pub(super) outbox: Outbox,
    pub(super) probe: LinkProbe,
    /// The link's use over time.
    pub activity: LinkActivity,
    /// Raised when the link is lost.
    pub dead: Stop,
}

/// The link's number in its pool, and the number of its current tenancy.
pub(crate) struct LinkTenancy {
    /// The link's number in the pool of dedicated links; 0 if it belongs to no pool.
    pub(crate) slot: AtomicU64,
    /// The number of the current tenancy. It changes each time the link is handed to another owner, so that the
    /// link's users notice the new owner.
    number: AtomicU64,
}

/// The maximum time for an upstream to accept a message that needs no answer.
const NOTICE_TIME: Duration = Duration::from_secs(10);

/// The error for a server whose question is refused because nobody can tell which client the question is for.
pub const DOUBTFUL: &str = "an abandoned call of another client may have caused this question";

static NEXT_LINK: AtomicU64 = AtomicU64::new(1);

impl OpenLink {
    /// Creates a link that has just been opened; `own` is true if it serves only one client session at a time.
    pub fn new(server: Arc<Server>, wire: Wire, hello: ServerHello, own: bool) -> Self {
        let id = NEXT_LINK.fetch_add(1, Ordering::Relaxed);
        let calls = match wire.calls() {
            Some(calls) => calls.clone(),
            None => OpenCalls::new(server.spec.calls.longest()),
        };
        let keeps_level = hello.era.knows(Method::SetLevel) && declares(&hello.capabilities, "logging", None);
        Self {
            id,
            tenancy: LinkTenancy { slot: AtomicU64::new(0), number: AtomicU64::new(id) },
            server,
            era: hello.era,
            wire,
            hello,
            own,
            recipients: LinkRecipients::default(),
            calls,
            announced: AnnouncedState::new(keeps_level),
            roots: RootsQuestion::default(),
            outbox: Outbox::default(),
            probe: LinkProbe::default(),
            activity: LinkActivity::new(Instant::now()),
            dead: Stop::new(),
        }
    }

    /// Returns the identity of the link, for announcements that are received on it.
    pub fn heard_on(&self) -> HeardOn {
        let is_own_process = self.own && matches!(self.wire, Wire::Pipe(_));
        HeardOn { id: self.id, opened: self.activity.opened(), is_own_process }
    }

    /// Sends a notification, or an answer to a server's question.
    pub async fn notify(&self, client: &Client, text: Bytes) -> Result<(), LinkError> {
        let late = |_| LinkError::Late(NOTICE_TIME.as_secs());
        tokio::time::timeout(NOTICE_TIME, self.wire.notify(client, text)).await.map_err(late)?
    }

    /// Returns true if requests on this link are cancelled by a notification; otherwise, a request is cancelled by
    /// closing its stream.
    pub fn hears_cancellation(&self) -> bool {
        match &self.wire {
            Wire::Http(_) => !self.era.disconnect_cancels,
            Wire::Pipe(_) | Wire::Sse(_) => self.era.shapes.cancellation,
            Wire::Native(_) => false,
        }
    }

    /// Returns true if the link can still be used.
    pub fn is_alive(&self) -> bool {
        !self.dead.is_stopped() && !self.wire.is_closed()
    }

    /// Returns the description of how the child ended; `None` as long as it runs.
    pub fn why_gone(&self) -> Option<String> {
        self.wire.why_closed().map(|why| why.to_string())
    }

    /// Returns true if a session, a call or a task is using the link.
    pub fn is_used(&self) -> bool {
        self.activity.is_needed() || !self.recipients.users().is_empty()
    }

    /// Returns true if the link has ever been used.
    pub fn was_used(&self) -> bool {
        self.activity.carried_calls() || self.is_used()
    }

    /// Marks the link as lost; the next user opens another link.
    pub fn bury(&self) {
        self.dead.stop();
    }

    /// Closes the link in an orderly way.
    pub async fn close(&self, client: &Client) {
        self.bury();
        self.wire.close(client).await;
    }

    /// Returns the number of the current tenancy. A user that remembers another number has to send its state to
    /// the server again.
    pub fn tenancy(&self) -> u64 {
        self.tenancy.number.load(Ordering::Acquire)
    }

    /// Forgets the link's owner: later messages from the server are not for that owner.
    pub fn hand_over(&self) {
        self.recipients.clear();
        self.tenancy.number.store(NEXT_LINK.fetch_add(1, Ordering::Relaxed), Ordering::Release);
    }

    /// Returns true if a question of the server may belong to a call that another owner has abandoned.
    pub fn is_in_doubt(&self) -> bool {
        self.recipients.turn().is_some_and(|owner| self.calls.has_others(owner))
    }

    /// Returns the session that owns a message.
    pub fn session_of(&self, owner: Option<Owner>) -> Option<Arc<dyn LinkUser>> {
        let mut users = self.recipients.users().into_iter();
        if self.own { users.next() } else { users.find(|user| Some(user.attribution()) == owner) }
    }

    /// Records that the server asks for the roots; returns true if the server was known not to ask.
    pub fn note_roots_question(&self) -> bool {
        self.roots.asked();
        // A later question belongs to a call.
        self.activity.opened().elapsed() < roots::PATIENCE && self.server.roots.forget_silence()
    }

    /// Waits until the server has received its client's roots, or it is clear that the server does not ask for
    /// them. `client` contains the questions that this client can be asked. The wait ends at the latest a short
    /// time after the link was opened; for a server that is known not to ask, there is no wait. Returns true if it
    /// has just become known that the server does not ask.
    pub async fn settle_roots(&self, client: Askable) -> bool {
        let until = tokio::time::Instant::from_std(self.activity.opened() + roots::PATIENCE);
        if !self.own || !client.has_roots() || tokio::time::Instant::now() >= until {
            return false;
        }
        let may_ask = !self.server.roots.is_silent(&self.hello.info);
        let has_asked = self.roots.settled(may_ask, until).await;
        may_ask && !has_asked && self.note_silence()
    }

    /// Returns the server's question for roots, if the server has asked it before the first call over this link and no client
    /// has received it yet. Waits for the question at most a short time after the link was opened, and not at all if the
    /// server is known not to ask. The second value is true if it has just become known that the server does not ask.
    pub async fn first_roots_question(&self) -> (Option<Frame>, bool) {
        let until = tokio::time::Instant::from_std(self.activity.opened() + roots::PATIENCE);
        let may_wait = !self.server.roots.is_silent(&self.hello.info);
        let is_silent = may_wait && !self.roots.arrived(until).await;
        if let Some(question) = self.roots.take() {
            return (Some(question), false);
        }
        // Another call of the same client has the question, so this call waits for the answer as well.
        self.roots_answered(tokio::time::Instant::now() + roots::PATIENCE).await;
        self.roots.end();
        (None, is_silent && self.note_silence())
    }

    /// Waits until the client has answered the server's question for roots, and the server has adopted the answer, but at
    /// most until `until`. Does not wait if the server has not asked.
    pub async fn roots_answered(&self, until: tokio::time::Instant) {
        let _ = self.roots.settled(false, until).await;
    }

    /// Records that the server did not ask for roots in time; returns false if the link has ended meanwhile.
    fn note_silence(&self) -> bool {
        let is_alive = self.is_alive();
        if is_alive {
            self.server.roots.note_silence(&self.hello.info);
        }
        is_alive
    }

    /// Records that a session's calls use this link, so that the session receives the upstream's unsolicited messages.
    pub fn add_user(&self, session: &Arc<dyn LinkUser>) {
        self.calls.note_user(session.attribution());
        self.recipients.add_user(session);
    }
}
