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

use super::Shard;
use super::outbox::Outbox;
use super::probe::LinkProbe;
use super::session::Session;
use super::upstream::Upstream;
use super::wire::Wire;

/// One open link.
pub(crate) struct OpenLink {
    /// Unique in the process.
    pub(crate) id: u64,
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) era: &'static Era,
    pub(crate) wire: Wire,
    /// What the upstream said when the link was opened; known from then on.
    pub(crate) hello: ServerHello,
    /// Whether it serves one client session alone, so that the upstream may ask that client.
    pub(crate) own: bool,
    users: Mutex<Vec<Weak<Session>>>,
    /// The calls that the upstream has not answered yet, and whose they are.
    pub(super) calls: Arc<OpenCalls>,
    /// Who wants to hear of the progress of which open call: an upstream may tell it outside of the call's own answer.
    progress: Mutex<HashMap<u64, (Weak<Session>, ProgressToken)>>,
    unasked: Mutex<Option<Unasked>>,
    /// Where what belongs to no exchange goes while one call has the link for itself.
    inbox: Mutex<Option<mpsc::Sender<Inbound>>>,
    /// Whether the upstream logs, and keeps a level for the link.
    pub(crate) keeps_level: bool,
    /// The log level that the upstream was last told.
    level: Mutex<Option<Bytes>>,
    /// The resources that it was told to listen to for others, and whether it is being told of more.
    topics: Mutex<(Vec<String>, bool)>,
    /// Up to which change of what anybody wants of its upstream it has been told.
    pub(super) told: AtomicU64,
    pub(super) outbox: Outbox,
    pub(super) probe: LinkProbe,
    born: Instant,
    /// Milliseconds after `born` at which a request last went over it.
    used: AtomicU64,
    /// How many calls and tasks need it to stay.
    needed: AtomicUsize,
    /// Raised when it is gone.
    pub(crate) dead: Stop,
}

/// A link that must stay as long as this does.
pub(crate) struct Needed(Arc<OpenLink>);

impl Needed {
    pub(crate) fn new(link: Arc<OpenLink>) -> Self {
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
            self.0.upstream.quiet.note();
        }
    }
}

/// How long an upstream may take to accept a message that it does not answer.
const NOTICE_TIME: Duration = Duration::from_secs(10);

static NEXT_LINK: AtomicU64 = AtomicU64::new(1);

/// What reaches a call beside its own stream.
pub(crate) enum Inbound {
    /// A message of its upstream.
    Frame(Frame),
    /// The client's reply to the question with this number.
    Reply(usize, Frame),
}

