//! An open link to an upstream, whatever its transport, and who uses it.

use std::collections::HashMap;
use std::ops::Deref;
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
use super::wire::Wire;
use crate::egress::Egress;
use crate::server::Server;

/// One open link.
pub struct OpenLink {
    /// Unique in the process.
    pub id: u64,
    /// Where it leads.
    pub server: Arc<Server>,
    /// The era in which the server is spoken to.
    pub era: &'static Era,
    /// Its transport.
    pub wire: Wire,
    /// What the upstream said when the link was opened; known from then on.
    pub hello: ServerHello,
    /// True if it serves one client session alone, so that the upstream may ask that client.
    pub own: bool,
    users: Mutex<Vec<Weak<dyn LinkUser>>>,
    /// The calls that the upstream has not answered yet, and whose they are.
    pub calls: Arc<OpenCalls>,
    /// Who wants to hear of the progress of which open call: an upstream may tell it outside of the call's own answer.
    progress: Mutex<HashMap<u64, ProgressOwner>>,
    unasked: Mutex<Option<Unasked>>,
    /// Where what belongs to no exchange goes while one call has the link for itself.
    inbox: Mutex<Option<mpsc::Sender<Inbound>>>,
    /// True if the upstream logs, and keeps a level for the link.
    pub keeps_level: bool,
    /// The log level that the upstream was last told.
    level: Mutex<Option<Bytes>>,
    /// The resources that it was told to listen to for others, and whether it is being told of more.
    topics: Mutex<(Vec<String>, bool)>,
    /// Up to which change of what anybody wants of its upstream it has been told.
    pub told: AtomicU64,
    pub(super) outbox: Outbox,
    pub(super) probe: LinkProbe,
    born: Instant,
    /// Milliseconds after `born` at which a request last went over it.
    used: AtomicU64,
    /// The number of calls and tasks that need it to stay.
    needed: AtomicUsize,
    /// Raised when it is gone.
    pub dead: Stop,
}

/// A link that must stay as long as this does.
pub struct Needed(Arc<OpenLink>);

impl Needed {
    /// Keeps it.
    pub fn new(link: Arc<OpenLink>) -> Self {
        link.needed.fetch_add(1, Ordering::Relaxed);
        Self(link)
    }
}

impl Deref for Needed {
    type Target = Arc<OpenLink>;

    fn deref(&self) -> &Arc<OpenLink> {
        &self.0
    }
}

impl Drop for Needed {
    fn drop(&mut self) {
        if self.0.needed.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.0.server.quiet.note();
        }
    }
}

/// Who wants to hear of a call's progress, and under which token.
type ProgressOwner = (Weak<dyn LinkUser>, ProgressToken);

/// The time that an upstream may take to accept a message that it does not answer.
const NOTICE_TIME: Duration = Duration::from_secs(10);

static NEXT_LINK: AtomicU64 = AtomicU64::new(1);

/// What reaches a call beside its own stream.
pub enum Inbound {
    /// A message of its upstream.
    Frame(Frame),
    /// The client's reply to the question with this number.
    Reply(usize, Frame),
}

