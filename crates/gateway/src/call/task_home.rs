//! A task that a client without a session started at a server with the experimental tasks: the link on which the
//! task was started, and the server's questions while the result is awaited.

use std::borrow::Cow;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use bytes::Bytes;
use engine::exchange::Outbound;
use parking_lot::Mutex;
use proto::bridge::tasks::{Status, Task, TaskMethod, Watch, related};
use proto::era::Era;
use proto::json::{Members, unquote};
use proto::mcp::{Method, Notice};
use proto::rpc::{Frame, FrameKind, result_response};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use transport::up::{LinkError, Owner};

use upstream::Egress;
use upstream::Upstream;
use upstream::link::RequestOrigin;
use upstream::link::reply::{Item, Reply, ReplySource};
use upstream::link::requests::OpenRequest;
use upstream::link::{HeldLink, OpenLink};
use upstream::pool::DedicatedLink;
use upstream::pool::dormant::{AGE, Dormant};

/// The time for which a request waits for the question of a task that requires input.
const GRACE: Duration = Duration::from_secs(1);

/// A task, with the link that it needs and its open questions.
pub(crate) struct Home {
    upstream: Arc<Upstream>,
    link: Arc<OpenLink>,
    /// Keeps a shared link open.
    _needed: Option<HeldLink>,
    /// The task's id at the server, a JSON string.
    task: Bytes,
    /// The link that is reserved for this task because the server asks questions on it; `None` once the task has
    /// ended, or if the server cannot ask questions.
    own: Mutex<Option<OwnLink>>,
    asking: Mutex<Option<AwaitedResult>>,
    /// A counter that changes whenever the task's open questions change.
    changed: watch::Sender<u64>,
}

/// The hold on a dedicated link on which no other client's calls run.
struct OwnLink {
    dedicated: DedicatedLink,
    dormant: Arc<Dormant>,
    /// The background task that releases the link when others need it.
    watcher: AbortHandle,
    _needed: HeldLink,
}

impl Drop for OwnLink {
    fn drop(&mut self) {
        self.watcher.abort();
    }
}

/// The state while the result is awaited. The server can ask questions only during this time.
struct AwaitedResult {
    watch: Watch,
    waiting: AbortHandle,
}

impl Home {
    /// Creates a task that runs on this link; `own` is set if the link is reserved for the task.
    pub(crate) fn new(
        upstream: Arc<Upstream>,
        needed: HeldLink,
        task: Bytes,
        own: Option<(Dormant, DedicatedLink)>,
    ) -> Arc<Self> {
        let link = needed.link().clone();
        link.recipients.set_inbox(None);
        Arc::new_cyclic(|home: &Weak<Self>| {
            let (needed, own) = match own {
                None => (Some(needed), None),
                Some((dormant, dedicated)) => {
                    let dormant = Arc::new(dormant);
                    let watcher = make_way(home.clone(), dedicated.egress().clone(), dormant.clone());
                    let watcher = transport::task::spawn(watcher).abort_handle();
                    (None, Some(OwnLink { dedicated, dormant, watcher, _needed: needed }))
                }
            };
            let (own, asking) = (Mutex::new(own), Mutex::default());
            Self { upstream, link, _needed: needed, task, own, asking, changed: watch::Sender::new(0) }
        })
    }

    /// Records that the client has asked about the task.
    pub(crate) fn touch(&self) {
        if let Some(own) = self.own.lock().as_ref() {
            own.dormant.touch(Instant::now());
        }
    }

    pub(crate) fn server(&self) -> &Arc<str> {
        self.upstream.name()
    }

    pub(crate) fn upstream(&self) -> &Arc<Upstream> {
        &self.upstream
    }

    /// Returns the task's id at the server, a JSON string.
    pub(crate) fn task(&self) -> &Bytes {
        &self.task
    }

