//! Resources of one upstream that clients listen to: the upstream is told once what any of them wants, and what it says
//! goes to all who want it. It must not know who listens beyond how to reach them.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use proto::bridge::listen::{Change, Interest, Succession, concerns};
use proto::era::{Era, newest_stateless, own_meta};
use proto::json::quote;
use proto::mcp::{Method, Notice};
use proto::rpc::{Frame, FrameLimits, Kind as FrameKind};
use tokio::sync::{mpsc, watch};
use transport::up::LinkError;

use super::Shard;
use super::link::OpenLink;
use super::reply::{Item, Source};
use super::requests::request;
use super::session::Session;
use super::upstream::{Kind, Upstream, own_request};

/// How many notices may wait for one listener; a slow one then hears only that something may have changed.
const BEHIND: usize = 256;

/// The first wait before a lost link is opened again, and the longest.
const WAIT: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));

/// What a listener hears.
#[derive(Debug, Clone)]
pub(crate) enum Told {
    /// The upstream's notice, as it came.
    Notice(Arc<Frame>),
    /// While nobody listened this resource may have changed.
    Missed(String),
}

enum To {
    Stream(mpsc::Sender<Told>),
    Session(Weak<Session>),
}

struct Listener {
    uris: HashSet<String>,
    to: To,
}

#[derive(Default)]
struct State {
    interest: Interest,
    listeners: HashMap<u64, Listener>,
    next: u64,
    /// Whether somebody speaks to the upstream.
    is_followed: bool,
}

/// The resources of one upstream that anybody listens to.
pub(crate) struct Topics {
    state: Mutex<State>,
    /// Counts the changes of what is wanted.
    wanted: watch::Sender<u64>,
    /// Up to which of them the upstream has been told, or could not be.
    settled: watch::Sender<u64>,
}

impl Default for Topics {
    fn default() -> Self {
        Self { state: Mutex::default(), wanted: watch::Sender::new(0), settled: watch::Sender::new(0) }
    }
}

/// A listener's hold on its resources. It ends when this is dropped.
pub(crate) struct Listening {
    upstream: Arc<Upstream>,
    id: u64,
    since: u64,
}

impl Listening {
    /// Returns when the upstream listens for this listener, or was found not to.
    pub(crate) async fn settled(&self) {
        let mut settled = self.upstream.topics.settled.subscribe();
        let _ = settled.wait_for(|upto| *upto >= self.since).await;
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.upstream.topics.leave(self.id);
    }
}

/// Listens to resources of an upstream; what is heard comes to the receiver.
pub(crate) fn listen(
    shard: &Shard,
    upstream: &Arc<Upstream>,
    uris: Vec<String>,
) -> (Listening, mpsc::Receiver<Told>) {
    let (sender, heard) = mpsc::channel(BEHIND);
    (join(shard, upstream, uris, To::Stream(sender)), heard)
}

/// Listens to a resource for a session, which is told in the words of its own era.
pub(crate) fn listen_for(
    shard: &Shard,
    upstream: &Arc<Upstream>,
    uri: String,
    session: &Arc<Session>,
) -> Listening {
    join(shard, upstream, vec![uri], To::Session(Arc::downgrade(session)))
}

fn join(shard: &Shard, upstream: &Arc<Upstream>, uris: Vec<String>, to: To) -> Listening {
    let topics = &upstream.topics;
    let (id, follow) = {
        let mut state = topics.state.lock();
        state.interest.add(uris.iter().map(String::as_str));
        state.next += 1;
        let id = state.next;
        state.listeners.insert(id, Listener { uris: uris.into_iter().collect(), to });
        (id, !std::mem::replace(&mut state.is_followed, true))
    };
    topics.wanted.send_modify(|n| *n += 1);
    let since = *topics.wanted.borrow();
    if follow {
        let follower = Follower { shard: shard.clone(), upstream: upstream.clone() };
        tokio::spawn(follower.run());
    }
    Listening { upstream: upstream.clone(), id, since }
}

impl Topics {
    fn leave(&self, id: u64) {
        {
            let mut state = self.state.lock();
            let Some(left) = state.listeners.remove(&id) else { return };
            state.interest.remove(left.uris.iter().map(String::as_str));
        }
        self.wanted.send_modify(|n| *n += 1);
    }

    /// Tells everybody whom a notice of the upstream concerns. `era` is the one that it is in.
    pub(crate) fn publish(&self, era: &'static Era, notice: &Arc<Frame>) {
        let uri = notice.param("uri").ok().flatten().and_then(|span| notice.string(span));
        let Some(uri) = uri else { return };
        let wants = |listener: &&Listener| listener.uris.iter().any(|wanted| concerns(wanted, &uri));
        for listener in self.state.lock().listeners.values().filter(wants) {
            match &listener.to {
                To::Stream(sender) => {
                    let _ = sender.try_send(Told::Notice(notice.clone()));
                }
                To::Session(session) => {
                    if let Some(session) = session.upgrade() {
                        session.hear(era, notice, false);
                    }
                }
            }
        }
    }

