//! Listens for unsolicited messages on every link that opens: changes, log messages, questions.

mod attempts;
mod lists;
mod roots;

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use proto::bridge::input::Askable;
use proto::era::{Lifecycle, own_meta};
use proto::mcp::{Method, Notice};
use proto::rpc::{Frame, FrameKind, result_response};
use transport::up::{EventStream, LinkError, Owner, StreamItem, UnaskedMessage, messages};

use self::attempts::Attempt;
use crate::changes::Changes;
use crate::egress::{Egress, Updating};
use crate::link::reply::Item;
use crate::link::{DOUBTFUL, LinkUser, OpenLink, Wire};
use crate::pool::link_cell::OpenedLink;
use crate::pool::{LinkCell, LinkListener};
use crate::upstream::Upstream;

/// The first and the longest wait before a lost stream is reopened.
const WAIT: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));

impl LinkListener for Upstream {
    fn opened(self: Arc<Self>, egress: &Egress, opened: OpenedLink<'_>) -> Updating {
        let OpenedLink { link, cell, asked, askable, was_gone, users } = opened;
        let updating = self.catalogue.introduced(egress, asked, &link.hello);
        start(egress, &self, link, askable, cell);
        for user in users {
            user.rejoin(egress, self.server.spec.id);
        }
        // A server that has come back may have other lists, or may be another server.
        if was_gone && askable.is_nothing() {
            let (catalogue, egress) = (self.catalogue.clone(), egress.clone());
            transport::task::spawn(async move { catalogue.refresh(&egress).await });
        }
        updating
    }
}

/// Starts the tasks that listen on an open link. After the link has ended, a task may reopen it; the task gives up
/// if the link's cell is dropped.
fn start(
    egress: &Egress,
    upstream: &Arc<Upstream>,
    link: &Arc<OpenLink>,
    askable: Askable,
    cell: &Arc<LinkCell>,
) {
    let monitor = LinkMonitor {
        egress: egress.clone(),
        upstream: Arc::downgrade(upstream),
        link: Arc::downgrade(link),
        askable,
        cell: Arc::downgrade(cell),
        changes: Arc::default(),
    };
    if let Some(mut unasked) = link.recipients.take_unasked() {
        let (monitor, is_stream) = (monitor.clone(), matches!(link.wire, Wire::Sse(_)));
        transport::task::spawn(async move {
            while let Some(UnaskedMessage { frame, owner }) = unasked.recv().await {
                let Some(link) = monitor.link.upgrade() else { return };
                monitor.hear(&link, frame, owner);
            }
            monitor.note_end();
            // A broken stream is noticed immediately.
            if is_stream {
                monitor.revive().await;
            }
        });
    }
    match (&link.wire, link.era.lifecycle) {
        (Wire::Native(_), _) | (Wire::Pipe(_) | Wire::Sse(_), Lifecycle::Handshake) => {}
        (Wire::Http(_), Lifecycle::Handshake) => {
            transport::task::spawn(async move { monitor.keep_open(HeardStream::Standing).await });
        }
        (_, Lifecycle::Stateless) => {
            if let Some(filter) = announced_changes(link) {
                transport::task::spawn(
                    async move { monitor.keep_open(HeardStream::Subscription(filter)).await },
                );
            }
        }
    }
}

/// Returns the filter of a request to listen for the changes that the upstream announces; `None` if it announces none.
fn announced_changes(link: &OpenLink) -> Option<String> {
    let has = |name: &str| engine::catalogue::declares(&link.hello.capabilities, name, Some("listChanged"));
    let members: Vec<String> = ["tools", "prompts", "resources"]
        .into_iter()
        .filter(|name| has(name))
        .map(|name| format!("\"{name}ListChanged\":true"))
        .collect();
    (!members.is_empty()).then(|| members.join(","))
}

/// Receives the unsolicited messages of one link, and reopens the link's streams.
#[derive(Clone)]
struct LinkMonitor {
    egress: Egress,
    upstream: Weak<Upstream>,
    link: Weak<OpenLink>,
    /// The questions that were declared to the server on this link, so the server may ask them.
    askable: Askable,
    cell: Weak<LinkCell>,
    changes: Arc<Changes>,
}

enum HeardStream {
    Standing,
    Subscription(String),
}

