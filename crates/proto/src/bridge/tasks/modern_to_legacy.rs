//! Requests from a client that supports the extension, or no tasks at all, to a server with the experimental tasks.
//!
//! The extension keeps outcome and questions in the task itself; the experimental form delivers both through
//! `tasks/result`. The gateway fetches the outcome with `tasks/result` once the task has ended. Questions arrive
//! while a `tasks/result` request is open, and this request stays open longer than a single request from the
//! client; therefore, [`Watch`](super::Watch) handles the questions.

use bytes::Bytes;

use super::TaskMethod;
use super::legacy_to_modern::Sides;
use super::next::{TaskStep, about, error, passed_error, result_of};
use super::task::{Status, Task, flattened, to_extension, unrelated};
use crate::bridge::shape::{self, GatewayIdentity};
use crate::era::{Era, complete};
use crate::rpc::{Frame, FrameKind, code};

/// The kind of the client's request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RequestPurpose {
    /// A call that runs as a task. The client takes the task itself, or only its outcome.
    Call {
        takes_task: bool,
    },
    About(TaskMethod),
}

#[derive(Debug)]
enum FetchPhase {
    /// The call was sent, and its answer is awaited.
    Called,
    Sent(TaskMethod),
    /// The questions of the task are awaited.
    Questions,
    Over,
}

/// One request from the client.
#[derive(Debug)]
pub struct ModernToLegacy {
    sides: Sides,
    wish: RequestPurpose,
    /// The server's id of the task, a JSON string; empty while there is none.
    task: Bytes,
    phase: FetchPhase,
    /// The task as the server reported it, or an error that may not be final.
    kept: Option<Frame>,
}

impl ModernToLegacy {
    /// Begins with a request about a task; `task` is the server's id, a JSON string. `None` for a method that has no
    /// counterpart.
    pub fn begin(sides: Sides, method: TaskMethod, task: Bytes) -> Option<(Self, TaskStep)> {
        let first = match method {
            // Answers go directly to the questions. This request only checks that the task exists.
            TaskMethod::Get | TaskMethod::Update => TaskMethod::Get,
            TaskMethod::Cancel => TaskMethod::Cancel,
            TaskMethod::Result | TaskMethod::List => return None,
        };
        let next = about(first, &task);
        Some((
            Self {
                sides,
                wish: RequestPurpose::About(method),
                task,
                phase: FetchPhase::Sent(first),
                kept: None,
            },
            next,
        ))
    }

    /// Begins with a call that was sent with [`AS_TASK`].
    pub fn called(sides: Sides, takes_task: bool) -> Self {
        let wish = RequestPurpose::Call { takes_task };
        Self { sides, wish, task: Bytes::new(), phase: FetchPhase::Called, kept: None }
    }

    /// The id (a JSON string) of the task that a call has become, while the client waits for the call's outcome.
    /// Cancel the task if the client disconnects.
    pub fn unattended(&self) -> Option<&Bytes> {
        let waits =
            matches!(self.phase, FetchPhase::Sent(_)) && matches!(self.wish, RequestPurpose::Call { .. });
        waits.then_some(&self.task)
    }

    /// Takes the server's answer to the latest request; `None` if it is passed on unchanged.
    pub fn answer(&mut self, answer: &Frame) -> Option<TaskStep> {
        let next = match self.phase {
            FetchPhase::Called => self.created(answer)?,
            FetchPhase::Sent(TaskMethod::Result) => self.ended(answer),
            FetchPhase::Sent(TaskMethod::Cancel) if answer.kind() == FrameKind::Error => {
                // The experiment cannot cancel a task that has ended or that is unknown.
                self.kept = Some(answer.clone());
                self.send(TaskMethod::Get)
            }
            FetchPhase::Sent(TaskMethod::Cancel) => self.acknowledged(),
            FetchPhase::Sent(_) if answer.kind() == FrameKind::Error => {
                passed_error(self.method(), answer, self.sides.server, self.sides.client)
            }
            FetchPhase::Sent(_) => match answer.payload().and_then(|span| Task::read(answer.text(), span)) {
                Some(task) => self.seen(answer, &task),
                None => error(code::INTERNAL_ERROR, "the server's answer is not a task"),
            },
            FetchPhase::Questions | FetchPhase::Over => return None,
        };
        if matches!(next, TaskStep::Result(_) | TaskStep::Error(_)) {
            self.phase = FetchPhase::Over;
        }
        Some(next)
    }