    /// Tells everybody that everything may have changed.
    fn publish_gap(&self, limits: FrameLimits) {
        for listener in self.state.lock().listeners.values() {
            for uri in &listener.uris {
                match &listener.to {
                    To::Stream(sender) => {
                        let _ = sender.try_send(Told::Missed(uri.clone()));
                    }
                    To::Session(session) => {
                        let params = format!("\"uri\":{}", quote(uri));
                        let text = proto::era::notice(Notice::ResourceUpdated.name(), params.as_bytes());
                        if let (Some(session), Ok(frame)) = (session.upgrade(), Frame::parse(text, limits)) {
                            session.hear(session.kind.era, &frame, false);
                        }
                    }
                }
            }
        }
    }

    /// Tells a link which one call has for itself what is listened to, too: a server may know of a change only where it was
    /// made.
    pub(crate) async fn tell_also(&self, shard: &Shard, link: &Arc<OpenLink>) {
        let wanted: Vec<String> = self.state.lock().interest.uris().map(str::to_owned).collect();
        for (uri, on) in link.note_topics(&wanted) {
            let method = if on { Method::Subscribe } else { Method::Unsubscribe };
            request(shard, link, method, &format!("\"uri\":{}", quote(&uri))).await;
        }
    }

    fn settle(&self, upto: u64) {
        self.settled.send_modify(|n| *n = (*n).max(upto));
    }

    /// Whether nobody listens any more and, where `told` matters, the upstream knows it; whoever speaks to it then ends.
    fn is_over(&self, told: bool) -> bool {
        let mut state = self.state.lock();
        let over = state.interest.is_empty() && !(told && state.interest.is_due());
        if over {
            state.interest.forget();
            state.is_followed = false;
        }
        over
    }
}

/// Whoever speaks to one upstream about resources, as long as anybody listens.
struct Follower {
    shard: Shard,
    upstream: Arc<Upstream>,
}

impl Follower {
    fn topics(&self) -> &Topics {
        &self.upstream.topics
    }

    async fn run(self) {
        let kind = Kind { era: newest_stateless(), capabilities: Bytes::from_static(b"{}") };
        let (mut wait, mut again) = (WAIT.0, false);
        loop {
            self.topics().state.lock().interest.forget();
            if self.topics().is_over(false) {
                return;
            }
            let upto = *self.topics().wanted.borrow();
            match self.upstream.shared_link(&kind).get(&self.shard).await {
                Ok(link) => {
                    if again {
                        self.topics().publish_gap(self.shard.gateway.frame_limits());
                    }
                    let began = std::time::Instant::now();
                    let over = match link.era.has_sessions() {
                        true => self.by_subscriptions(&link).await,
                        false => self.by_streams(&link).await,
                    };
                    if over {
                        return;
                    }
                    if began.elapsed() > WAIT.1 {
                        wait = WAIT.0;
                    }
                }
                Err(e) => {
                    tracing::debug!(server = %self.upstream.name(), "nobody listens there: {}", self.upstream.told(&e))
                }
            }
            // Whoever waits to hear of it is not kept waiting by a server that is not there.
            self.topics().settle(upto);
            again = true;
            tokio::select! {
                () = tokio::time::sleep(wait) => wait = (wait * 2).min(WAIT.1),
                () = self.shard.gateway.stop.stopped() => return,
            }
        }
    }

    /// Subscribes to what is wanted, one by one; notices come with what else the link says unasked. `true` when nobody
    /// listens any more.
    async fn by_subscriptions(&self, link: &Arc<OpenLink>) -> bool {
        let mut wanted = self.topics().wanted.subscribe();
        loop {
            let upto = *wanted.borrow_and_update();
            loop {
                let change = self.topics().state.lock().interest.next_change();
                let Some(change) = change else { break };
                let (method, uri) = match &change {
                    Change::Subscribe(uri) => (Method::Subscribe, uri),
                    Change::Unsubscribe(uri) => (Method::Unsubscribe, uri),
                };
                request(&self.shard, link, method, &format!("\"uri\":{}", quote(uri))).await;
                self.topics().state.lock().interest.tell(change);
            }
            self.topics().settle(upto);
            if self.topics().is_over(true) {
                return true;
            }
            tokio::select! {
                changed = wanted.changed() => if changed.is_err() { return true },
                () = link.dead.stopped() => return false,
                () = self.shard.gateway.stop.stopped() => return true,
                () = gone(link) => return false,
            }
        }
    }

