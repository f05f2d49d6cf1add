//! The task that subscribes at one upstream for all listeners: resource by resource in a session, or with one stream
//! of notifications. This module must not know who the listeners are.

use std::sync::Arc;
use std::time::Duration;

use proto::bridge::listen::{StreamHandover, SubscriptionChange};
use proto::era::{newest_stateless, own_meta};
use proto::json::{Elements, Members, quote};
use proto::mcp::{Method, Notice};
use proto::rpc::{Frame, FrameKind, FrameLimits};
use tokio::time::Instant;
use transport::up::LinkError;

use super::topics::{Listener, ListenerGuard, Topics};
use crate::egress::Egress;
use crate::link::OpenLink;
use crate::link::reply::{Item, ReplySource};
use crate::link::requests::{OpenRequest, request};
use crate::pool::Links;
use crate::server::Server;

/// The first and the longest pause before a lost link is reopened.
const WAIT: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));

/// The task for one upstream, which runs as long as there is a listener.
struct Follower {
    egress: Egress,
    links: Arc<Links>,
    topics: Arc<Topics>,
}

/// Adds a listener to the listeners of a server.
pub fn listen(
    egress: &Egress,
    links: &Arc<Links>,
    topics: &Arc<Topics>,
    listener: Listener,
) -> ListenerGuard {
    let (listening, follow) = topics.join(links.server(), listener);
    if follow {
        let follower = Follower { egress: egress.clone(), links: links.clone(), topics: topics.clone() };
        transport::task::spawn(follower.run());
    }
    listening
}

impl Follower {
    fn server(&self) -> &Arc<Server> {
        self.links.server()
    }

    fn topics(&self) -> &Topics {
        &self.topics
    }

    async fn run(self) {
        let (mut wait, mut again) = (WAIT.0, false);
        loop {
            self.topics().state.lock().interest.forget();
            if self.topics().is_over(false) {
                return;
            }
            if self.server().shutdown.begun.is_stopped() {
                return self.topics().settle(u64::MAX);
            }
            let upto = *self.topics().wanted.borrow();
            match self.links.shared_link(newest_stateless()).get(&self.egress).await {
                Ok(link) => {
                    let began = Instant::now();
                    let over = if link.era.has_sessions() {
                        self.by_subscriptions(&link, again).await
                    } else {
                        self.by_streams(&link, again).await
                    };
                    if over {
                        return;
                    }
                    if began.elapsed() > WAIT.1 {
                        wait = WAIT.0;
                    }
                }
                Err(e) => {
                    tracing::debug!(
                        server = %self.server().name(),
                        "the server's notifications are not received: the server {}",
                        self.server().describe(&e)
                    );
                }
            }
            // Callers that wait for the result must not have to wait for a server that cannot be reached.
            self.topics().settle(upto);
            again = true;
            tokio::select! {
                () = self.settle_meanwhile(wait) => wait = (wait * 2).min(WAIT.1),
                () = self.egress.stop().stopped() => return,
            }
        }
    }

