//! An open link to an upstream, whatever its transport, and who uses it.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use bytes::Bytes;
use engine::exchange::{Outbound, ProgressToken};
use native::NativeServer;
use parking_lot::Mutex;
use proto::era::{Era, ServerHello};
use proto::rpc::{Frame, FrameLimits, Kind as FrameKind};
use transport::net::Stop;
use transport::net::client::Client;
use transport::up::{
    EventStream, HttpLink, HttpReply, LinkError, LongReply, MuxCall, PipeLink, StreamItem, Unasked, messages,
};

use super::session::Session;
use super::upstream::Upstream;

/// The transport of a link.
pub(crate) enum Wire {
    Http(HttpLink),
    Pipe(PipeLink),
    Native(Box<dyn NativeServer>),
}

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
    /// Who wants to hear of the progress of which open call: an upstream may tell it outside of the call's own answer.
    progress: Mutex<HashMap<u64, (Weak<Session>, ProgressToken)>>,
    unasked: Mutex<Option<Unasked>>,
    born: Instant,
    /// Milliseconds after `born` at which a request last went over it.
    used: AtomicU64,
    /// Raised when it is gone.
    pub(crate) dead: Stop,
}

/// How long an upstream may take to accept a message that it does not answer.
const NOTICE_TIME: Duration = Duration::from_secs(10);

static NEXT_LINK: AtomicU64 = AtomicU64::new(1);

/// What a request was answered with, at first.
pub(crate) enum Reply {
    /// The whole answer, with its HTTP status where there was HTTP.
    Whole(Box<Frame>, Option<u16>),
    /// A stream of messages.
    Source(Source),
    /// A long answer of which only the beginning has been read.
    Long(Box<LongReply>),
}

impl Reply {
    /// A body that was read to its end; an array of messages is a source of them.
    pub(crate) fn of(
        text: Bytes,
        status: Option<u16>,
        era: &'static Era,
        limits: FrameLimits,
    ) -> Result<Self, LinkError> {
        if !era.batches {
            return Ok(Self::Whole(Box::new(parse(text, limits)?), status));
        }
        let mut ready = messages(text, era, limits)?;
        if ready.len() == 1
            && let Some(only) = ready.pop_front()
        {
            return Ok(Self::Whole(only, status));
        }
        Ok(Self::Source(Source::Web(Incoming { era, stream: None, ready })))
    }
}

/// Where an exchange's messages come from.
pub(crate) enum Source {
    Web(Incoming),
    Pipe(MuxCall),
}

/// Messages that come over HTTP.
pub(crate) struct Incoming {
    era: &'static Era,
    /// Where more come from, if they do.
    stream: Option<Box<EventStream>>,
    /// The rest of the array that came last.
    ready: VecDeque<Box<Frame>>,
}

/// What a source brings.
pub(crate) enum Item {
    Frame(Box<Frame>),
    /// The upstream closed its stream and has to be asked again; it wishes to wait so many milliseconds.
    Paused(Option<u64>),
}

impl Source {
    /// Lets it go once the answer is there.
    pub(crate) fn finish(self) {
        if let Self::Web(Incoming { stream: Some(stream), .. }) = self {
            stream.finish();
        }
    }

    pub(crate) async fn next(&mut self, client: &Client, limits: FrameLimits) -> Result<Item, LinkError> {
        match self {
            Self::Pipe(call) => Ok(Item::Frame(call.next().await?)),
            Self::Web(incoming) => incoming.next(client, limits).await,
        }
    }
}

impl Incoming {
    pub(crate) fn new(stream: Box<EventStream>, era: &'static Era) -> Self {
        Self { era, stream: Some(stream), ready: VecDeque::new() }
    }

    pub(crate) async fn next(&mut self, client: &Client, limits: FrameLimits) -> Result<Item, LinkError> {
        loop {
            if let Some(frame) = self.ready.pop_front() {
                return Ok(Item::Frame(frame));
            }
            let stream = self.stream.as_mut().ok_or(LinkError::Closed)?;
            match stream.next(client).await? {
                StreamItem::Paused { retry } => return Ok(Item::Paused(retry)),
                StreamItem::Message(text) if self.era.batches => {
                    self.ready = messages(text, self.era, limits)?;
                }
                StreamItem::Message(text) => return Ok(Item::Frame(Box::new(parse(text, limits)?))),
            }
        }
    }
}

pub(crate) fn parse(text: Bytes, limits: FrameLimits) -> Result<Frame, LinkError> {
    Frame::parse(text, limits).map_err(|e| LinkError::NotAMessage(e.to_string()))
}

impl OpenLink {
    pub(crate) fn new(
        upstream: Arc<Upstream>,
        era: &'static Era,
        wire: Wire,
        hello: ServerHello,
        own: bool,
    ) -> Self {
        let id = NEXT_LINK.fetch_add(1, Ordering::Relaxed);
        Self {
            id,
            upstream,
            era,
            wire,
            hello,
            own,
            users: Mutex::default(),
            progress: Mutex::default(),
            unasked: Mutex::default(),
            born: Instant::now(),
            used: AtomicU64::new(0),
            dead: Stop::new(),
        }
    }

