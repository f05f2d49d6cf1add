//! An open link to an upstream over any transport, and its users.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use bytes::Bytes;
use engine::catalogue::declares;
use engine::exchange::ProgressToken;
use parking_lot::Mutex;
use proto::era::{Era, ServerHello};
use proto::mcp::Method;
use proto::rpc::{Frame, code, error_response};
use tokio::sync::mpsc;
use transport::net::Stop;
use transport::net::client::Client;
use transport::up::{LinkError, OpenCalls, Owner, Unasked};

use super::outbox::Outbox;
use super::probe::LinkProbe;
use super::user::LinkUser;
use crate::changes::HeardOn;
use crate::egress::Egress;
use crate::negotiation::wire::Wire;
use crate::server::Server;

/// One open link.
pub struct OpenLink {
    /// Its number, unique in the process.
    pub id: u64,
    /// Its number in the pool of dedicated links; 0 if it is none.
    pub slot: AtomicU64,
    /// The number under which its users know it: another one each time it is handed to another owner.
    tenancy: AtomicU64,
    /// The server that it leads to.
    pub server: Arc<Server>,
    /// The era in use.
    pub era: &'static Era,
    /// Its transport.
    pub wire: Wire,
    /// The upstream's introduction; known once the link is open.
    pub hello: ServerHello,
    /// True if it serves one client session only, so that the upstream may ask that client.
    pub own: bool,
    users: Mutex<Vec<Weak<dyn LinkUser>>>,
    /// The calls that the upstream has not answered yet, with their owners.
    pub calls: Arc<OpenCalls>,
    /// The session that wants progress, by open call: an upstream may report it outside of the call's own answer.
    progress: Mutex<HashMap<u64, ProgressOwner>>,
    unasked: Mutex<Option<Unasked>>,
    /// The receiver of messages that belong to no exchange, while one call has the link for itself.
    inbox: Mutex<Option<mpsc::Sender<Inbound>>>,
    /// True if the upstream logs, and keeps a level per link.
    pub keeps_level: bool,
    /// The log level that the upstream was last sent.
    level: Mutex<Option<Bytes>>,
    /// The resources that were subscribed here for others, and true while that changes.
    topics: Mutex<(Vec<String>, bool)>,
    /// The number of the last change of wanted resources that was announced here.
    pub told: AtomicU64,
    pub(super) outbox: Outbox,
    pub(super) probe: LinkProbe,
    born: Instant,
    /// The time of the last request, in milliseconds after `born`.
    used: AtomicU64,
    /// The number of calls and tasks that need it to stay open.
    needed: AtomicUsize,
    /// Raised when the link is lost.
    pub dead: Stop,
}

/// An open link that is not closed while this exists.
pub struct HeldLink {
    link: Arc<OpenLink>,
    /// Keeps a dedicated link with its owner.
    hold: Option<Box<dyn LinkHold>>,
}

/// The hold that keeps a dedicated link with its owner until it is dropped.
pub trait LinkHold: Send + Sync {
    /// Another one on the same link.
    fn again(&self) -> Box<dyn LinkHold>;
}

impl HeldLink {
    /// Holds the link.
    pub fn new(link: Arc<OpenLink>, hold: Option<Box<dyn LinkHold>>) -> Self {
        link.needed.fetch_add(1, Ordering::Relaxed);
        Self { link, hold }
    }

    /// The link itself.
    pub fn link(&self) -> &Arc<OpenLink> {
        &self.link
    }

    /// Another hold on the same link.
    #[must_use]
    pub fn again(&self) -> Self {
        Self::new(self.link.clone(), self.hold.as_ref().map(|hold| hold.again()))
    }
}

impl Drop for HeldLink {
    fn drop(&mut self) {
        if self.link.needed.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.link.server.quiet.note();
        }
    }
}

/// The session that wants a call's progress, and its token.
type ProgressOwner = (Weak<dyn LinkUser>, ProgressToken);

/// The time that an upstream may take to accept a message without an answer.
const NOTICE_TIME: Duration = Duration::from_secs(10);

static NEXT_LINK: AtomicU64 = AtomicU64::new(1);

/// A message for a call that does not come on its own stream.
pub enum Inbound {
    /// A message of its upstream.
    Frame(Frame),
    /// The client's reply to the question with this number.
    Reply(usize, Frame),
}

