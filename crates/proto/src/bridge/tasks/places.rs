//! The spans of task ids in a message, which the gateway replaces with other ids.
//!
//! A span covers a JSON string. This module must not know who owns a task.

use std::sync::LazyLock;

use memchr::memmem::Finder;
use smallvec::SmallVec;

use super::TaskMethod;
use super::names::{NOTICE, RELATED_TASK, STATUS_NOTICE};
use crate::era::Tasks;
use crate::json::{Elements, Members, Span};
use crate::rpc::{Frame, FrameKind};

/// The spans of a message's ids; rarely more than two.
pub type TaskIdPlaces = SmallVec<[Span; 2]>;

/// The member that names a task in every message.
const TASK_ID: &str = "taskId";

/// The finder for `"task"`. The finder is built only once, because building one costs more than most searches.
static TASK: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"task\""));

/// The request that an answer belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnsweredRequest {
    /// A call that may have become a task.
    Call,
    /// A request about tasks.
    About(TaskMethod),
}

/// The ids in a server's answer.
pub fn in_answer(answer: &Frame, asked: AnsweredRequest, tasks: Tasks) -> TaskIdPlaces {
    let text = answer.text();
    let mut places = TaskIdPlaces::new();
    // Hardly any call becomes a task, and this search is far cheaper than parsing each answer.
    let hint = asked != AnsweredRequest::Call || tasks == Tasks::Experiment;
    if answer.kind() != FrameKind::Response || !(hint || TASK.find(text).is_some()) {
        return places;
    }
    let Some(result) = answer.payload().and_then(|span| Members::of_value(text, span)) else { return places };
    match asked {
        AnsweredRequest::Call if tasks == Tasks::Experiment => {
            let task = result.get(text, "task").and_then(|span| Members::of_value(text, span));
            places.extend(task.and_then(|task| string(text, &task, TASK_ID)));
        }
        AnsweredRequest::Call if !is_task(text, &result) => {}
        AnsweredRequest::About(TaskMethod::List) => places.extend(listed(text, &result)),
        AnsweredRequest::Call | AnsweredRequest::About(_) => places.extend(string(text, &result, TASK_ID)),
    }
    places.extend(related(text, &result));
    places
}

/// Returns true if a result of the extension is a task instead of an outcome.
pub fn is_task(text: &[u8], result: &Members) -> bool {
    result.get(text, "resultType").is_some_and(|kind| kind.of(text) == b"\"task\"")
}

/// The ids of the tasks in a list.
fn listed(text: &[u8], result: &Members) -> TaskIdPlaces {
    let list = result.get(text, "tasks").and_then(|span| Elements::of_value(text, span));
    let tasks = list.iter().flat_map(Elements::iter).filter_map(|span| Members::of_value(text, span));
    tasks.filter_map(|task| string(text, &task, TASK_ID)).collect()
}

/// The ids in a notification or in a server's question: the id of the task that the message reports on, and the id of
/// the task that the message belongs to.
pub fn in_message(frame: &Frame) -> TaskIdPlaces {
    let text = frame.text();
    let mut places = TaskIdPlaces::new();
    let Some(params) = frame.params() else { return places };
    if matches!(frame.method().as_ref(), NOTICE | STATUS_NOTICE) {
        places.extend(string(text, &params.members, TASK_ID));
    }
    places.extend(related(text, &params.members));
    places
}

/// The id of the task that a client's answer to a question belongs to.
pub fn in_reply(frame: &Frame) -> Option<Span> {
    let text = frame.text();
    if frame.kind() != FrameKind::Response {
        return None;
    }
    related(text, &Members::of_value(text, frame.payload()?)?)
}

/// The task id in an object's `_meta` that names the related task.
pub fn related(text: &[u8], object: &Members) -> Option<Span> {
    let own = Members::of_value(text, object.get(text, "_meta")?)?;
    let task = Members::of_value(text, own.get(text, RELATED_TASK)?)?;
    string(text, &task, TASK_ID)
}

/// The span of a member that is a string.
fn string(text: &[u8], object: &Members, key: &str) -> Option<Span> {
    object.get(text, key).filter(|span| span.of(text).first() == Some(&b'"'))
}