    /// Sends a request.
    pub(crate) async fn send(
        &self,
        client: &Client,
        outbound: Outbound,
        limits: FrameLimits,
    ) -> Result<Reply, LinkError> {
        self.touch();
        match &self.wire {
            Wire::Http(link) => match link.post(client, outbound.body, outbound.mirror.as_ref()).await? {
                HttpReply::Whole { status, text } => Reply::of(text, Some(status), self.era, limits),
                HttpReply::Stream(stream) => Ok(Reply::Source(Source::Web(Incoming::new(stream, self.era)))),
                HttpReply::Long(long) => Ok(Reply::Long(long)),
                HttpReply::Accepted => Err(LinkError::NotAMessage("an empty answer to a request".to_owned())),
            },
            Wire::Pipe(link) => {
                Ok(Reply::Source(Source::Pipe(link.call(outbound.key, outbound.body).await?)))
            }
            Wire::Native(server) => {
                let request = parse(outbound.body, limits)?;
                let answer = parse(server.answer(&request, self.era), limits)?;
                Ok(Reply::Whole(Box::new(answer), None))
            }
        }
    }

    /// Opens a stream for the gateway itself; `None` when it is answered at once, and so refused.
    pub(crate) async fn open_stream(
        &self,
        client: &Client,
        outbound: Outbound,
        limits: FrameLimits,
    ) -> Result<Option<Source>, LinkError> {
        if let Wire::Pipe(link) = &self.wire {
            return Ok(Some(Source::Pipe(link.own_call(outbound.key, outbound.body).await?)));
        }
        match self.send(client, outbound, limits).await? {
            Reply::Source(source) => Ok(Some(source)),
            Reply::Whole(..) | Reply::Long(_) => Ok(None),
        }
    }

    /// Sends a request of the gateway's own and waits for its answer. The caller sets the deadline.
    pub(crate) async fn ask(
        &self,
        client: &Client,
        outbound: Outbound,
        limits: FrameLimits,
    ) -> Result<Frame, LinkError> {
        match &self.wire {
            Wire::Http(link) => {
                link.answered(client, outbound.body, outbound.key, outbound.mirror.as_ref()).await
            }
            Wire::Pipe(link) => {
                let mut call = link.own_call(outbound.key, outbound.body).await?;
                loop {
                    let frame = call.next().await?;
                    if matches!(frame.kind(), FrameKind::Response | FrameKind::Error) {
                        return Ok(*frame);
                    }
                }
            }
            Wire::Native(server) => parse(server.answer(&parse(outbound.body, limits)?, self.era), limits),
        }
    }

    /// Sends a notification, or an answer to a question.
    pub(crate) async fn notify(&self, client: &Client, text: Bytes) -> Result<(), LinkError> {
        let sent = async {
            match &self.wire {
                Wire::Http(link) => link.notify(client, text).await,
                Wire::Pipe(link) => link.notify(text).await,
                Wire::Native(_) => Ok(()),
            }
        };
        let late = |_| LinkError::Late(NOTICE_TIME.as_secs());
        tokio::time::timeout(NOTICE_TIME, sent).await.map_err(late)?
    }

    /// Whether a cancellation is told by a notification; where not, closing the request's stream says it.
    pub(crate) fn hears_cancellation(&self) -> bool {
        match &self.wire {
            Wire::Http(_) => !self.era.disconnect_cancels,
            Wire::Pipe(_) => true,
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
        !self.dead.is_stopped() && !matches!(&self.wire, Wire::Pipe(pipe) if pipe.is_closed())
    }

    /// How a child ended, when it has.
    pub(crate) fn why_gone(&self) -> Option<String> {
        let Wire::Pipe(pipe) = &self.wire else { return None };
        pipe.why_closed().map(|why| why.to_string())
    }

    fn touch(&self) {
        let now = u64::try_from(self.born.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.used.store(now, Ordering::Relaxed);
    }

    /// For how long no request went over it.
    pub(crate) fn idle(&self) -> Duration {
        self.born.elapsed().saturating_sub(Duration::from_millis(self.used.load(Ordering::Relaxed)))
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
            Wire::Pipe(link) => link.stop().await,
            Wire::Native(_) => {}
        }
    }

    /// Notes that a session's calls go over this link, so that it hears what the upstream says unasked.
    pub(crate) fn add_user(&self, session: &Arc<Session>) {
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

/// A link as the other side of a question, told apart by its id.
#[derive(Clone)]
pub(crate) struct LinkRef(pub(crate) Arc<OpenLink>);

impl PartialEq for LinkRef {
    fn eq(&self, other: &Self) -> bool {
        self.0.id == other.0.id
    }
}
