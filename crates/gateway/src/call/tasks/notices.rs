//! Notifications about tasks on a client's stream. Each stream listens separately, because a task's id is valid for
//! one client only.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use engine::Fault;
use engine::catalogue::{ServerUris, UpstreamId, View};
use engine::tasks::{KnownTask, TaskIds, WatchedTask, heard, notice_edits};
use proto::bridge::tasks::{NOTICE, Task, status_notice, with_extension};
use proto::era::{Tasks, newest_stateless, own_meta};
use proto::json::{Members, Splice, quote};
use proto::mcp::{Method, Notice};
use proto::rpc::{Frame, FrameKind};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::AbortHandle;
use transport::up::LinkError;

use crate::admission::identity::Identity;
use crate::call::CallContext;
use crate::session::session::Session;
use upstream::link::OpenLink;
use upstream::link::reply::{Item, ReplySource};
use upstream::link::requests::OpenRequest;
use upstream::oauth::CallerId;
use upstream::subscriptions::topics::ResourceNotice;
use upstream::{CLIENT_INFO, Upstream};

/// The number of notifications that may wait for a slow client.
const BEHIND: usize = 64;

/// The first and the longest delay before a lost stream is reopened.
const WAIT: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));

/// Returns the tasks of a filter about which the client can be notified: the client's own tasks, at servers that
/// send notifications about tasks.
///
/// # Errors
/// Returns the fault to answer the listen request with.
pub(crate) fn wanted(
    context: &Arc<CallContext>,
    view: &View,
    frame: &Frame,
    wanted: &Members,
    identity: &Identity,
) -> Result<Vec<WatchedTask>, Fault> {
    let ids = TaskIds::new(context.sealer(), identity.id(), view.era());
    let max = context.egress.snapshot().limits.subscriptions_per_session;
    let mut tasks = heard(frame, wanted, view, ids, max)?;
    let tells = |id| view.upstream_era(id).is_some_and(|era| era.shapes.tasks == Tasks::Extension);
    tasks.retain(|heard| tells(heard.upstream));
    Ok(tasks)
}

/// A subscription to one upstream's tasks. Dropping it ends the subscription.
pub(crate) struct TaskSubscription {
    running: AbortHandle,
    settled: watch::Receiver<bool>,
}

impl TaskSubscription {
    /// Completes once the upstream listens, or is known not to listen.
    pub(crate) async fn settled(&self) {
        let _ = self.settled.clone().wait_for(|settled| *settled).await;
    }
}

impl Drop for TaskSubscription {
    fn drop(&mut self) {
        self.running.abort();
    }
}

/// Listens to tasks at their upstreams, and sends the notifications to the returned receiver. Notifications contain
/// results, so URIs in them are translated to those in the client's `view`, if it has one.
pub(crate) fn follow(
    context: &Arc<CallContext>,
    (tasks, view): (&[WatchedTask], Option<Arc<View>>),
    caller: Option<&CallerId>,
) -> (Vec<TaskSubscription>, mpsc::Receiver<ResourceNotice>) {
    let mut by_upstream: BTreeMap<UpstreamId, Vec<KnownTask>> = BTreeMap::new();
    for heard in tasks {
        by_upstream.entry(heard.upstream).or_default().push(heard.task.clone());
    }
    let (sender, heard) = mpsc::channel(BEHIND);
    let one = |(upstream, tasks)| {
        let (settle, settled) = watch::channel(false);
        let uris = view.as_ref().and_then(|view| view.uris_of(upstream));
        let upstream = context.view.state.upstream_by(upstream, caller);
        let follower =
            Follower { context: context.clone(), upstream, tasks, uris, sender: sender.clone(), settle };
        TaskSubscription { running: transport::task::spawn(follower.run()).abort_handle(), settled }
    };
    (by_upstream.into_iter().map(one).collect(), heard)
}

/// The maximum number of tasks about which sessions are notified at the same time. Clients have to poll any further
/// tasks.
const MAX_TOLD: usize = 256;

static TOLD: Semaphore = Semaphore::const_new(MAX_TOLD);

/// The interval between two checks that a session still exists.
const LOOK_EVERY: Duration = Duration::from_secs(30);

/// Notifies a session about a task, in the form of the experimental tasks, until the task has ended or the session is
/// gone.
pub(crate) fn notify_session(context: &Arc<CallContext>, session: &Arc<Session>, task: WatchedTask) {
    let Ok(place) = TOLD.try_acquire() else { return };
    // A notification of a status contains no result.
    let caller = context.view.state.caller_id(&session.identity);
    let (following, mut heard) = follow(context, (&[task], None), caller.as_ref());
    let session = Arc::downgrade(session);
    transport::task::spawn(async move {
        let _held = (place, following);
        loop {
            let told = tokio::select! {
                told = heard.recv() => match told {
                    Some(told) => Some(told),
                    None => return,
                },
                () = tokio::time::sleep(LOOK_EVERY) => None,
            };
            let Some(session) = session.upgrade() else { return };
            let Some(ResourceNotice::Notice(notice)) = told else { continue };
            if let Some(text) = status_notice(&notice) {
                session.send(text, false);
            }
            let params = notice.params().map(|params| params.members.span());
            let task = params.and_then(|span| Task::read(notice.text(), span));
            if task.is_some_and(|task| task.status.has_ended()) {
                return;
            }
        }
    });
}