impl OpenLink {
    /// One that was opened just now; `own` where it serves one client session alone.
    pub fn new(server: Arc<Server>, wire: Wire, hello: ServerHello, own: bool) -> Self {
        let id = NEXT_LINK.fetch_add(1, Ordering::Relaxed);
        let calls = match wire.calls() {
            Some(calls) => calls.clone(),
            None => OpenCalls::new(server.spec.timeouts.overall),
        };
        Self {
            id,
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

    /// Sends a notification, or an answer to a question.
    pub async fn notify(&self, client: &Client, text: Bytes) -> Result<(), LinkError> {
        let late = |_| LinkError::Late(NOTICE_TIME.as_secs());
        tokio::time::timeout(NOTICE_TIME, self.wire.notify(client, text)).await.map_err(late)?
    }

    /// Returns true if a cancellation is told by a notification; where not, closing the request's stream says it.
    pub fn hears_cancellation(&self) -> bool {
        match &self.wire {
            Wire::Http(_) => !self.era.disconnect_cancels,
            Wire::Pipe(_) | Wire::Sse(_) => self.era.shapes.cancellation,
            Wire::Native(_) => false,
        }
    }

    /// Keeps what the child says unasked until somebody takes it.
    pub fn keep_unasked(&self, unasked: Unasked) {
        *self.unasked.lock() = Some(unasked);
    }

    /// What the child says unasked; once.
    pub fn take_unasked(&self) -> Option<Unasked> {
        self.unasked.lock().take()
    }

    /// Returns true if it can still be used.
    pub fn is_alive(&self) -> bool {
        !self.dead.is_stopped() && !self.wire.is_closed()
    }

    /// How a child ended, when it has.
    pub fn why_gone(&self) -> Option<String> {
        self.wire.why_closed().map(|why| why.to_string())
    }

    /// Notes that a request goes over it.
    pub fn touch(&self) {
        let now = u64::try_from(self.born.elapsed().as_millis()).unwrap_or(u64::MAX);
        // 0 is that it was never used.
        self.used.store(now.max(1), Ordering::Relaxed);
    }

    /// For how long no request went over it.
    pub fn idle(&self) -> Duration {
        self.born.elapsed().saturating_sub(Duration::from_millis(self.used.load(Ordering::Relaxed)))
    }

    /// Returns true if a call or a task needs it to stay.
    pub fn is_needed(&self) -> bool {
        self.needed.load(Ordering::Relaxed) > 0
    }

    /// Returns true if a session, a call or a task uses it now.
    pub fn is_used(&self) -> bool {
        self.is_needed() || !self.users().is_empty()
    }

    /// Returns true if anybody ever did.
    pub fn was_used(&self) -> bool {
        self.used.load(Ordering::Relaxed) > 0 || self.is_used()
    }

    /// Marks it as gone: whoever needs it next opens another.
    pub fn bury(&self) {
        self.dead.stop();
    }

    /// Lets it go in an orderly way.
    pub async fn close(&self, client: &Client) {
        self.bury();
        match &self.wire {
            Wire::Http(link) => link.close(client).await,
            other => other.stop().await,
        }
    }

    /// From now on what belongs to no exchange goes to the call that has the link for itself, or to nobody.
    pub fn set_inbox(&self, inbox: Option<mpsc::Sender<Inbound>>) {
        *self.inbox.lock() = inbox;
    }

    /// Answers a question in the place of a client that cannot be asked.
    pub fn refuse(self: &Arc<Self>, egress: &Egress, question: &Frame, why: &str) {
        self.say(egress, error_response(question.id(), code::METHOD_NOT_FOUND, why, None));
    }

    /// Gives a message to the call that has the link for itself; gives it back when there is none, or it is busy.
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

    /// Returns true if the upstream was last told this log level here.
    pub fn has_level(&self, level: &Bytes) -> bool {
        self.level.lock().as_ref() == Some(level)
    }

    /// The one of its sessions that owns what is said here.
    pub fn session_of(&self, owner: Option<Owner>) -> Option<Arc<dyn LinkUser>> {
        let mut users = self.users().into_iter();
        if self.own { users.next() } else { users.find(|user| Some(user.attribution()) == owner) }
    }

    /// Notes the log level that the upstream is to be told; `false` when it knows it already.
    pub fn note_level(&self, level: &Bytes) -> bool {
        self.level.lock().replace(level.clone()).as_ref() != Some(level)
    }

    /// Notes what the upstream is to listen to on this link; what differs from before, and whether it is wanted now.
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

    /// Returns true if the caller is to tell what the upstream listens to, because nobody does. It is told until there
    /// is no difference.
    pub fn begin_telling(&self) -> bool {
        !std::mem::replace(&mut self.topics.lock().1, true)
    }

    /// Notes that a session's calls go over this link, so that it hears what the upstream says unasked.
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

    /// The call is over.
    pub fn forget_progress(&self, key: u64) {
        self.progress.lock().remove(&key);
    }

    /// Whose progress a notification tells, and its text for that client; `None` when it belongs to no open call.
    pub fn progress_of(&self, notice: &Frame) -> Option<(Arc<dyn LinkUser>, Bytes)> {
        let (session, token) = self.progress.lock().get(&ProgressToken::named(notice)?)?.clone();
        Some((session.upgrade()?, token.translate(notice)?))
    }

    /// The sessions whose calls go over this link.
    pub fn users(&self) -> Vec<Arc<dyn LinkUser>> {
        self.users.lock().iter().filter_map(Weak::upgrade).collect()
    }
}
