//! A task of a server of the experiment, begun for a client without a session: the link that knows it, and the questions
//! that its server asks while somebody waits for the outcome.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use engine::exchange::Outbound;
use parking_lot::Mutex;
use proto::bridge::tasks::{TaskMethod, Watch, related};
use proto::era::Era;
use proto::json::Members;
use proto::mcp::{Method, Notice};
use proto::rpc::{Frame, Kind as FrameKind, result_response};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use transport::up::{LinkError, Owner};

use upstream::Egress;
use upstream::Upstream;
use upstream::link::reply::{Item, Reply, Source};
use upstream::link::requests::OpenRequest;
use upstream::link::{Needed, OpenLink};
use upstream::pool::Lease;

/// The time for which a client waits for the question of a task that says it has one.
const GRACE: Duration = Duration::from_secs(1);

/// A task and what it needs as long as it lasts.
pub(crate) struct Home {
    upstream: Arc<Upstream>,
    link: Needed,
    /// The server's own id, a JSON string.
    task: Bytes,
    /// Keeps other calls off the link, on which this task asks; gone when the task has ended, or where it cannot ask.
    lease: Mutex<Option<Lease>>,
    asking: Mutex<Option<Asking>>,
    /// Counts what comes of the questions.
    changed: watch::Sender<u64>,
}

/// Somebody waits for the outcome, so that the server can ask.
struct Asking {
    watch: Watch,
    waiting: AbortHandle,
}

impl Home {
    pub(crate) fn new(
        upstream: Arc<Upstream>,
        link: Arc<OpenLink>,
        task: Bytes,
        lease: Option<Lease>,
    ) -> Arc<Self> {
        link.set_inbox(None);
        let link = Needed::new(link);
        let (lease, asking) = (Mutex::new(lease), Mutex::default());
        Arc::new(Self { upstream, link, task, lease, asking, changed: watch::Sender::new(0) })
    }

    pub(crate) fn server(&self) -> &Arc<str> {
        self.upstream.name()
    }

    pub(crate) fn upstream(&self) -> &Arc<Upstream> {
        &self.upstream
    }

    /// The server's own id of the task, a JSON string.
    pub(crate) fn task(&self) -> &Bytes {
        &self.task
    }

    /// The server's era.
    pub(crate) fn era(&self) -> &'static Era {
        self.link.era
    }

    /// Returns true if the link that knows the task is still there.
    pub(crate) fn is_there(&self) -> bool {
        self.link.is_alive()
    }

    fn request(&self, egress: &Egress, method: TaskMethod, params: &[u8]) -> Outbound {
        let key = egress.next_key();
        let head =
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{key},\"method\":\"{}\",\"params\":{{", method.name());
        let body = [head.as_bytes(), params, b"}}"].concat();
        let upstream = self.upstream.server.spec.id;
        Outbound { upstream, era: self.link.era, key, body: body.into(), mirror: None }
    }

    /// Asks the server about the task; `params` is the inside of the request's params.
    pub(crate) async fn ask(
        &self,
        egress: &Egress,
        method: TaskMethod,
        params: &[u8],
    ) -> Result<Frame, LinkError> {
        let patience = self.upstream.server.spec.timeouts.idle;
        let request = self.request(egress, method, params);
        let answer = self.link.ask(&egress.client, request, egress.frame_limits());
        let late = |_| LinkError::Late(patience.as_secs());
        tokio::time::timeout(patience, answer).await.map_err(late)?
    }

    /// The task has ended: others may have the link.
    pub(crate) fn end(&self) {
        if let Some(asking) = self.asking.lock().take() {
            asking.waiting.abort();
        }
        drop(self.lease.lock().take());
    }

    /// Nobody wants the task any more.
    pub(crate) fn give_up(self: &Arc<Self>) {
        let asking = self.asking.lock().take();
        let Some(mut lease) = self.lease.lock().take() else { return };
        // The server may go on all the same.
        lease.spoil();
        let egress = lease.egress().clone();
        let home = self.clone();
        tokio::spawn(async move {
            if let Some(mut asking) = asking {
                for answer in asking.watch.give_up() {
                    let _ = home.link.notify(&egress.client, answer).await;
                }
                asking.waiting.abort();
            }
            let params = [b"\"taskId\":", &home.task[..]].concat();
            let _ = home.ask(&egress, TaskMethod::Cancel, &params).await;
            drop(lease);
        });
    }

    /// What the server has asked and a client with these capabilities can answer: the inside of `inputRequests`. It is
    /// waited for a little, since the server was only now let to ask.
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

    /// Gives a client's answers to the server; `false` when none of them answers anything.
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
            self.link.say(egress, answer.clone());
        }
        !told.is_empty()
    }

    /// Waits for the outcome, so that the server can ask; `false` where nobody can be asked.
    fn begin(self: &Arc<Self>, egress: &Egress) -> bool {
        if self.lease.lock().is_none() {
            return false;
        }
        let mut asking = self.asking.lock();
        if asking.is_none() {
            let number = egress.next_key();
            let (home, egress) = (self.clone(), egress.clone());
            let waiting = tokio::spawn(async move {
                if let Err(e) = home.wait(&egress).await {
                    tracing::debug!(server = %home.server(), "a task's questions: {}", home.upstream.server.told(&e));
                }
                home.asking.lock().take();
                home.changed.send_modify(|n| *n += 1);
            });
            let watch = Watch::new(self.link.era, number);
            *asking = Some(Asking { watch, waiting: waiting.abort_handle() });
        }
        true
    }

    async fn wait(&self, egress: &Egress) -> Result<(), LinkError> {
        let params = [b"\"taskId\":", &self.task[..]].concat();
        let request = self.request(egress, TaskMethod::Result, &params);
        let limits = egress.frame_limits();
        let open = OpenRequest::new(egress, &self.link, request.key);
        let mut source: Source =
            match self.link.send(&egress.client, request, limits, (Owner::unique(), None)).await? {
                Reply::Source(source) => source,
                // The outcome; it is there whenever it is asked for.
                Reply::Whole(..) | Reply::Long(_) => {
                    return {
                        open.answered();
                        Ok(())
                    };
                }
            };
        loop {
            let Item::Frame(frame) = source.next(&egress.client, limits).await? else { continue };
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
            return self.link.say(egress, result_response(id, b"{}"));
        }
        let own = frame.params().and_then(|params| related(frame.text(), &params.members));
        let refused = match own.map(|span| span.of(frame.text())) {
            Some(id) if id != self.task => Err("it belongs to another task".to_owned()),
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