impl OpenLink {
    /// Creates a link that has just been opened; `own` if it serves one client session only.
    pub fn new(server: Arc<Server>, wire: Wire, hello: ServerHello, own: bool) -> Self {
        let id = NEXT_LINK.fetch_add(1, Ordering::Relaxed);
        let calls = match wire.calls() {
            Some(calls) => calls.clone(),
            None => OpenCalls::new(server.spec.calls.longest()),
        };
        Self {
            id,
            slot: AtomicU64::new(0),
            tenancy: AtomicU64::new(id),
            server,
            keeps_level: hello.era.knows(Method::SetLevel) && declares(&hello.capabilities, "logging", None),
            era: hello.era,
            wire,
            hello,
            own,
            users: Mutex::default(),
            calls,
            progress: Mutex::default(),
            unasked: Mutex::default(),
            inbox: Mutex::default(),
            level: Mutex::default(),
            topics: Mutex::default(),
            told: AtomicU64::new(0),
            outbox: Outbox::default(),
            probe: LinkProbe::default(),
            born: Instant::now(),
            used: AtomicU64::new(0),
            needed: AtomicUsize::new(0),
            dead: Stop::new(),
        }
    }

    /// Itself, as where an announcement is heard.
    pub fn heard_on(&self) -> HeardOn {
        HeardOn { id: self.id, opened: self.born }
    }

    /// Sends a notification, or an answer to a question.
    pub async fn notify(&self, client: &Client, text: Bytes) -> Result<(), LinkError> {
        let late = |_| LinkError::Late(NOTICE_TIME.as_secs());
        tokio::time::timeout(NOTICE_TIME, self.wire.notify(client, text)).await.map_err(late)?
    }

    /// Returns true if a notification cancels a request; otherwise closing the request's stream does.
    pub fn hears_cancellation(&self) -> bool {
        match &self.wire {
            Wire::Http(_) => !self.era.disconnect_cancels,
            Wire::Pipe(_) | Wire::Sse(_) => self.era.shapes.cancellation,
            Wire::Native(_) => false,
        }
    }

    /// Stores the receiver of the child's unsolicited messages until it is taken.
    pub fn keep_unasked(&self, unasked: Unasked) {
        *self.unasked.lock() = Some(unasked);
    }

    /// Takes the receiver of the child's unsolicited messages; once.
    pub fn take_unasked(&self) -> Option<Unasked> {
        self.unasked.lock().take()
    }

    /// Returns true if it can still be used.
    pub fn is_alive(&self) -> bool {
        !self.dead.is_stopped() && !self.wire.is_closed()
    }

    /// The way in which a child ended, if it has.
    pub fn why_gone(&self) -> Option<String> {
        self.wire.why_closed().map(|why| why.to_string())
    }

    /// Notes that a request uses it.
    pub fn touch(&self) {
        let now = u64::try_from(self.born.elapsed().as_millis()).unwrap_or(u64::MAX);
        // 0 is that it was never used.
        self.used.store(now.max(1), Ordering::Relaxed);
    }

    /// The time since the last request.
    pub fn idle(&self) -> Duration {
        self.born.elapsed().saturating_sub(Duration::from_millis(self.used.load(Ordering::Relaxed)))
    }

    /// Returns true if a call or a task needs it to stay open.
    pub fn is_needed(&self) -> bool {
        self.needed.load(Ordering::Relaxed) > 0
    }

    /// Returns true if a session, a call or a task uses it now.
    pub fn is_used(&self) -> bool {
        self.is_needed() || !self.users().is_empty()
    }

    /// Returns true if a call ever went over it.
    pub fn carried_calls(&self) -> bool {
        self.used.load(Ordering::Relaxed) > 0
    }

    /// Returns true if it was ever used.
    pub fn was_used(&self) -> bool {
        self.used.load(Ordering::Relaxed) > 0 || self.is_used()
    }

    /// Marks it as lost; the next user opens another.
    pub fn bury(&self) {
        self.dead.stop();
    }

    /// Closes it properly.
    pub async fn close(&self, client: &Client) {
        self.bury();
        self.wire.close(client).await;
    }

    /// Sets the receiver of messages that belong to no exchange: the call that has the link for itself, or none.
    pub fn set_inbox(&self, inbox: Option<mpsc::Sender<Inbound>>) {
        *self.inbox.lock() = inbox;
    }

