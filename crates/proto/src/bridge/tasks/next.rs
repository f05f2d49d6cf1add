//! The next steps that the task machines request, and small texts that all of them write.

use bytes::Bytes;
use smallvec::SmallVec;

use super::TaskMethod;
use crate::bridge::input::Question;
use crate::era::Era;
use crate::json::{Members, quote};
use crate::rpc::{Frame, FrameKind};

/// The next step that a task machine asks its caller to perform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskStep {
    /// Send the server this request. No other request is open.
    Send(TaskMethod, Bytes),
    /// Wait this many milliseconds, then continue.
    Wait(u64),
    /// Put this question to the client; its reply may come at any time.
    Ask(Question),
    /// Report the open questions that the server has asked about the task.
    Questions,
    /// Answer the client with this result, a JSON object in the client's form. The request is over.
    Result(Bytes),
    /// Answer the client with this error, a JSON object in the client's form. The request is over.
    Error(Bytes),
}

/// The next steps, in order; usually one.
pub type TaskSteps = SmallVec<[TaskStep; 2]>;

/// The list that consists of this step alone.
pub(super) fn only(next: TaskStep) -> TaskSteps {
    SmallVec::from_iter([next])
}

/// The params of a request about the task `id`, a JSON string. They are the contents of the object, without braces;
/// the era's envelope is added to them.
pub(super) fn about(method: TaskMethod, id: &[u8]) -> TaskStep {
    TaskStep::Send(method, [b"\"taskId\":", id].concat().into())
}

/// An error object of our own.
pub(super) fn error(code: i32, message: &str) -> TaskStep {
    TaskStep::Error(format!("{{\"code\":{code},\"message\":{}}}", quote(message)).into())
}

/// Passes on the error of an answer, in the client's form.
pub(super) fn passed_error(method: TaskMethod, answer: &Frame, server: &Era, client: &Era) -> TaskStep {
    let given = answer.payload().map_or(Bytes::from_static(b"null"), |span| span.share(answer.text()));
    TaskStep::Error(crate::bridge::shape::error(method.name(), &given, None, server, client))
}

/// The members of an answer's result; `None` for an error, or if the result is not an object.
pub(super) fn result_of(answer: &Frame) -> Option<Members> {
    let payload = answer.payload().filter(|_| answer.kind() == FrameKind::Response)?;
    Members::of_value(answer.text(), payload)
}

/// The answer to a question that the user dismissed (MCP, elicitation).
pub(super) const CANCELLED: &[u8] = b"{\"action\":\"cancel\"}";