impl OpenLink {
    pub(crate) fn new(upstream: Arc<Upstream>, wire: Wire, hello: ServerHello, own: bool) -> Self {
        let id = NEXT_LINK.fetch_add(1, Ordering::Relaxed);
        let calls = match wire.calls() {
            Some(calls) => calls.clone(),
            None => OpenCalls::new(upstream.spec.timeouts.overall),
        };
        Self {
            id,
            upstream,
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
    pub(crate) async fn notify(&self, client: &Client, text: Bytes) -> Result<(), LinkError> {
        let late = |_| LinkError::Late(NOTICE_TIME.as_secs());
        tokio::time::timeout(NOTICE_TIME, self.wire.notify(client, text)).await.map_err(late)?
    }

    /// Whether a cancellation is told by a notification; where not, closing the request's stream says it.
    pub(crate) fn hears_cancellation(&self) -> bool {
        match &self.wire {
            Wire::Http(_) => !self.era.disconnect_cancels,
            Wire::Pipe(_) | Wire::Sse(_) => self.era.shapes.cancellation,
            Wire::Native(_) => false,
        }
    }

    /// Keeps what the child says unasked until somebody takes it.
    pub(crate) fn keep_unasked(&self, unasked: Unasked) {
        *self.unasked.lock() = Some(unasked);
    }

    /// What the child says unasked; once.
    pub(crate) fn take_unasked(&self) -> Option<Unasked> {
        self.unasked.lock().take()
    }

    /// Whether it can still be used.
    pub(crate) fn is_alive(&self) -> bool {
        !self.dead.is_stopped() && !self.wire.is_closed()
    }

    /// How a child ended, when it has.
    pub(crate) fn why_gone(&self) -> Option<String> {
        self.wire.why_closed().map(|why| why.to_string())
    }

    pub(super) fn touch(&self) {
        let now = u64::try_from(self.born.elapsed().as_millis()).unwrap_or(u64::MAX);
        // 0 is that it was never used.
        self.used.store(now.max(1), Ordering::Relaxed);
    }

    /// For how long no request went over it.
    pub(crate) fn idle(&self) -> Duration {
        self.born.elapsed().saturating_sub(Duration::from_millis(self.used.load(Ordering::Relaxed)))
    }

    /// Whether a call or a task needs it to stay.
    pub(crate) fn is_needed(&self) -> bool {
        self.needed.load(Ordering::Relaxed) > 0
    }

    /// Whether a session, a call or a task uses it now.
    pub(crate) fn is_used(&self) -> bool {
        self.is_needed() || !self.users().is_empty()
    }

    /// Whether anybody ever did.
    pub(crate) fn was_used(&self) -> bool {
        self.used.load(Ordering::Relaxed) > 0 || self.is_used()
    }

    /// Marks it as gone: whoever needs it next opens another.
    pub(crate) fn bury(&self) {
        self.dead.stop();
    }

    /// Lets it go in an orderly way.
    pub(crate) async fn close(&self, client: &Client) {
        self.bury();
        match &self.wire {
            Wire::Http(link) => link.close(client).await,
            other => other.stop().await,
        }
    }

    /// From now on what belongs to no exchange goes to the call that has the link for itself, or to nobody.
    pub(crate) fn set_inbox(&self, inbox: Option<mpsc::Sender<Inbound>>) {
        *self.inbox.lock() = inbox;
    }

    /// Answers a question in the place of a client that cannot be asked.
    pub(crate) fn refuse(self: &Arc<Self>, shard: &Shard, question: &Frame, why: &str) {
        self.say(shard, error_response(question.id(), code::METHOD_NOT_FOUND, why, None));
    }

    /// Gives a message to the call that has the link for itself; gives it back when there is none, or it is busy.
    pub(crate) fn deliver(&self, frame: Frame) -> Option<Frame> {
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

    /// Whether the upstream was last told this log level here.
    pub(crate) fn has_level(&self, level: &Bytes) -> bool {
        self.level.lock().as_ref() == Some(level)
    }

    /// The one of its sessions that owns what is said here.
    pub(crate) fn session_of(&self, owner: Option<Owner>) -> Option<Arc<Session>> {
        let mut users = self.users().into_iter();
        if self.own { users.next() } else { users.find(|user| Some(user.attribution) == owner) }
    }

    /// Notes the log level that the upstream is to be told; `false` when it knows it already.
    pub(crate) fn note_level(&self, level: &Bytes) -> bool {
        self.level.lock().replace(level.clone()).as_ref() != Some(level)
    }

    /// Notes what the upstream is to listen to on this link; what differs from before, and whether it is wanted now.
    pub(crate) fn note_topics(&self, wanted: &[String]) -> Vec<(String, bool)> {
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

    /// Whether the caller is to tell what the upstream listens to, because nobody does. It is told until there is no
    /// difference.
    pub(crate) fn begin_telling(&self) -> bool {
        !std::mem::replace(&mut self.topics.lock().1, true)
    }

    /// Notes that a session's calls go over this link, so that it hears what the upstream says unasked.
    pub(crate) fn add_user(&self, session: &Arc<Session>) {
        self.calls.note_user(session.attribution);
        let mut users = self.users.lock();
        users.retain(|user| user.strong_count() > 0);
        if !users.iter().any(|user| std::ptr::eq(user.as_ptr(), Arc::as_ptr(session))) {
            users.push(Arc::downgrade(session));
        }
    }

    /// Notes that a call's progress belongs to this session, until [`OpenLink::forget_progress`].
    pub(crate) fn expect_progress(&self, session: &Arc<Session>, token: ProgressToken) {
        self.progress.lock().insert(token.key, (Arc::downgrade(session), token));
    }

    /// The call is over.
    pub(crate) fn forget_progress(&self, key: u64) {
        self.progress.lock().remove(&key);
    }

    /// Whose progress a notification tells, and its text for that client; `None` when it belongs to no open call.
    pub(crate) fn progress_of(&self, notice: &Frame) -> Option<(Arc<Session>, Bytes)> {
        let (session, token) = self.progress.lock().get(&ProgressToken::named(notice)?)?.clone();
        Some((session.upgrade()?, token.translate(notice)?))
    }

    /// The sessions whose calls go over this link.
    pub(crate) fn users(&self) -> Vec<Arc<Session>> {
        self.users.lock().iter().filter_map(Weak::upgrade).collect()
    }
}

/// Who put a question to a client.
#[derive(Clone)]
pub(crate) enum Asker {
    /// An upstream, over this link.
    Link(Arc<OpenLink>),
    /// A call whose upstream asks by results: the call's number, that of the question, and where the reply goes.
    Call(u64, usize, mpsc::Sender<Inbound>),
}

impl PartialEq for Asker {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Link(a), Self::Link(b)) => a.id == b.id,
            (Self::Call(a, ..), Self::Call(b, ..)) => a == b,
            _ => false,
        }
    }
}