impl LinkMonitor {
    /// Keeps a stream open as long as the link lives, and reopens a lost link.
    async fn keep_open(&self, what: HeardStream) {
        let mut wait = WAIT.0;
        let mut attempt = Attempt::default();
        loop {
            let Some(link) = self.link.upgrade() else { return };
            if !link.is_alive() {
                break;
            }
            let opened = Instant::now();
            let again = attempt.again;
            let outcome = match &what {
                HeardStream::Standing => self.stand(&link, &mut attempt).await,
                HeardStream::Subscription(filter) => self.subscribe(&link, filter, &mut attempt).await,
            };
            attempt.ended(&link, outcome.as_ref().err());
            match outcome {
                // The session has only just been opened, so the answer must mean that the server has no stream.
                Ok(false) | Err(LinkError::SessionGone) if !again => return,
                Err(LinkError::SessionGone) => link.bury(),
                // The server had a stream before. Fetching its lists shows whether it is still the same server.
                Ok(false) if link.is_alive() => {
                    let Some(upstream) = self.upstream.upgrade() else { return };
                    if upstream.catalogue.refresh(&self.egress).await {
                        return;
                    }
                }
                // The health machine checks whether the server can still be reached.
                Err(e) if e.passing().is_some() => link.server.note_lost_stream(&e),
                Ok(_) | Err(_) => {}
            }
            if !link.is_alive() {
                break;
            }
            drop(link);
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

    /// Waits; returns `false` if the gateway stops in the meantime.
    async fn pause(&self, wait: Duration) -> bool {
        let stopped = self.egress.stop().clone();
        tokio::select! {
            () = tokio::time::sleep(wait) => true,
            () = stopped.stopped() => false,
        }
    }

    /// Records that a shared link has ended, unless the gateway closed it.
    fn note_end(&self) {
        if let (Some(link), Some(cell)) = (self.link.upgrade(), self.cell.upgrade())
            && !self.egress.stop().is_stopped()
        {
            cell.note_end(&link);
        }
    }

    /// Reopens the link: as long as it has users, changes must be received.
    async fn revive(&self) {
        let mut wait = WAIT.0;
        while self.pause(wait).await {
            let Some(cell) = self.cell.upgrade().filter(|cell| cell.is_wanted() && !cell.has_another())
            else {
                return;
            };
            match cell.get(&self.egress).await {
                Ok(_) => return,
                Err(_) => wait = (wait * 2).min(WAIT.1),
            }
        }
    }

    /// Fetches the lists again, because changes during the interruption were not received.
    fn catch_up(&self) {
        let Some(upstream) = self.upstream.upgrade() else { return };
        let (catalogue, egress) = (upstream.catalogue.clone(), self.egress.clone());
        transport::task::spawn(async move { catalogue.refresh(&egress).await });
    }

    /// Listens on the link's stream of unsolicited messages until the stream ends; returns `false` if the upstream has
    /// no such stream.
    async fn stand(&self, link: &Arc<OpenLink>, attempt: &mut Attempt) -> Result<bool, LinkError> {
        let Wire::Http(http) = &link.wire else { return Ok(false) };
        // A proxy may hold back the head of the response until the first event, so only the end of the link limits the
        // wait.
        let opened = tokio::select! {
            opened = http.listen(self.egress.client()) => opened?,
            () = self.egress.stop().stopped() => return Ok(false),
            () = link.dead.stopped() => return Ok(false),
        };
        let Some(stream) = opened else { return Ok(false) };
        if attempt.opened(link) {
            self.catch_up();
        }
        self.drain(link, stream).await.map(|()| true)
    }

    async fn drain(&self, link: &Arc<OpenLink>, mut stream: EventStream) -> Result<(), LinkError> {
        let limits = self.egress.frame_limits();
        loop {
            let item = tokio::select! {
                item = stream.next(self.egress.client()) => item?,
                () = self.egress.stop().stopped() => return Ok(()),
                () = link.dead.stopped() => return Ok(()),
            };
            match item {
                StreamItem::Paused { .. } => {}
                StreamItem::Message(text) => match messages(text, link.era.batches, limits) {
                    Ok(frames) => {
                        for frame in frames {
                            // On this transport, calls have streams of their own, so messages on this stream name no
                            // call.
                            let owner = link.calls.sole_owner();
                            self.hear(link, frame, owner);
                        }
                    }
                    Err(e) => {
                        tracing::debug!(server = %link.server.name(), "the server {}", link.server.describe(&e));
                    }
                },
            }
        }
    }

    /// Listens for announced changes until the stream ends; returns `false` if the upstream refuses.
    async fn subscribe(
        &self,
        link: &Arc<OpenLink>,
        filter: &str,
        attempt: &mut Attempt,
    ) -> Result<bool, LinkError> {
        let key = self.egress.next_key();
        let meta = own_meta(link.era, "{}", crate::CLIENT_INFO);
        let method = Method::Listen.name();
        let body = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{key},\"method\":\"{method}\",\"params\":{{\"notifications\":{{{filter}}},{meta}}}}}"
        );
        let request = link.server.own_request(link.era, key, body.into(), Method::Listen);
        let limits = self.egress.frame_limits();
        let opened = link.open_stream(self.egress.client(), request, limits).await?;
        let Some(mut source) = opened else { return Ok(false) };
        if attempt.opened(link) {
            self.catch_up();
        }
        loop {
            let item = tokio::select! {
                item = source.next(self.egress.client(), limits) => item?,
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

    /// Handles one message. A log message goes to `owner`.
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
            return link.enqueue(&self.egress, result_response(id, b"{}"));
        }
        let Some(frame) = self.roots_question(link, frame) else { return };
        if link.is_in_doubt() {
            return link.refuse(&self.egress, &frame, DOUBTFUL);
        }
        let Some(frame) = link.recipients.deliver(frame) else { return };
        let server = link.server.spec.id;
        let user =
            if link.own { link.recipients.users().into_iter().next() } else { link.recipients.turn_user() };
        let Some(user) = user.filter(|user| user.may_use(server)) else {
            let why = "no client on this connection can answer questions";
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
                self.announced(link, changed);
            }
            Some(Notice::ResourceUpdated) => self.updated(link, frame),
            Some(Notice::Cancelled) => {
                let Some(frame) = link.recipients.deliver(frame) else { return };
                for user in link.recipients.users() {
                    user.withdraw(link, &frame);
                }
            }
            Some(Notice::Acknowledged) => {}
            // The token is the gateway's own, and concerns only the client that made the call.
            Some(Notice::Progress) => {
                if let Some((user, text)) = link.recipients.progress_of(&frame) {
                    user.progress(text);
                }
            }
            Some(Notice::Message) => {
                let is_of_turn = link.recipients.turn().is_none_or(|turn| owner == Some(turn));
                let frame = if is_of_turn { link.recipients.deliver(frame) } else { Some(frame) };
                let Some(frame) = frame else { return };
                if let Some(user) = link.session_of(owner) {
                    pass_to(&self.egress, &user, link, &frame);
                } else {
                    tracing::debug!(server = %link.server.name(), "dropped a log message that belongs to \
                        no client");
                }
            }
            _ => {
                if let Some(frame) = link.recipients.deliver(frame) {
                    pass_on(&self.egress, link, &frame);
                }
            }
        }
    }

    /// Notifies the listeners of a resource that it has changed.
    fn updated(&self, link: &Arc<OpenLink>, frame: Frame) {
        let Some(upstream) = self.upstream.upgrade() else { return };
        // Each link to a child is a process, and a change may be known only to the process in which it happened.
        let is_own = self.cell.upgrade().is_some_and(|cell| cell.is_own());
        let is_for_all = matches!(link.wire, Wire::Pipe(_)) && !is_own;
        let uri = frame.param("uri").ok().flatten().and_then(|span| frame.string(span));
        let users = if is_for_all { upstream.links.users() } else { link.recipients.users() };
        for user in users {
            if let Some(uri) = &uri {
                user.updated(link.server.spec.id, uri, link.era, &frame);
            }
        }
        drop(uri);
        // Clients that listen without a session are notified of everything that is heard on links without a session.
        if is_for_all || !is_own {
            upstream.topics.publish(link.era, &Arc::from(frame));
        }
    }
}

/// Passes a notification to every session on the link.
fn pass_on(egress: &Egress, link: &OpenLink, frame: &Frame) {
    for user in link.recipients.users() {
        pass_to(egress, &user, link, frame);
    }
}

/// Passes a notification to one session, if the session wants it.
fn pass_to(egress: &Egress, user: &Arc<dyn LinkUser>, link: &OpenLink, frame: &Frame) {
    if (link.own || user.wants(frame)) && user.may_use(link.server.spec.id) {
        user.receive(egress, link, frame);
    }
}
