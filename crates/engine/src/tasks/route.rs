//! Finds the upstream for a request about a task, and the tasks that a stream of notifications covers.

use bytes::Bytes;
use proto::bridge::tasks::{REQUIRED_CAPABILITIES, TaskMethod, declares_extension, offers_tasks};
use proto::era::{Era, Tasks};
use proto::json::{Elements, Members, Span, quote};
use proto::rpc::{Frame, code};

use super::{KnownTask, OpenedTaskId, TaskIds};
use crate::catalogue::{UpstreamId, View, ViewSource};
use crate::fault::Fault;

/// The destination of a request about a task.
#[derive(Debug)]
pub struct TaskRoute {
    /// The upstream; `None` if the gateway itself keeps the task.
    pub upstream: Option<UpstreamId>,
    /// The number of the gateway's own state for the task, if any.
    pub home: Option<u64>,
    /// The span of the client's id, and the id for the upstream, a JSON string.
    pub rename: (Span, Bytes),
    /// The task, with the upstream's id and the client's id.
    pub task: KnownTask,
}

/// Finds the upstream of a request about a task.
///
/// # Errors
/// Returns the fault to answer with: the method does not exist here, the client did not declare the extension, the id is
/// invalid or belongs to another principal, or the task's server is unavailable.
pub fn route(frame: &Frame, view: &View, method: TaskMethod, ids: TaskIds<'_>) -> Result<TaskRoute, Fault> {
    check(frame, view, method)?;
    let fault = |what: &str| Fault::client(code::INVALID_PARAMS, format!("params.taskId {what}"));
    let span = frame.param("taskId")?.ok_or_else(|| fault("is required"))?;
    let shown = frame.string(span).ok_or_else(|| fault("must be a string"))?;
    let OpenedTaskId { server, home, real } = ids.opened(&shown).ok_or_else(|| fault(UNKNOWN))?;
    let upstream = match server.as_str() {
        "" => None,
        name => Some(owner(view, name, method)?.ok_or_else(|| fault(UNKNOWN))?),
    };
    let rename = (span, Bytes::from(quote(&real)));
    Ok(TaskRoute { upstream, home, rename, task: KnownTask::new(frame, span, real) })
}

/// The upstream with this name, if the view has it and its clients may use it.
fn owner(view: &View, server: &str, method: TaskMethod) -> Result<Option<UpstreamId>, Fault> {
    let is_it = |u: &&ViewSource| *u.name == *server && view.reaches(u.id, method.name());
    let Some(found) = view.upstreams().iter().find(is_it) else { return Ok(None) };
    let Err(absence) = &found.catalogue else { return Ok(Some(found.id)) };
    let help = if absence.retry { "; the gateway keeps trying, so retry in a few seconds" } else { "" };
    let message = format!("the task cannot be reached: server {server:?} {}{help}", absence.reason);
    Err(Fault::not_sent(server, absence.retry, message))
}

const UNKNOWN: &str = "is not a task of this client: it may belong to another caller, have expired, or have been started under another protocol version";

/// Checks that a client of this view can send the request.
fn check(frame: &Frame, view: &View, method: TaskMethod) -> Result<(), Fault> {
    let era = view.era();
    if method == TaskMethod::List {
        // A server's tasks may belong to several clients, and only the server knows all of them.
        return Err(Fault::unknown_method(method.name(), "is not supported; keep the ids of your own tasks"));
    }
    if !method.is_known(era.shapes.tasks) {
        let why = format!("is not a request that clients can send in protocol version {era}");
        return Err(Fault::unknown_method(method.name(), &why));
    }
    let offered = view.upstreams().iter().any(|u| match &u.catalogue {
        Ok(catalogue) => offers_tasks(catalogue.hello.era, &catalogue.hello.capabilities),
        Err(absence) => absence.retry,
    });
    if !offered {
        return Err(Fault::unknown_method(
            method.name(),
            "is not served here: no server of this profile has tasks",
        ));
    }
    declared(frame, era)
}

/// Checks that the client of a stateless request declares the extension.
fn declared(frame: &Frame, era: &Era) -> Result<(), Fault> {
    if era.shapes.tasks != Tasks::Extension || declares_extension(frame) {
        return Ok(());
    }
    let message =
        "tasks require the extension io.modelcontextprotocol/tasks in the request's clientCapabilities";
    Err(Fault::client(code::MISSING_CAPABILITY, message).with_data(REQUIRED_CAPABILITIES))
}

/// A task that a stream of notifications covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchedTask {
    /// The upstream that runs the task.
    pub upstream: UpstreamId,
    /// The task, with the upstream's id and the client's id.
    pub task: KnownTask,
}

/// The tasks in the filter of a listen request, at most `max` of them; `wanted` is the request's `notifications`. Ids that are
/// not this client's tasks, or whose server is unavailable, are left out.
///
/// # Errors
/// Returns the fault to answer with: the ids are not an array of strings, there are too many ids, or the client did not declare
/// the extension.
pub fn heard(
    frame: &Frame,
    wanted: &Members,
    view: &View,
    ids: TaskIds<'_>,
    max: usize,
) -> Result<Vec<WatchedTask>, Fault> {
    let text = frame.text();
    let fault =
        |what: String| Fault::client(code::INVALID_PARAMS, format!("params.notifications.taskIds {what}"));
    let Some(list) = wanted.unique(text, "taskIds")? else { return Ok(Vec::new()) };
    declared(frame, view.era())?;
    let list = Elements::of_value(text, list).ok_or_else(|| fault("must be an array".to_owned()))?;
    if list.len() > max {
        return Err(fault(format!("has more than {max} entries")));
    }
    let mut found: Vec<WatchedTask> = Vec::new();
    for span in list.iter() {
        let shown = frame.string(span).ok_or_else(|| fault("must contain only strings".to_owned()))?;
        let Some(OpenedTaskId { server, real, .. }) = ids.opened(&shown) else { continue };
        let present = |u: &&ViewSource| {
            *u.name == *server && u.catalogue.is_ok() && view.reaches(u.id, TaskMethod::Get.name())
        };
        let Some(owner) = view.upstreams().iter().find(present) else { continue };
        // A server reports a task only once, even if the client has several ids for it.
        if !found.iter().any(|heard| heard.upstream == owner.id && heard.task.real == real) {
            found.push(WatchedTask { upstream: owner.id, task: KnownTask::new(frame, span, real) });
        }
    }
    Ok(found)
}