    /// Waits; listeners that join in the meantime are settled immediately.
    async fn settle_meanwhile(&self, wait: Duration) {
        let until = Instant::now() + wait;
        let mut wanted = self.topics().wanted.subscribe();
        loop {
            let upto = *wanted.borrow_and_update();
            self.topics().settle(upto);
            match tokio::time::timeout_at(until, wanted.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) | Err(_) => return,
            }
        }
    }

    /// Notifies each listener once that updates were missed, as soon as updates arrive again.
    fn announce_gap(&self, gap: &mut bool) {
        if std::mem::take(gap) {
            self.topics().publish_gap(self.egress.frame_limits());
        }
    }

    /// Subscribes to the wanted resources one by one; their notifications arrive among the unsolicited messages of
    /// the link. Returns `true` once there are no more listeners.
    async fn by_subscriptions(&self, link: &Arc<OpenLink>, mut gap: bool) -> bool {
        let mut wanted = self.topics().wanted.subscribe();
        loop {
            let upto = *wanted.borrow_and_update();
            loop {
                let change = self.topics().state.lock().interest.next_change();
                let Some(change) = change else { break };
                let (method, uri) = match &change {
                    SubscriptionChange::Subscribe(uri) => (Method::Subscribe, uri),
                    SubscriptionChange::Unsubscribe(uri) => (Method::Unsubscribe, uri),
                };
                let taken = request(&self.egress, link, method, &format!("\"uri\":{}", quote(uri))).await;
                let mut state = self.topics().state.lock();
                state.refuses_all = false;
                match change {
                    SubscriptionChange::Subscribe(uri) if !taken => state.interest.refuse(uri),
                    told => state.interest.tell(told),
                }
            }
            self.announce_gap(&mut gap);
            self.topics().settle(upto);
            if self.topics().is_over(true) {
                return true;
            }
            tokio::select! {
                changed = wanted.changed() => if changed.is_err() { return true },
                () = link.dead.stopped() => return false,
                () = self.egress.stop().stopped() => return true,
                () = gone(link) => return false,
            }
        }
    }

    /// Keeps one stream open for all wanted resources, and opens a new stream if the wanted resources change.
    /// Returns `true` once there are no more listeners.
    async fn by_streams(&self, link: &Arc<OpenLink>, mut gap: bool) -> bool {
        let mut wanted = self.topics().wanted.subscribe();
        let mut order = StreamHandover::default();
        let (mut current, mut coming): (Option<NoticeStream>, Option<NoticeStream>) = (None, None);
        loop {
            let upto = *wanted.borrow_and_update();
            if self.topics().is_over(false) {
                return true;
            }
            if coming.is_none() && self.topics().state.lock().interest.is_due() {
                let Some(stream) = self.asked_for(link, upto, order.open()).await else { return false };
                coming = Some(stream);
            }
            let limits = self.egress.frame_limits();
            let overdue = overdue(coming.as_ref().map(|stream| stream.until));
            let alone = coming.is_none();
            let item = tokio::select! {
                item = NoticeStream::next(&mut current, &self.egress, limits) => item,
                item = NoticeStream::next(&mut coming, &self.egress, limits) => item,
                changed = wanted.changed(), if alone => {
                    if changed.is_err() { return true }
                    continue;
                }
                () = link.dead.stopped() => return false,
                () = self.egress.stop().stopped() => return true,
                () = overdue => return false,
            };
            match item {
                None => return false,
                Some((number, frame)) if frame.kind() != FrameKind::Notification => {
                    let is_refusal = frame.kind() == FrameKind::Error && !order.counts(number);
                    self.topics().state.lock().refuses_all = is_refusal;
                    return false;
                }
                Some((number, frame)) => match Notice::from_name(&frame.method()) {
                    Some(Notice::Acknowledged) => {
                        if order.acknowledge(number)
                            && let Some(stream) = coming.take()
                        {
                            self.acknowledged(&stream.uris, &frame);
                            self.topics().settle(stream.upto);
                            current = Some(stream);
                            self.announce_gap(&mut gap);
                        }
                    }
                    Some(Notice::Cancelled) => return false,
                    _ if order.counts(number) => self.topics().publish(link.era, &Arc::new(frame)),
                    _ => {}
                },
            }
        }
    }

    /// Requests a stream for the wanted resources. The upstream acknowledges it later; a refusal is recorded.
    async fn asked_for(&self, link: &Arc<OpenLink>, upto: u64, number: u64) -> Option<NoticeStream> {
        match self.open(link, upto, number).await {
            Ok(Some(stream)) => return Some(stream),
            Ok(None) | Err(LinkError::Status { .. }) => {
                tracing::debug!(server = %self.server().name(), "the server refused a stream of notifications");
                self.topics().state.lock().refuses_all = true;
            }
            Err(e) => {
                tracing::debug!(server = %self.server().name(), "cannot open a stream of notifications: \
                    the server {}", self.server().describe(&e));
            }
        }
        None
    }

    /// Records for which of the requested resources the upstream sends updates.
    fn acknowledged(&self, asked: &[String], frame: &Frame) {
        let honoured = honoured(frame);
        let honours = |uri: &str| honoured.as_ref().is_none_or(|all| all.iter().any(|one| one == uri));
        let mut state = self.topics().state.lock();
        state.refuses_all = false;
        state.interest.tell_all(asked.iter().cloned(), honours);
    }

    /// Requests a stream; returns `None` if the upstream refuses it.
    async fn open(
        &self,
        link: &Arc<OpenLink>,
        upto: u64,
        number: u64,
    ) -> Result<Option<NoticeStream>, LinkError> {
        let uris: Vec<String> = self.topics().state.lock().interest.uris().map(str::to_owned).collect();
        let key = self.egress.next_key();
        let envelope = own_meta(link.era, "{}", crate::CLIENT_INFO);
        let list: Vec<String> = uris.iter().map(|uri| quote(uri)).collect();
        let method = Method::Listen.name();
        let body = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{key},\"method\":\"{method}\",\"params\":{{\"notifications\":{{\"resourceSubscriptions\":[{}]}},{envelope}}}}}",
            list.join(",")
        );
        let request = self.server().own_request(link.era, key, body.into(), Method::Listen);
        let limits = self.egress.frame_limits();
        let patience = self.egress.snapshot().limits.connect_timeout;
        let opened = link.open_stream(self.egress.client(), request, limits);
        let opened =
            tokio::time::timeout(patience, opened).await.map_err(|_| LinkError::Late(patience.as_secs()))?;
        let Some(source) = opened? else { return Ok(None) };
        // The acknowledgement gets the same time limit again.
        let until = Instant::now() + patience;
        let request = OpenRequest::new(&self.egress, link, key);
        Ok(Some(NoticeStream { number, upto, uris, source, until, _request: request }))
    }
}

