//! What upstreams say unasked: changes, log messages, questions.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use proto::era::{Lifecycle, own_meta};
use proto::mcp::{Method, Notice};
use proto::rpc::{Frame, Kind as FrameKind, result_response};
use transport::up::{EventStream, LinkError, StreamItem};

use super::Shard;
use super::call::refuse_question;
use super::link::{Item, LinkRef, OpenLink, Wire, parse};
use super::session::{Face, Session};
use super::upstream::{Kind, own_request};

/// The first wait before a lost stream is opened again, and the longest.
const WAIT: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));

/// Starts to listen to an open link. The tasks end with the link.
pub(crate) fn start(shard: &Shard, link: &Arc<OpenLink>, kind: &Kind) {
    let ear = Ear { shard: shard.clone(), link: Arc::downgrade(link), kind: kind.clone() };
    if let Some(mut unasked) = link.take_unasked() {
        let ear = ear.clone();
        tokio::spawn(async move {
            while let Some(frame) = unasked.recv().await {
                let Some(link) = ear.link.upgrade() else { return };
                ear.hear(&link, frame).await;
            }
        });
    }
    match (&link.wire, link.era.lifecycle) {
        (Wire::Native(_), _) | (Wire::Pipe(_), Lifecycle::Handshake) => {}
        (Wire::Http(_), Lifecycle::Handshake) => {
            tokio::spawn(async move { ear.keep_open(Listening::Standing).await });
        }
        (_, Lifecycle::Stateless) => {
            if let Some(filter) = announced_changes(link) {
                tokio::spawn(async move { ear.keep_open(Listening::Subscription(filter)).await });
            }
        }
    }
}

/// The filter of a listen request for the changes that the upstream announces; `None` when it announces none.
fn announced_changes(link: &OpenLink) -> Option<String> {
    let has = |name: &str| engine::catalogue::declares(&link.hello.capabilities, name, Some("listChanged"));
    let members: Vec<String> = ["tools", "prompts", "resources"]
        .into_iter()
        .filter(|name| has(name))
        .map(|name| format!("\"{name}ListChanged\":true"))
        .collect();
    (!members.is_empty()).then(|| members.join(","))
}

#[derive(Clone)]
struct Ear {
    shard: Shard,
    link: Weak<OpenLink>,
    kind: Kind,
}

enum Listening {
    Standing,
    Subscription(String),
}

