//! Tasks of tools with limits. The tool of each task is remembered, so the task's outcome is shortened like any
//! other result. A task that has a deadline, or counts among the running calls of its tool, is supervised. This
//! module must not know what a task is about.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use engine::exchange::{Mirror, Outbound};
use engine::tasks::TaskIds;
use proto::bridge::tasks::{Status, Task, TaskMethod, is_task, with_extension};
use proto::codec::headers::encode_value;
use proto::era::{Era, Tasks, own_meta};
use proto::json::{MAX_DEPTH, Members, quote};
use proto::rpc::Frame;
use transport::up::LinkError;
use upstream::link::{HeldLink, OpenLink};
use upstream::{CLIENT_INFO, Upstream};

use crate::call::CallContext;
use crate::call::limited_tasks::TaskLimits;

/// The shortest, the usual and the longest time between two status requests for a supervised task.
const INTERVALS: [Duration; 3] =
    [Duration::from_millis(100), Duration::from_secs(1), Duration::from_secs(10)];

/// The number of unanswered status requests after which a supervised task is considered lost.
const MAX_UNANSWERED: usize = 3;

/// A task that a call has just become.
pub(in crate::call) struct StartedTask {
    /// The task's id at the server.
    real: String,
    interval: Option<u64>,
}

impl StartedTask {
    /// Returns the task in the answer to a call; `None` if the call did not become a task.
    pub(in crate::call) fn of_answer(answer: &Bytes, era: &'static Era, ids: TaskIds<'_>) -> Option<Self> {
        if era.shapes.tasks == Tasks::None {
            return None;
        }
        let members = Members::of_document(answer, MAX_DEPTH).ok()?;
        let place = members.get(answer, "result")?;
        let result = Members::of_value(answer, place)?;
        let task = match era.shapes.tasks {
            Tasks::Experiment => Task::read(answer, result.get(answer, "task")?)?,
            _ if is_task(answer, &result) => Task::read(answer, place)?,
            _ => return None,
        };
        let shown: String = text_of(task.id(answer))?;
        // A client with its own session at its only server gets the server's own ids.
        let real = ids.opened(&shown).map_or(shown, |opened| opened.real);
        Some(Self { real, interval: task.interval })
    }
}

fn text_of(json: &[u8]) -> Option<String> {
    let inside = json.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    Some(proto::json::unquote(inside)?.into_owned())
}

/// Applies a call's limits to the task that the call became.
pub(in crate::call) fn limit(
    context: &Arc<CallContext>,
    (upstream, link): (&Arc<Upstream>, Option<HeldLink>),
    started: StartedTask,
    limits: TaskLimits,
) {
    let TaskLimits { tool, counted, deadline } = limits;
    let StartedTask { real, interval } = started;
    if let Some(tool) = tool {
        context.state.limited_tasks.note((upstream.server.spec.id, Box::from(&*real)), tool);
    }
    if let Some(link) = link.filter(|_| counted.is_some() || deadline.is_some()) {
        let (context, upstream) = (context.clone(), upstream.clone());
        let [shortest, usual, longest] = INTERVALS;
        let interval = interval.map_or(usual, Duration::from_millis).clamp(shortest, longest);
        let supervised = SupervisedTask { context, upstream, link, real, interval, deadline };
        transport::task::spawn(async move {
            supervised.run().await;
            drop(counted);
        });
    }
}

/// A running task that has a deadline, or counts among the running calls of its tool.
struct SupervisedTask {
    context: Arc<CallContext>,
    upstream: Arc<Upstream>,
    link: HeldLink,
    /// The task's id at the server.
    real: String,
    interval: Duration,
    deadline: Option<Instant>,
}

impl SupervisedTask {
    /// Completes once the task has ended or is lost. Cancels the task at its deadline.
    async fn run(self) {
        let mut unanswered = 0;
        while unanswered < MAX_UNANSWERED {
            let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return self.expire().await;
            }
            tokio::select! {
                () = tokio::time::sleep(self.interval.min(left.unwrap_or(self.interval))) => {}
                () = self.context.egress.stop().stopped() => return,
                () = self.link.link().dead.stopped() => return,
            }
            match self.ask(TaskMethod::Get).await {
                Ok(answer) if has_ended(&answer) => return,
                Ok(_) => unanswered = 0,
                Err(_) => unanswered += 1,
            }
        }
    }

    async fn expire(&self) {
        tracing::info!(
            server = %self.upstream.name(),
            "cancelling a task: it took longer than the profile allows for its tool (`timeout` in `tools.overrides`)"
        );
        if let Err(e) = self.ask(TaskMethod::Cancel).await {
            tracing::debug!(server = %self.upstream.name(), "a task was not cancelled: the server {}", self.upstream.server.describe(&e));
        }
    }

    async fn ask(&self, method: TaskMethod) -> Result<Frame, LinkError> {
        let (egress, link) = (&self.context.egress, self.link.link());
        let patience = egress.snapshot().calls(&self.upstream.server.spec).usual.timeouts.idle;
        let request = self.request(link, method);
        let answer = link.ask(egress.client(), request, egress.frame_limits());
        tokio::time::timeout(patience, answer).await.map_err(|_| LinkError::Late(patience.as_secs()))?
    }

    fn request(&self, link: &OpenLink, method: TaskMethod) -> Outbound {
        let (key, era, name) = (self.context.egress.next_key(), link.era, method.name());
        let capabilities = with_extension(b"{}");
        let envelope = own_meta(era, &String::from_utf8_lossy(&capabilities), CLIENT_INFO);
        let comma = if envelope.is_empty() { "" } else { "," };
        let body = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{key},\"method\":\"{name}\",\"params\":{{\"taskId\":{}{comma}{envelope}}}}}",
            quote(&self.real)
        );
        let mirror = era.mirrored_headers.then(|| Mirror {
            method: name.into(),
            name: Some(encode_value(&self.real).into_owned()),
            params: Vec::new(),
        });
        let upstream = self.upstream.server.spec.id;
        Outbound { upstream, era, key, body: body.into(), mirror, traceparent: None }
    }
}

/// Returns true if a server's answer reports that a task has ended, or that there is no such task.
fn has_ended(answer: &Frame) -> bool {
    let task = answer.payload().and_then(|span| Task::read(answer.text(), span));
    task.is_none_or(|task| Status::has_ended(task.status))
}