/// Returns the resources in an acknowledgement; `None` if the acknowledgement does not name the accepted resources.
fn honoured(acknowledgement: &Frame) -> Option<Vec<String>> {
    let text = acknowledgement.text();
    let filter = acknowledgement.param("notifications").ok().flatten()?;
    let filter = Members::of_value(text, filter)?;
    let list = filter.get(text, "resourceSubscriptions").and_then(|list| Elements::of_value(text, list));
    let names = list.as_ref().map(|list| list.iter().filter_map(|span| acknowledgement.string(span)));
    Some(names.into_iter().flatten().map(std::borrow::Cow::into_owned).collect())
}

/// Completes when a link's transport has ended by itself.
async fn gone(link: &OpenLink) {
    while link.is_alive() {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// Completes when a stream was not acknowledged in time.
async fn overdue(until: Option<Instant>) {
    match until {
        Some(until) => tokio::time::sleep_until(until).await,
        None => std::future::pending().await,
    }
}

/// A stream of notifications from an upstream. When this value is dropped, the upstream is notified.
struct NoticeStream {
    number: u64,
    /// The number of the last change to the wanted resources that the stream includes.
    upto: u64,
    uris: Vec<String>,
    source: ReplySource,
    until: Instant,
    _request: OpenRequest,
}

impl NoticeStream {
    /// Returns the next message of a stream, with the stream's number; `None` once the stream has ended.
    async fn next(stream: &mut Option<Self>, egress: &Egress, limits: FrameLimits) -> Option<(u64, Frame)> {
        let Some(stream) = stream else { return std::future::pending().await };
        loop {
            match stream.source.next(egress.client(), limits).await {
                Ok(Item::Frame(frame)) => return Some((stream.number, frame)),
                Ok(Item::Paused(_)) => {}
                Err(_) => return None,
            }
        }
    }
}
