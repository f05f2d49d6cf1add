//! Replaces task ids in the messages of an exchange: ours towards the client, the real ones towards the upstream.

use bytes::Bytes;
use proto::bridge::tasks::{
    AnsweredRequest, TaskIdPlaces, TaskMethod, in_answer, in_message, in_reply, related,
};
use proto::era::{Era, Tasks};
use proto::json::{Span, quote};
use proto::rpc::Frame;
use smallvec::SmallVec;

use super::{KnownTask, TaskIds, TaskPlace};
use crate::catalogue::View;
use crate::fault::Fault;

/// Spans in a message and their replacements, JSON strings.
pub type Edits = SmallVec<[(Span, Bytes); 2]>;

/// Returns true if ids are replaced for the clients of a view.
pub fn renames(view: &View) -> bool {
    crate::catalogue::renames_among(view.era(), view.upstreams(), view.is_separate())
}

/// The state that an exchange needs to replace ids.
#[derive(Debug, Clone)]
pub struct Renaming {
    asked: AnsweredRequest,
    tasks: Tasks,
    task: Option<KnownTask>,
}

impl Renaming {
    /// The state for a request about a task.
    pub fn of_task(method: TaskMethod, era: &Era, task: KnownTask) -> Self {
        Self { asked: AnsweredRequest::About(method), tasks: era.shapes.tasks, task: Some(task) }
    }

    /// The state for a tool call, if its answer may name a task.
    pub fn of_call(frame: &Frame, era: &Era) -> Option<Self> {
        let tasks = era.shapes.tasks;
        let may_be = match tasks {
            Tasks::None => false,
            Tasks::Experiment => frame.param("task").ok().flatten().is_some(),
            Tasks::Extension => true,
        };
        may_be.then_some(Self { asked: AnsweredRequest::Call, tasks, task: None })
    }

    /// Returns true if no answer may be passed on without being read, regardless of its beginning.
    pub fn reads_all(&self) -> bool {
        self.asked != AnsweredRequest::Call || self.tasks == Tasks::Experiment
    }

    /// The edits to the upstream's answer.
    ///
    /// # Errors
    /// Returns the fault to answer with if the upstream's id is too long.
    pub fn answer(&self, answer: &Frame, ids: TaskIds<'_>, place: TaskPlace<'_>) -> Result<Edits, Fault> {
        edits(answer, in_answer(answer, self.asked, self.tasks), self.task(), ids, place)
    }

    /// The task that the exchange is about, if its request named one.
    pub fn task(&self) -> Option<&KnownTask> {
        self.task.as_ref()
    }
}

/// The edits to an upstream's notification or question on one of the client's streams. `task` is the task that the
/// stream's request named, if any.
///
/// # Errors
/// The same as for [`Renaming::answer`]; drop the notification, or refuse the question.
pub fn message_edits(
    message: &Frame,
    task: Option<&KnownTask>,
    ids: TaskIds<'_>,
    place: TaskPlace<'_>,
) -> Result<Edits, Fault> {
    edits(message, in_message(message), task, ids, place)
}

fn edits(
    frame: &Frame,
    places: TaskIdPlaces,
    task: Option<&KnownTask>,
    ids: TaskIds<'_>,
    place: TaskPlace<'_>,
) -> Result<Edits, Fault> {
    let mut edits = Edits::new();
    for span in places {
        let Some(real) = frame.string(span) else { continue };
        let shown = match task {
            Some(task) if task.real == real => task.shown.clone(),
            _ => sealed(&real, ids, place)?,
        };
        edits.push((span, shown));
    }
    Ok(edits)
}

fn sealed(real: &str, ids: TaskIds<'_>, place: TaskPlace<'_>) -> Result<Bytes, Fault> {
    let shown = ids.shown(place, real).ok_or_else(|| {
        let (max, server) = (super::MAX_ID, place.server);
        let message = format!("server {server:?} sent a task id longer than {max} bytes");
        Fault::upstream(server, false, message)
    })?;
    Ok(Bytes::from(quote(&shown)))
}

/// The edits to a task notification on a stream of notifications; `None` if it concerns none of these tasks, and is
/// therefore not for this client.
pub fn notice_edits(notice: &Frame, tasks: &[KnownTask]) -> Option<Edits> {
    let mut edits = Edits::new();
    for span in in_message(notice) {
        let real = notice.string(span)?;
        let task = tasks.iter().find(|task| task.real == real)?;
        edits.push((span, task.shown.clone()));
    }
    (!edits.is_empty()).then_some(edits)
}

/// The edits to a client's message that names a task. An id that is not ours stays unchanged, because it may be the
/// client's own.
pub fn inbound_edits(frame: &Frame, ids: TaskIds<'_>, server: &str) -> Edits {
    let place = match frame.params() {
        Some(params) => related(frame.text(), &params.members),
        None => in_reply(frame),
    };
    let real = place.and_then(|span| {
        let found = ids.opened(&frame.string(span)?)?;
        (found.server == server).then(|| (span, Bytes::from(quote(&found.real))))
    });
    real.into_iter().collect()
}