    /// Keeps one stream open for all that is wanted; another takes its place when that changes. `true` when nobody
    /// listens any more.
    async fn by_streams(&self, link: &Arc<OpenLink>) -> bool {
        let mut wanted = self.topics().wanted.subscribe();
        let mut order = Succession::default();
        let (mut current, mut coming): (Option<Stream>, Option<Stream>) = (None, None);
        loop {
            let upto = *wanted.borrow_and_update();
            if self.topics().is_over(false) {
                return true;
            }
            if coming.is_none() && self.topics().state.lock().interest.is_due() {
                match self.open(link, upto, order.open()).await {
                    Ok(stream) => coming = Some(stream),
                    Err(e) => {
                        tracing::debug!(server = %self.upstream.name(), "no stream of notices: {}", self.upstream.told(&e));
                        return false;
                    }
                }
            }
            let limits = self.shard.gateway.frame_limits();
            let item = tokio::select! {
                item = Stream::next(&mut current, &self.shard, limits) => item,
                item = Stream::next(&mut coming, &self.shard, limits) => item,
                changed = wanted.changed(), if coming.is_none() => {
                    if changed.is_err() { return true }
                    continue;
                }
                () = link.dead.stopped() => return false,
                () = self.shard.gateway.stop.stopped() => return true,
            };
            match item {
                None => return false,
                Some((_, frame)) if frame.kind() != FrameKind::Notification => return false,
                Some((number, frame)) => match Notice::from_name(&frame.method()) {
                    Some(Notice::Acknowledged) => {
                        if order.acknowledge(number)
                            && let Some(stream) = coming.take()
                        {
                            self.topics().state.lock().interest.tell_all(stream.uris.clone());
                            self.topics().settle(stream.upto);
                            current = Some(stream);
                        }
                    }
                    Some(Notice::Cancelled) => return false,
                    _ if order.counts(number) => self.topics().publish(link.era, &Arc::new(*frame)),
                    _ => {}
                },
            }
        }
    }

    async fn open(&self, link: &Arc<OpenLink>, upto: u64, number: u64) -> Result<Stream, LinkError> {
        let uris: Vec<String> = self.topics().state.lock().interest.uris().map(str::to_owned).collect();
        let key = self.shard.gateway.next_key();
        let envelope = own_meta(link.era, "{}", super::CLIENT_INFO);
        let list: Vec<String> = uris.iter().map(|uri| quote(uri)).collect();
        let method = Method::Listen.name();
        let body = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{key},\"method\":\"{method}\",\"params\":{{\"notifications\":{{\"resourceSubscriptions\":[{}]}},{envelope}}}}}",
            list.join(",")
        );
        let request = own_request(&self.upstream, link.era, key, body.into(), Method::Listen);
        let limits = self.shard.gateway.frame_limits();
        let patience = self.shard.gateway.snapshot.limits.connect_timeout;
        let opened = link.open_stream(&self.shard.client, request, limits);
        let opened =
            tokio::time::timeout(patience, opened).await.map_err(|_| LinkError::Late(patience.as_secs()))?;
        let source = opened?.ok_or(LinkError::Closed)?;
        Ok(Stream { number, upto, uris, source, shard: self.shard.clone(), link: link.clone(), key })
    }
}

/// Returns when a link's wire has ended by itself.
async fn gone(link: &OpenLink) {
    while link.is_alive() {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// A stream of notices that an upstream was asked for. It is told when nobody listens any more.
struct Stream {
    number: u64,
    /// Which changes of what is wanted it knows.
    upto: u64,
    uris: Vec<String>,
    source: Source,
    shard: Shard,
    link: Arc<OpenLink>,
    key: u64,
}

impl Stream {
    /// The next message of a stream with its number; `None` when it has ended.
    async fn next(
        stream: &mut Option<Self>,
        shard: &Shard,
        limits: FrameLimits,
    ) -> Option<(u64, Box<Frame>)> {
        let Some(stream) = stream else { return std::future::pending().await };
        loop {
            match stream.source.next(&shard.client, limits).await {
                Ok(Item::Frame(frame)) => return Some((stream.number, frame)),
                Ok(Item::Paused(_)) => {}
                Err(_) => return None,
            }
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if !self.link.hears_cancellation() || !self.link.is_alive() {
            return;
        }
        let (shard, link, key) = (self.shard.clone(), self.link.clone(), self.key);
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let params = format!("\"requestId\":{key}");
                let text = proto::era::notice(Notice::Cancelled.name(), params.as_bytes());
                // A child that is gone listens no more either.
                let _ = link.notify(&shard.client, text).await;
            });
        }
    }
}
