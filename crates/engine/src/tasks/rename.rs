//! Exchanging ids of tasks in the messages of an exchange: ours towards the client, the real ones towards the upstream.

use bytes::Bytes;
use proto::bridge::tasks::{Asked, Places, TaskMethod, in_answer, in_message, in_reply, related};
use proto::era::{Era, Tasks};
use proto::json::{Span, quote};
use proto::rpc::Frame;
use smallvec::SmallVec;

use super::{KnownTask, TaskIds, TaskPlace};
use crate::catalogue::View;
use crate::fault::Fault;

/// Places in a message and what they become, JSON strings.
pub type Edits = SmallVec<[(Span, Bytes); 2]>;

/// Returns true if ids are exchanged for the clients of a view.
pub fn renames(view: &View) -> bool {
    crate::catalogue::renames_among(view.era(), view.upstreams(), view.is_separate())
}

/// What an exchange has to remember to exchange ids.
#[derive(Debug, Clone)]
pub struct Renaming {
    asked: Asked,
    tasks: Tasks,
    task: Option<KnownTask>,
}

impl Renaming {
    /// For a request about a task.
    pub fn of_task(method: TaskMethod, era: &Era, task: KnownTask) -> Self {
        Self { asked: Asked::About(method), tasks: era.shapes.tasks, task: Some(task) }
    }

    /// For a call of a tool, if what comes back may name a task.
    pub fn of_call(frame: &Frame, era: &Era) -> Option<Self> {
        let tasks = era.shapes.tasks;
        let may_be = match tasks {
            Tasks::None => false,
            Tasks::Experiment => frame.param("task").ok().flatten().is_some(),
            Tasks::Extension => true,
        };
        may_be.then_some(Self { asked: Asked::Call, tasks, task: None })
    }

    /// Returns true if an answer must not be passed on unread, whatever its beginning says.
    pub fn reads_all(&self) -> bool {
        self.asked != Asked::Call || self.tasks == Tasks::Experiment
    }

    /// What the upstream's answer needs.
    ///
    /// # Errors
    /// The fault to answer with when the upstream gives an id that is too long.
    pub fn answer(&self, answer: &Frame, ids: TaskIds<'_>, place: TaskPlace<'_>) -> Result<Edits, Fault> {
        edits(answer, in_answer(answer, self.asked, self.tasks), self.task(), ids, place)
    }

    /// The task that the exchange is about, when its request named one.
    pub fn task(&self) -> Option<&KnownTask> {
        self.task.as_ref()
    }
}

/// What a notification or a question of an upstream needs, on a stream of the client's own. `task` is the one that the
/// request on that stream named, if it did.
///
/// # Errors
/// As [`Renaming::answer`]; the message must then be dropped, or the question be refused.
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
    places: Places,
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
        let message = format!("server {server:?} names a task by an id of more than {max} bytes");
        Fault::upstream(server, false, message)
    })?;
    Ok(Bytes::from(quote(&shown)))
}

/// What a notification about tasks needs that came on a stream of notices; `None` when it is about none of these tasks,
/// and so not for this client.
pub fn notice_edits(notice: &Frame, tasks: &[KnownTask]) -> Option<Edits> {
    let mut edits = Edits::new();
    for span in in_message(notice) {
        let real = notice.string(span)?;
        let task = tasks.iter().find(|task| task.real == real)?;
        edits.push((span, task.shown.clone()));
    }
    (!edits.is_empty()).then_some(edits)
}

/// What a request, a notification or an answer of the client needs that says to which task it belongs. An id that is
/// none of ours stays as it is: it may be the client's own.
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