    /// Returns the task's id at the server.
    pub(super) fn name(&self) -> Option<Cow<'_, str>> {
        unquote(self.task.strip_prefix(b"\"")?.strip_suffix(b"\"")?)
    }

    /// Returns the server's era.
    pub(crate) fn era(&self) -> &'static Era {
        self.link.era
    }

    /// Returns true if the link on which the task was started still exists.
    pub(crate) fn is_there(&self) -> bool {
        self.link.is_alive()
    }

    fn request(&self, egress: &Egress, method: TaskMethod, params: &[u8]) -> Outbound {
        let key = egress.next_key();
        let head =
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{key},\"method\":\"{}\",\"params\":{{", method.name());
        let body = [head.as_bytes(), params, b"}}"].concat();
        let upstream = self.upstream.server.spec.id;
        Outbound { upstream, era: self.link.era, key, body: body.into(), mirror: None, traceparent: None }
    }

    /// Asks the server about the task; `params` is the content of the request's params.
    pub(crate) async fn ask(
        &self,
        egress: &Egress,
        method: TaskMethod,
        params: &[u8],
    ) -> Result<Frame, LinkError> {
        let patience = egress.snapshot().calls(&self.upstream.server.spec).usual.timeouts.idle;
        let request = self.request(egress, method, params);
        let answer = self.link.ask(egress.client(), request, egress.frame_limits());
        let late = |_| LinkError::Late(patience.as_secs());
        tokio::time::timeout(patience, answer).await.map_err(late)?
    }

    /// Asks the server whether the task has ended.
    async fn has_ended(&self, egress: &Egress) -> bool {
        let params = [b"\"taskId\":", &self.task[..]].concat();
        let answer = self.ask(egress, TaskMethod::Get, &params).await;
        let status = answer.ok().and_then(|answer| {
            let task = Task::read(answer.text(), answer.payload()?)?;
            Some(task.status)
        });
        status.is_some_and(Status::has_ended)
    }

    /// Marks the task as ended, so that other calls may use the link.
    pub(crate) fn end(&self) {
        if let Some(asking) = self.asking.lock().take() {
            asking.waiting.abort();
        }
        drop(self.own.lock().take());
    }

    /// Gives up the task.
    pub(crate) fn give_up(self: &Arc<Self>) {
        let asking = self.asking.lock().take();
        let Some(mut own) = self.own.lock().take() else { return };
        // The server may continue nevertheless.
        own.dedicated.spoil();
        let egress = own.dedicated.egress().clone();
        let home = self.clone();
        transport::task::spawn(async move {
            if let Some(mut asking) = asking {
                for answer in asking.watch.give_up() {
                    let _ = home.link.notify(egress.client(), answer).await;
                }
                asking.waiting.abort();
            }
            let params = [b"\"taskId\":", &home.task[..]].concat();
            let _ = home.ask(&egress, TaskMethod::Cancel, &params).await;
            drop(own);
        });
    }

    /// Returns the content of `inputRequests`: the server's questions that a client with these capabilities can
    /// answer. Waits briefly for questions, because the server can ask only while the task's result is awaited, and
    /// this wait may have just begun.
    pub(crate) async fn questions(
        self: &Arc<Self>,
        egress: &Egress,
        client: &'static Era,
        capabilities: &[u8],
    ) -> String {
        if !self.begin(egress) {
            return String::new();
        }
        let mut changed = self.changed.subscribe();
        let come = changed.wait_for(|_| self.asking.lock().as_ref().is_none_or(|a| !a.watch.is_empty()));
        let _ = tokio::time::timeout(GRACE, come).await;
        let asking = self.asking.lock();
        asking.as_ref().map(|asking| asking.watch.shown(client, capabilities)).unwrap_or_default()
    }

    /// Passes a client's answers to the server; returns `false` if none of them answers an open question.
    pub(crate) fn answer(
        &self,
        egress: &Egress,
        text: &Bytes,
        responses: &Members,
        client: &'static Era,
    ) -> bool {
        let told = match self.asking.lock().as_mut() {
            Some(asking) => asking.watch.answer(text, responses, client),
            None => Vec::new(),
        };
        for answer in &told {
            self.link.enqueue(egress, answer.clone());
        }
        !told.is_empty()
    }

    /// Starts waiting for the result, because the server can ask questions only during this wait. Returns `false`
    /// if the client cannot answer questions.
    fn begin(self: &Arc<Self>, egress: &Egress) -> bool {
        if self.own.lock().is_none() {
            return false;
        }
        let mut asking = self.asking.lock();
        if asking.is_none() {
            let number = egress.next_key();
            let (home, egress) = (self.clone(), egress.clone());
            let waiting = transport::task::spawn(async move {
                if let Err(e) = home.wait(&egress).await {
                    tracing::debug!(server = %home.server(), "a task can ask no more questions: the server {}", home.upstream.server.describe(&e));
                }
                home.asking.lock().take();
                home.changed.send_modify(|n| *n += 1);
            });
            let watch = Watch::new(self.link.era, number);
            *asking = Some(AwaitedResult { watch, waiting: waiting.abort_handle() });
        }
        true
    }

    async fn wait(&self, egress: &Egress) -> Result<(), LinkError> {
        let params = [b"\"taskId\":", &self.task[..]].concat();
        let request = self.request(egress, TaskMethod::Result, &params);
        let limits = egress.frame_limits();
        let open = OpenRequest::new(egress, &self.link, request.key);
        let mut source: ReplySource =
            match self.link.send(egress.client(), request, limits, RequestOrigin::of(Owner::unique())).await?
            {
                Reply::Source(source) => source,
                // The outcome; it can be fetched at any time.
                Reply::Whole(..) | Reply::Long(_) => {
                    return {
                        open.answered();
                        Ok(())
                    };
                }
            };
        loop {
            let Item::Frame(frame) = source.next(egress.client(), limits).await? else { continue };
            match frame.kind() {
                FrameKind::Response | FrameKind::Error => {
                    return {
                        open.answered();
                        Ok(())
                    };
                }
                FrameKind::Request => self.question(egress, &frame),
                FrameKind::Notification => self.notice(&frame),
            }
        }
    }

    fn question(&self, egress: &Egress, frame: &Frame) {
        if frame.method() == Method::Ping.name()
            && let Some(id) = frame.id()
        {
            return self.link.enqueue(egress, result_response(id, b"{}"));
        }
        let own = frame.params().and_then(|params| related(frame.text(), &params.members));
        let refused = match own.map(|span| span.of(frame.text())) {
            Some(id) if id != self.task => Err("the question belongs to another task".to_owned()),
            _ => self.asking.lock().as_mut().map_or(Ok(()), |asking| asking.watch.ask(frame)),
        };
        match refused {
            Ok(()) => self.changed.send_modify(|n| *n += 1),
            Err(why) => self.link.refuse(egress, frame, &why),
        }
    }

    fn notice(&self, frame: &Frame) {
        if Notice::from_name(&frame.method()) == Some(Notice::Cancelled)
            && let Some(span) = frame.param("requestId").ok().flatten()
            && let Some(asking) = self.asking.lock().as_mut()
        {
            asking.watch.withdraw(span.of(frame.text()));
        }
    }
}

/// Releases the link when other callers need it: immediately if the task has ended, and otherwise once no client
/// has asked about the task for a while.
async fn make_way(home: Weak<Home>, egress: Egress, dormant: Arc<Dormant>) {
    loop {
        dormant.asked_to_leave().await;
        let Some(home) = home.upgrade() else { return };
        if home.has_ended(&egress).await {
            return home.end();
        }
        if dormant.age(Instant::now()) >= AGE {
            tracing::info!(
                server = %home.server(),
                "abandoned a task: no client has asked about it for {AGE:?}, and a call needs its connection"
            );
            return home.give_up();
        }
    }
}