impl Ear {
    /// Keeps a stream open as long as the link lives.
    async fn keep_open(&self, what: Listening) {
        let mut wait = WAIT.0;
        loop {
            let Some(link) = self.link.upgrade().filter(|link| link.is_alive()) else { return };
            let opened = Instant::now();
            let outcome = match &what {
                Listening::Standing => self.stand(&link).await,
                Listening::Subscription(filter) => self.subscribe(&link, filter).await,
            };
            drop(link);
            match outcome {
                Ok(false) => return,
                Err(LinkError::SessionGone) => {
                    if let Some(link) = self.link.upgrade() {
                        link.bury();
                    }
                    return;
                }
                Ok(true) | Err(_) => {}
            }
            if opened.elapsed() > WAIT.1 {
                wait = WAIT.0;
            }
            let stopped = self.shard.gateway.stop.clone();
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = stopped.stopped() => return,
            }
            wait = (wait * 2).min(WAIT.1);
        }
    }

    /// Listens on the standing stream until it ends; `false` when the upstream has none.
    async fn stand(&self, link: &Arc<OpenLink>) -> Result<bool, LinkError> {
        let Wire::Http(http) = &link.wire else { return Ok(false) };
        // Proxies may hold the head back until the first event, so there is no deadline but the link's own end.
        let opened = tokio::select! {
            opened = http.listen(&self.shard.client) => opened?,
            () = self.shard.gateway.stop.stopped() => return Ok(false),
            () = link.dead.stopped() => return Ok(false),
        };
        let Some(stream) = opened else { return Ok(false) };
        self.drain(link, stream).await.map(|()| true)
    }

    async fn drain(&self, link: &Arc<OpenLink>, mut stream: EventStream) -> Result<(), LinkError> {
        let limits = self.shard.gateway.frame_limits();
        loop {
            let item = tokio::select! {
                item = stream.next(&self.shard.client) => item?,
                () = self.shard.gateway.stop.stopped() => return Ok(()),
                () = link.dead.stopped() => return Ok(()),
            };
            match item {
                StreamItem::Paused { .. } => {}
                StreamItem::Message(text) => match parse(text, limits) {
                    Ok(frame) => self.hear(link, Box::new(frame)).await,
                    Err(e) => tracing::debug!(server = %link.upstream.name(), "{}", link.upstream.told(&e)),
                },
            }
        }
    }

    /// Listens to announced changes until the stream ends; `false` when the upstream refuses.
    async fn subscribe(&self, link: &Arc<OpenLink>, filter: &str) -> Result<bool, LinkError> {
        let gateway = &self.shard.gateway;
        let key = gateway.next_key();
        let meta = own_meta(link.era, "{}", super::CLIENT_INFO);
        let method = Method::Listen.name();
        let body = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{key},\"method\":\"{method}\",\"params\":{{\"notifications\":{{{filter}}},{meta}}}}}"
        );
        let request = own_request(&link.upstream, link.era, key, body.into(), Method::Listen);
        let limits = gateway.frame_limits();
        let opened = link.open_stream(&self.shard.client, request, limits).await?;
        let Some(mut source) = opened else { return Ok(false) };
        loop {
            let item = tokio::select! {
                item = source.next(&self.shard.client, limits) => item?,
                () = gateway.stop.stopped() => return Ok(false),
                () = link.dead.stopped() => return Ok(false),
            };
            match item {
                Item::Paused(_) => {}
                Item::Frame(frame) => match frame.kind() {
                    FrameKind::Error => return Ok(false),
                    FrameKind::Response => return Ok(true),
                    _ => self.hear(link, frame).await,
                },
            }
        }
    }

    async fn hear(&self, link: &Arc<OpenLink>, frame: Box<Frame>) {
        match frame.kind() {
            FrameKind::Request => self.question(link, frame).await,
            FrameKind::Notification => self.notice(link, frame).await,
            FrameKind::Response | FrameKind::Error => {}
        }
    }

    async fn question(&self, link: &Arc<OpenLink>, frame: Box<Frame>) {
        if frame.method() == Method::Ping.name()
            && let Some(id) = frame.id()
        {
            let answer = result_response(id, b"{}");
            if let Err(e) = link.notify(&self.shard.client, answer).await {
                tracing::debug!(server = %link.upstream.name(), "a ping could not be answered: {}", link.upstream.told(&e));
            }
            return;
        }
        let user = link.users().into_iter().next().filter(|_| link.own);
        let Some(session) = user else {
            return refuse_question(&self.shard, link, &frame, "no client can be asked on this connection")
                .await;
        };
        let asked = session.asks.lock().ask(LinkRef(link.clone()), &frame, Instant::now());
        match asked {
            Ok(text) => session.tell(text, true),
            Err(fault) => refuse_question(&self.shard, link, &frame, &fault.to_string()).await,
        }
    }

    async fn notice(&self, link: &Arc<OpenLink>, frame: Box<Frame>) {
        let notice = Notice::from_name(&frame.method());
        match notice {
            Some(changed @ (Notice::ToolsChanged | Notice::PromptsChanged | Notice::ResourcesChanged)) => {
                self.changed(link, changed).await;
            }
            Some(Notice::ResourceUpdated) => {
                let uri = frame.param("uri").ok().flatten().and_then(|span| frame.string(span));
                for user in link.users() {
                    if uri.as_ref().is_some_and(|uri| user.is_subscribed(uri)) {
                        user.tell(frame.text().clone(), false);
                    }
                }
            }
            Some(Notice::Cancelled) => {
                for user in link.users() {
                    let withdrawn = user.asks.lock().withdraw(&LinkRef(link.clone()), &frame);
                    if let Some(text) = withdrawn {
                        user.tell(text, true);
                    }
                }
            }
            Some(Notice::Acknowledged) => {}
            _ => pass_on(link, &frame, notice),
        }
    }

    /// Fetches what changed, and only then tells clients: who asks at once must not get the old list.
    async fn changed(&self, link: &Arc<OpenLink>, notice: Notice) {
        let views = self.shard.gateway.views.with(&self.shard, link.upstream.spec.id, &self.kind);
        let before: Vec<_> = views.iter().map(|view| *view.watch().borrow()).collect();
        link.upstream.offer(&self.kind).refresh(&self.shard, link).await;
        for (view, before) in views.iter().zip(before) {
            let now = *view.watch().borrow();
            if !now.since(before).any(|told| told == notice) {
                view.announce(&self.shard, notice);
            }
        }
    }
}

/// Passes a notification to every session on the link.
fn pass_on(link: &OpenLink, frame: &Frame, notice: Option<Notice>) {
    let level = frame.param("level").ok().flatten().and_then(|span| frame.string(span));
    for user in link.users() {
        let unwanted = notice == Some(Notice::Message)
            && !link.own
            && level.as_ref().is_some_and(|level| !user.wants_level(level));
        if !unwanted {
            user.tell(frame.text().clone(), false);
        }
    }
}

/// Tells a session that a list has changed.
pub(crate) fn tell_changed(session: &Session, notice: Notice) {
    // Without a standing stream nobody would read it, and the next list request gets the new list anyway.
    let keep = matches!(session.face, Face::Pipe(_));
    session.tell(proto::era::notice(notice.name(), b""), keep);
}
