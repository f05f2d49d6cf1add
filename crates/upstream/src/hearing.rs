//! What upstreams say unasked: changes, log messages, questions.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use proto::era::{Lifecycle, own_meta};
use proto::mcp::{Method, Notice};
use proto::rpc::{Frame, Kind as FrameKind, result_response};
use transport::up::{EventStream, LinkError, Owner, StreamItem, UnaskedMessage, messages};

use crate::changes::Changes;
use crate::egress::Egress;
use crate::link::reply::Item;
use crate::link::{LinkUser, OpenLink, Wire};
use crate::pool::LinkCell;
use crate::server::Kind;
use crate::upstream::Upstream;

/// The first wait before a lost stream is opened again, and the longest.
const WAIT: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));

/// Starts to listen to an open link. The tasks end with the link, or with its cell when the link is to be opened again.
pub fn start(
    egress: &Egress,
    upstream: &Arc<Upstream>,
    link: &Arc<OpenLink>,
    kind: &Kind,
    cell: &Arc<LinkCell>,
) {
    let ear = Ear {
        egress: egress.clone(),
        upstream: Arc::downgrade(upstream),
        link: Arc::downgrade(link),
        kind: kind.clone(),
        cell: Arc::downgrade(cell),
        changes: Arc::default(),
    };
    if let Some(mut unasked) = link.take_unasked() {
        let (ear, is_stream) = (ear.clone(), matches!(link.wire, Wire::Sse(_)));
        tokio::spawn(async move {
            while let Some(UnaskedMessage { frame, owner }) = unasked.recv().await {
                let Some(link) = ear.link.upgrade() else { return };
                ear.hear(&link, frame, owner);
            }
            // A child starts again when somebody needs it; a stream that broke is missed at once.
            if is_stream {
                ear.revive().await;
            }
        });
    }
    match (&link.wire, link.era.lifecycle) {
        (Wire::Native(_), _) | (Wire::Pipe(_) | Wire::Sse(_), Lifecycle::Handshake) => {}
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
    egress: Egress,
    upstream: Weak<Upstream>,
    link: Weak<OpenLink>,
    kind: Kind,
    cell: Weak<LinkCell>,
    changes: Arc<Changes>,
}

enum Listening {
    Standing,
    Subscription(String),
}

impl Ear {
    /// Keeps a stream open as long as the link lives, and sees to it that a link that is gone is opened again.
    async fn keep_open(&self, what: Listening) {
        let mut wait = WAIT.0;
        let mut again = false;
        loop {
            let Some(link) = self.link.upgrade() else { return };
            if !link.is_alive() {
                break;
            }
            let opened = Instant::now();
            let outcome = match &what {
                Listening::Standing => self.stand(&link, again).await,
                Listening::Subscription(filter) => self.subscribe(&link, filter, again).await,
            };
            match outcome {
                // The session has only just been opened: what is not found is the stream.
                Ok(false) | Err(LinkError::SessionGone) if !again => return,
                Err(LinkError::SessionGone) => link.bury(),
                // It had a stream. Whether it is the same server that now has none shows when its lists are asked for.
                Ok(false) if link.is_alive() => {
                    let Some(upstream) = self.upstream.upgrade() else { return };
                    if upstream.offer(&self.kind).refresh(&self.egress, &link).await {
                        return;
                    }
                }
                Ok(_) | Err(_) => {}
            }
            if !link.is_alive() {
                break;
            }
            drop(link);
            again = true;
            if opened.elapsed() > WAIT.1 {
                wait = WAIT.0;
            }
            if !self.pause(wait).await {
                return;
            }
            wait = (wait * 2).min(WAIT.1);
        }
        self.revive().await;
    }

    /// `false` when the gateway stops meanwhile.
    async fn pause(&self, wait: Duration) -> bool {
        let stopped = self.egress.stop().clone();
        tokio::select! {
            () = tokio::time::sleep(wait) => true,
            () = stopped.stopped() => false,
        }
    }

    /// Opens the link again: as long as somebody may use it, somebody has to hear what changes.
    async fn revive(&self) {
        let mut wait = WAIT.0;
        while self.pause(wait).await {
            let Some(cell) = self.cell.upgrade().filter(|cell| cell.is_wanted()) else { return };
            match cell.get(&self.egress).await {
                Ok(_) => return,
                Err(_) => wait = (wait * 2).min(WAIT.1),
            }
        }
    }

    /// What changed while nobody listened was told to nobody.
    fn catch_up(&self, link: &Arc<OpenLink>) {
        let Some(upstream) = self.upstream.upgrade() else { return };
        let (offer, egress, link) = (upstream.offer(&self.kind), self.egress.clone(), link.clone());
        tokio::spawn(async move { offer.refresh(&egress, &link).await });
    }

    /// Listens on the standing stream until it ends; `false` when the upstream has none.
    async fn stand(&self, link: &Arc<OpenLink>, again: bool) -> Result<bool, LinkError> {
        let Wire::Http(http) = &link.wire else { return Ok(false) };
        // Proxies may hold the head back until the first event, so there is no deadline but the link's own end.
        let opened = tokio::select! {
            opened = http.listen(&self.egress.client) => opened?,
            () = self.egress.stop().stopped() => return Ok(false),
            () = link.dead.stopped() => return Ok(false),
        };
        let Some(stream) = opened else { return Ok(false) };
        if again {
            self.catch_up(link);
        }
        self.drain(link, stream).await.map(|()| true)
    }

    async fn drain(&self, link: &Arc<OpenLink>, mut stream: EventStream) -> Result<(), LinkError> {
        let limits = self.egress.frame_limits();
        loop {
            let item = tokio::select! {
                item = stream.next(&self.egress.client) => item?,
                () = self.egress.stop().stopped() => return Ok(()),
                () = link.dead.stopped() => return Ok(()),
            };
            match item {
                StreamItem::Paused { .. } => {}
                StreamItem::Message(text) => match messages(text, link.era, limits) {
                    Ok(frames) => {
                        for frame in frames {
                            // Calls have streams of their own here, so what is said on this one names none.
                            let owner = link.calls.sole_owner();
                            self.hear(link, frame, owner);
                        }
                    }
                    Err(e) => tracing::debug!(server = %link.server.name(), "{}", link.server.told(&e)),
                },
            }
        }
    }

    /// Listens to announced changes until the stream ends; `false` when the upstream refuses.
    async fn subscribe(&self, link: &Arc<OpenLink>, filter: &str, again: bool) -> Result<bool, LinkError> {
        let key = self.egress.next_key();
        let meta = own_meta(link.era, "{}", crate::CLIENT_INFO);
        let method = Method::Listen.name();
        let body = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{key},\"method\":\"{method}\",\"params\":{{\"notifications\":{{{filter}}},{meta}}}}}"
        );
        let request = link.server.own_request(link.era, key, body.into(), Method::Listen);
        let limits = self.egress.frame_limits();
        let opened = link.open_stream(&self.egress.client, request, limits).await?;
        let Some(mut source) = opened else { return Ok(false) };
        if again {
            self.catch_up(link);
        }
        loop {
            let item = tokio::select! {
                item = source.next(&self.egress.client, limits) => item?,
                () = self.egress.stop().stopped() => return Ok(false),
                () = link.dead.stopped() => return Ok(false),
            };
            match item {
                Item::Paused(_) => {}
                Item::Frame(frame) => match frame.kind() {
                    FrameKind::Error => return Ok(false),
                    FrameKind::Response => return Ok(true),
                    _ => self.hear(link, frame, None),
                },
            }
        }
    }

    /// `owner` is the one whose it must be if it is a log message.
    fn hear(&self, link: &Arc<OpenLink>, frame: Frame, owner: Option<Owner>) {
        match frame.kind() {
            FrameKind::Request => self.question(link, frame),
            FrameKind::Notification => self.notice(link, frame, owner),
            FrameKind::Response | FrameKind::Error => {}
        }
    }

    fn question(&self, link: &Arc<OpenLink>, frame: Frame) {
        if frame.method() == Method::Ping.name()
            && let Some(id) = frame.id()
        {
            return link.say(&self.egress, result_response(id, b"{}"));
        }
        let Some(frame) = link.deliver(frame) else { return };
        let server = link.server.spec.id;
        let user = link.users().into_iter().next().filter(|user| link.own && user.may_use(server));
        let Some(user) = user else {
            let why = "no client can be asked on this connection";
            return link.refuse(&self.egress, &frame, why);
        };
        if let Err(why) = user.ask(&self.egress, link, &frame) {
            link.refuse(&self.egress, &frame, &why);
        }
    }

    fn notice(&self, link: &Arc<OpenLink>, frame: Frame, owner: Option<Owner>) {
        let notice = Notice::from_name(&frame.method());
        match notice {
            Some(changed @ (Notice::ToolsChanged | Notice::PromptsChanged | Notice::ResourcesChanged)) => {
                // What else the server says must not wait for its lists.
                if self.changes.note(changed) {
                    let (ear, link) = (self.clone(), link.clone());
                    tokio::spawn(async move { ear.look(&link).await });
                }
            }
            Some(Notice::ResourceUpdated) => self.updated(link, frame),
            Some(Notice::Cancelled) => {
                let Some(frame) = link.deliver(frame) else { return };
                for user in link.users() {
                    user.withdraw(link, &frame);
                }
            }
            Some(Notice::Acknowledged) => {}
            // Its token is ours, and means nothing to anybody but the client behind the call.
            Some(Notice::Progress) => {
                if let Some((user, text)) = link.progress_of(&frame) {
                    user.progress(text);
                }
            }
            Some(Notice::Message) => {
                let Some(frame) = link.deliver(frame) else { return };
                if let Some(user) = link.session_of(owner) {
                    pass_to(&self.egress, &user, link, &frame);
                } else {
                    tracing::debug!(server = %link.server.name(), "a log message is nobody's");
                }
            }
            _ => {
                if let Some(frame) = link.deliver(frame) {
                    pass_on(&self.egress, link, &frame);
                }
            }
        }
    }

    /// Tells whoever listens to a resource that it has changed.
    fn updated(&self, link: &Arc<OpenLink>, frame: Frame) {
        let Some(upstream) = self.upstream.upgrade() else { return };
        // Each link to a child is a process, and only that in which something was changed may know of it.
        let is_own = self.cell.upgrade().is_some_and(|cell| cell.is_own());
        let is_for_all = matches!(link.wire, Wire::Pipe(_)) && !is_own;
        let uri = frame.param("uri").ok().flatten().and_then(|span| frame.string(span));
        let users = if is_for_all { upstream.links.users() } else { link.users() };
        for user in users {
            if uri.as_ref().is_some_and(|uri| user.is_concerned(uri)) {
                user.hear(link.era, &frame);
            }
        }
        drop(uri);
        // Who listens without a session shares the link of all such clients.
        if is_for_all || !self.kind.era.has_sessions() {
            upstream.topics.publish(link.era, &Arc::from(frame));
        }
    }

    /// Looks into what changed until nothing more has.
    async fn look(&self, link: &Arc<OpenLink>) {
        loop {
            let lists = self.changes.take();
            if lists.is_empty() {
                return;
            }
            self.changed(link, &lists).await;
        }
    }

    /// Fetches what changed, and only then tells clients: who asks at once must not get the old list.
    async fn changed(&self, link: &Arc<OpenLink>, lists: &[Notice]) {
        let Some(upstream) = self.upstream.upgrade() else { return };
        let kinds = upstream.offers.kinds_beside(&self.kind);
        let announcement = self.egress.audience().map(|all| all.before_change(&link.server, &kinds));
        upstream.offer(&self.kind).refresh(&self.egress, link).await;
        if let Some(announce) = announcement {
            announce(lists);
        }
    }
}

/// Passes a notification to every session on the link.
fn pass_on(egress: &Egress, link: &OpenLink, frame: &Frame) {
    for user in link.users() {
        pass_to(egress, &user, link, frame);
    }
}

/// Passes a notification to one session, if that wants it.
fn pass_to(egress: &Egress, user: &Arc<dyn LinkUser>, link: &OpenLink, frame: &Frame) {
    if (link.own || user.wants(frame)) && user.may_use(link.server.spec.id) {
        user.receive(egress, link, frame);
    }
}