    /// Takes the open questions of the task: the contents of `inputRequests`, empty if there are none.
    pub fn questions(&mut self, requests: &str) -> Option<TaskStep> {
        if !matches!(self.phase, FetchPhase::Questions) {
            return None;
        }
        self.phase = FetchPhase::Over;
        // A task that waits for the client but asks it nothing would wait forever.
        Some(match requests {
            "" => self.detailed(Some(Status::Working), b""),
            some => {
                let more = format!(",\"inputRequests\":{{{some}}}");
                self.detailed(Some(Status::InputRequired), more.as_bytes())
            }
        })
    }

    fn method(&self) -> TaskMethod {
        match self.wish {
            RequestPurpose::About(method) => method,
            RequestPurpose::Call { .. } => TaskMethod::Result,
        }
    }

    fn send(&mut self, method: TaskMethod) -> TaskStep {
        self.phase = FetchPhase::Sent(method);
        about(method, &self.task)
    }

    /// Takes the answer to a call: a task, or anything else.
    fn created(&mut self, answer: &Frame) -> Option<TaskStep> {
        let RequestPurpose::Call { takes_task } = self.wish else { return None };
        let (text, result) = (answer.text(), result_of(answer)?);
        let task = Task::read(text, result.get(text, "task")?)?;
        if takes_task {
            return flattened(text, &result).map(TaskStep::Result);
        }
        self.task = Bytes::copy_from_slice(task.id(text));
        Some(self.send(TaskMethod::Result))
    }

    fn seen(&mut self, answer: &Frame, task: &Task) -> TaskStep {
        match (self.method(), task.status) {
            (TaskMethod::Update, _) => self.acknowledged(),
            (TaskMethod::Cancel, status) if status.has_ended() => self.acknowledged(),
            (TaskMethod::Cancel, _) => match self.kept.take() {
                Some(refusal) => {
                    passed_error(TaskMethod::Cancel, &refusal, self.sides.server, self.sides.client)
                }
                None => self.acknowledged(),
            },
            (_, Status::Working | Status::Cancelled) => {
                self.kept = Some(answer.clone());
                self.detailed(None, b"")
            }
            (_, Status::InputRequired) => {
                self.kept = Some(answer.clone());
                self.phase = FetchPhase::Questions;
                TaskStep::Questions
            }
            (_, Status::Completed | Status::Failed) => {
                self.kept = Some(answer.clone());
                self.send(TaskMethod::Result)
            }
        }
    }

    /// Takes the outcome of a task.
    fn ended(&self, answer: &Frame) -> TaskStep {
        let Sides { client, server, server_info, .. } = &self.sides;
        let given = answer.payload().map_or(Bytes::from_static(b"null"), |span| span.share(answer.text()));
        let called = matches!(self.wish, RequestPurpose::Call { .. });
        if answer.kind() == FrameKind::Error {
            let error = shape::error("tools/call", &given, None, server, client);
            if called {
                return TaskStep::Error(error);
            }
            return self.detailed(Some(Status::Failed), &[b",\"error\":", &error[..]].concat());
        }
        let given = unrelated(&given).unwrap_or(given);
        match shape::result("tools/call", &given, server, client, &GatewayIdentity { server_info }) {
            Err(why) => error(code::INTERNAL_ERROR, &why),
            Ok(result) if called => TaskStep::Result(result),
            // The experiment calls a task failed if its result reports an error.
            Ok(result) => self.detailed(Some(Status::Completed), &[b",\"result\":", &result[..]].concat()),
        }
    }

    /// The full form of the stored task.
    fn detailed(&self, status: Option<Status>, more: &[u8]) -> TaskStep {
        let kept = self.kept.as_ref();
        let task = kept.and_then(|frame| Some((frame.text(), Task::read(frame.text(), frame.payload()?)?)));
        match task {
            Some((text, task)) => {
                TaskStep::Result(to_extension(text, &task.members, "complete", status, more))
            }
            None => error(code::INTERNAL_ERROR, "the server's answer is not a task"),
        }
    }

    fn acknowledged(&self) -> TaskStep {
        TaskStep::Result(acknowledgement(self.sides.client, &self.sides.server_info))
    }
}

/// The answer to `tasks/update` and `tasks/cancel` of the extension.
pub fn acknowledgement(client: &Era, server_info: &str) -> Bytes {
    complete(client, b"", None, server_info)
}

/// The member of a call's params that makes it a task at a server with the experimental tasks.
pub const AS_TASK: (&str, &str) = ("task", "{}");