    /// The number under which its users know it. A user that knows it by another one has to tell the server its state.
    pub fn tenancy(&self) -> u64 {
        self.tenancy.load(Ordering::Acquire)
    }

    /// Forgets its owner: what the server says from now on is not for that one.
    pub fn hand_over(&self) {
        self.users.lock().clear();
        self.set_inbox(None);
        self.tenancy.store(NEXT_LINK.fetch_add(1, Ordering::Relaxed), Ordering::Release);
    }

    /// Answers a question in the place of a client that cannot be asked.
    pub fn refuse(self: &Arc<Self>, egress: &Egress, question: &Frame, why: &str) {
        self.say(egress, error_response(question.id(), code::METHOD_NOT_FOUND, why, None));
    }

    /// Delivers a message to the call that has the link for itself; returns it if there is none, or it is busy.
    pub fn deliver(&self, frame: Frame) -> Option<Frame> {
        let inbox = self.inbox.lock().clone();
        let Some(inbox) = inbox else { return Some(frame) };
        match inbox.try_send(Inbound::Frame(frame)) {
            Err(
                mpsc::error::TrySendError::Full(Inbound::Frame(frame))
                | mpsc::error::TrySendError::Closed(Inbound::Frame(frame)),
            ) => Some(frame),
            _ => None,
        }
    }

    /// Returns true if the upstream was last sent this log level here.
    pub fn has_level(&self, level: &Bytes) -> bool {
        self.level.lock().as_ref() == Some(level)
    }

    /// The session that owns a message.
    pub fn session_of(&self, owner: Option<Owner>) -> Option<Arc<dyn LinkUser>> {
        let mut users = self.users().into_iter();
        if self.own { users.next() } else { users.find(|user| Some(user.attribution()) == owner) }
    }

    /// Notes the log level to send; returns `false` if the upstream has it already.
    pub fn note_level(&self, level: &Bytes) -> bool {
        self.level.lock().replace(level.clone()).as_ref() != Some(level)
    }

    /// Notes the resources that are wanted on this link; returns the differences, with true for those that are wanted
    /// now.
    pub fn note_topics(&self, wanted: &[String]) -> Vec<(String, bool)> {
        let (told, is_told) = &mut *self.topics.lock();
        let gone = told.iter().filter(|uri| !wanted.contains(uri)).map(|uri| (uri.clone(), false));
        let new = wanted.iter().filter(|uri| !told.contains(uri)).map(|uri| (uri.clone(), true));
        let differs: Vec<(String, bool)> = gone.chain(new).collect();
        *is_told = !differs.is_empty();
        if *is_told {
            *told = wanted.to_vec();
        }
        differs
    }

    /// Returns true if the caller has to announce the wanted resources, because no task does. It announces them until
    /// there is no difference.
    pub fn begin_announcing(&self) -> bool {
        !std::mem::replace(&mut self.topics.lock().1, true)
    }

    /// Notes that a session's calls use this link, so that it receives the upstream's unsolicited messages.
    pub fn add_user(&self, session: &Arc<dyn LinkUser>) {
        self.calls.note_user(session.attribution());
        let mut users = self.users.lock();
        users.retain(|user| user.strong_count() > 0);
        if !users.iter().any(|user| std::ptr::addr_eq(user.as_ptr(), Arc::as_ptr(session))) {
            users.push(Arc::downgrade(session));
        }
    }

    /// Notes that a call's progress belongs to this session, until [`OpenLink::forget_progress`].
    pub fn expect_progress(&self, session: &Arc<dyn LinkUser>, token: ProgressToken) {
        self.progress.lock().insert(token.key, (Arc::downgrade(session), token));
    }

    /// Forgets the progress of a call that has ended.
    pub fn forget_progress(&self, key: u64) {
        self.progress.lock().remove(&key);
    }

    /// The session that a progress notification is for, and its text for that client; `None` if it belongs to no open
    /// call.
    pub fn progress_of(&self, notice: &Frame) -> Option<(Arc<dyn LinkUser>, Bytes)> {
        let (session, token) = self.progress.lock().get(&ProgressToken::named(notice)?)?.clone();
        Some((session.upgrade()?, token.translate(notice)?))
    }

    /// The sessions whose calls go over this link.
    pub fn users(&self) -> Vec<Arc<dyn LinkUser>> {
        self.users.lock().iter().filter_map(Weak::upgrade).collect()
    }
}