struct Follower {
    context: Arc<CallContext>,
    upstream: Arc<Upstream>,
    tasks: Vec<KnownTask>,
    /// The client's URIs of the upstream's resources, if they differ from the upstream's own.
    uris: Option<Box<ServerUris>>,
    sender: mpsc::Sender<ResourceNotice>,
    settle: watch::Sender<bool>,
}

impl Follower {
    async fn run(self) {
        let mut wait = WAIT.0;
        loop {
            let began = std::time::Instant::now();
            let listened = match self.upstream.shared_link(newest_stateless()).get(&self.context.egress).await
            {
                Ok(link) => self.listen(&link).await,
                Err(e) => Err(e),
            };
            match listened {
                // The upstream sends no notifications, so the client has to poll.
                Ok(false) => return,
                Ok(true) => {}
                Err(e) => {
                    tracing::debug!(server = %self.upstream.name(), "cannot listen for notifications \
                        about tasks: the server {}", self.upstream.server.describe(&e));
                }
            }
            self.settle.send_replace(true);
            wait = if began.elapsed() > WAIT.1 { WAIT.0 } else { (wait * 2).min(WAIT.1) };
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = self.context.egress.stop().stopped() => return,
                () = self.sender.closed() => return,
            }
        }
    }

    /// Passes on the messages of one stream; returns `false` if the upstream refuses it.
    async fn listen(&self, link: &Arc<OpenLink>) -> Result<bool, LinkError> {
        let Some((mut source, _open)) = self.open(link).await? else { return Ok(false) };
        let limits = self.context.egress.frame_limits();
        loop {
            let item = tokio::select! {
                item = source.next(self.context.egress.client(), limits) => item?,
                () = link.dead.stopped() => return Ok(true),
                () = self.sender.closed() => return Ok(true),
            };
            let Item::Frame(frame) = item else { continue };
            match frame.kind() {
                FrameKind::Error => return Ok(false),
                FrameKind::Response => return Ok(true),
                FrameKind::Request => {}
                FrameKind::Notification if frame.method() == NOTICE => self.forward(&frame),
                FrameKind::Notification => {
                    if Notice::from_name(&frame.method()) == Some(Notice::Acknowledged) {
                        if !tells_of_tasks(&frame) {
                            return Ok(false);
                        }
                        self.settle.send_replace(true);
                    }
                }
            }
        }
    }

    /// Forwards a notification, with the client's own task ids and URIs. A client that reads too slowly misses
    /// notifications, but loses no tasks.
    fn forward(&self, frame: &Frame) {
        if self.is_too_long(frame) {
            return;
        }
        let Some(edits) = notice_edits(frame, &self.tasks) else { return };
        let mut splice = Splice::new(frame.text());
        for (span, name) in &edits {
            splice.replace(*span, name);
        }
        if let Ok(frame) = Frame::parse(splice.finish(), self.context.egress.frame_limits()) {
            let frame = match &self.uris {
                Some(uris) => uris.published(frame),
                None => frame,
            };
            let _ = self.sender.try_send(ResourceNotice::Notice(Arc::new(frame)));
        }
    }

    /// Returns true if the outcome in a notification exceeds the server's limit. The client gets the shortened
    /// outcome when it requests the outcome.
    fn is_too_long(&self, frame: &Frame) -> bool {
        let most = self.context.egress.snapshot().calls(&self.upstream.server.spec).max_result;
        most.is_some_and(|most| frame.text().len() > most)
            && frame.param("result").is_ok_and(|it| it.is_some())
    }

    async fn open(&self, link: &Arc<OpenLink>) -> Result<Option<(ReplySource, OpenRequest)>, LinkError> {
        let key = self.context.egress.next_key();
        let capabilities = with_extension(b"{}");
        let envelope = own_meta(link.era, &String::from_utf8_lossy(&capabilities), CLIENT_INFO);
        let ids: Vec<String> = self.tasks.iter().map(|task| quote(&task.real)).collect();
        let body = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{key},\"method\":\"{}\",\"params\":{{\"notifications\":{{\"taskIds\":[{}]}},{envelope}}}}}",
            Method::Listen.name(),
            ids.join(",")
        );
        let request = self.upstream.server.own_request(link.era, key, body.into(), Method::Listen);
        let patience = self.context.egress.snapshot().limits.connect_timeout;
        let opened =
            link.open_stream(self.context.egress.client(), request, self.context.egress.frame_limits());
        let opened = tokio::time::timeout(patience, opened).await;
        let source = opened.map_err(|_| LinkError::Late(patience.as_secs()))??;
        let open = OpenRequest::new(&self.context.egress, link, key);
        Ok(source.map(|source| (source, open)))
    }
}

/// Returns true if an acknowledgement covers tasks.
fn tells_of_tasks(acknowledged: &Frame) -> bool {
    let text = acknowledged.text();
    let honoured = acknowledged.param("notifications").ok().flatten();
    let honoured = honoured.and_then(|span| Members::of_value(text, span));
    honoured.is_some_and(|members| members.get(text, "taskIds").is_some())
}
