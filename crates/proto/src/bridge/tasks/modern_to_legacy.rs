//! A client that knows the extension, or nothing of tasks, and a server of the experiment.
//!
//! What the extension keeps in the task itself, its outcome and its questions, the experiment gives under `tasks/result`.
//! The outcome is fetched from there when the task has ended. The questions come there while it is open, which is longer
//! than a request of the client lasts: that is the business of [`Watch`](super::Watch).

use bytes::Bytes;

use super::TaskMethod;
use super::legacy_to_modern::Sides;
use super::next::{Next, about, error, passed_error, result_of};
use super::task::{Status, Task, flattened, to_extension, unrelated};
use crate::bridge::shape::{self, Own};
use crate::era::{Era, complete};
use crate::rpc::{Frame, Kind, code};

/// What the client asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wish {
    /// A call that runs as a task; whether the client takes the task, or only its outcome.
    Call {
        takes_task: bool,
    },
    About(TaskMethod),
}

#[derive(Debug)]
enum Phase {
    /// The answer to the call is awaited.
    Called,
    Sent(TaskMethod),
    /// The questions of the task are awaited.
    Questions,
    Over,
}

/// One request of the client.
#[derive(Debug)]
pub struct ModernToLegacy {
    sides: Sides,
    wish: Wish,
    /// The server's id of the task, a JSON string; empty as long as there is none.
    task: Bytes,
    phase: Phase,
    /// The task as the server told of it, or an error that may yet turn out to be none.
    kept: Option<Frame>,
}

impl ModernToLegacy {
    /// Begins with a request about a task; `task` is the server's id, a JSON string. `None` for a method that has no
    /// counterpart.
    pub fn begin(sides: Sides, method: TaskMethod, task: Bytes) -> Option<(Self, Next)> {
        let first = match method {
            // Answers go to the questions themselves; here it only has to be known whether there is such a task.
            TaskMethod::Get | TaskMethod::Update => TaskMethod::Get,
            TaskMethod::Cancel => TaskMethod::Cancel,
            TaskMethod::Result | TaskMethod::List => return None,
        };
        let next = about(first, &task);
        Some((Self { sides, wish: Wish::About(method), task, phase: Phase::Sent(first), kept: None }, next))
    }

    /// Begins with a call that was sent with [`AS_TASK`].
    pub fn called(sides: Sides, takes_task: bool) -> Self {
        let wish = Wish::Call { takes_task };
        Self { sides, wish, task: Bytes::new(), phase: Phase::Called, kept: None }
    }

    /// The task behind a call whose outcome is waited for: a JSON string. It is to be cancelled when nobody waits.
    pub fn unattended(&self) -> Option<&Bytes> {
        let waits = matches!(self.phase, Phase::Sent(_)) && matches!(self.wish, Wish::Call { .. });
        waits.then_some(&self.task)
    }

    /// Takes the server's answer to what was sent last; `None` when it is to be passed on as any other.
    pub fn answer(&mut self, answer: &Frame) -> Option<Next> {
        let next = match self.phase {
            Phase::Called => self.created(answer)?,
            Phase::Sent(TaskMethod::Result) => self.ended(answer),
            Phase::Sent(TaskMethod::Cancel) if answer.kind() == Kind::Error => {
                // A task that has ended cannot be cancelled there, and one that is unknown cannot either.
                self.kept = Some(answer.clone());
                self.send(TaskMethod::Get)
            }
            Phase::Sent(TaskMethod::Cancel) => self.acknowledged(),
            Phase::Sent(_) if answer.kind() == Kind::Error => {
                passed_error(self.method(), answer, self.sides.server, self.sides.client)
            }
            Phase::Sent(_) => match answer.payload().and_then(|span| Task::read(answer.text(), span)) {
                Some(task) => self.seen(answer, &task),
                None => error(code::INTERNAL_ERROR, "the server's answer is no task"),
            },
            Phase::Questions | Phase::Over => return None,
        };
        if matches!(next, Next::Result(_) | Next::Error(_)) {
            self.phase = Phase::Over;
        }
        Some(next)
    }

    /// Takes what is open of the task's questions: the inside of `inputRequests`, empty when there is none.
    pub fn questions(&mut self, requests: &str) -> Option<Next> {
        if !matches!(self.phase, Phase::Questions) {
            return None;
        }
        self.phase = Phase::Over;
        // A task that waits for the client and asks it nothing would wait for ever.
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
            Wish::About(method) => method,
            Wish::Call { .. } => TaskMethod::Result,
        }
    }

    fn send(&mut self, method: TaskMethod) -> Next {
        self.phase = Phase::Sent(method);
        about(method, &self.task)
    }

    /// The answer to a call: a task, or whatever else.
    fn created(&mut self, answer: &Frame) -> Option<Next> {
        let Wish::Call { takes_task } = self.wish else { return None };
        let (text, result) = (answer.text(), result_of(answer)?);
        let task = Task::read(text, result.get(text, "task")?)?;
        if takes_task {
            return flattened(text, &result).map(Next::Result);
        }
        self.task = Bytes::copy_from_slice(task.id(text));
        Some(self.send(TaskMethod::Result))
    }

    fn seen(&mut self, answer: &Frame, task: &Task) -> Next {
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
                self.phase = Phase::Questions;
                Next::Questions
            }
            (_, Status::Completed | Status::Failed) => {
                self.kept = Some(answer.clone());
                self.send(TaskMethod::Result)
            }
        }
    }

    /// The outcome of a task.
    fn ended(&self, answer: &Frame) -> Next {
        let Sides { client, server, server_info, .. } = &self.sides;
        let given = answer.payload().map_or(Bytes::from_static(b"null"), |span| span.share(answer.text()));
        let called = matches!(self.wish, Wish::Call { .. });
        if answer.kind() == Kind::Error {
            let error = shape::error("tools/call", &given, None, server, client);
            if called {
                return Next::Error(error);
            }
            return self.detailed(Some(Status::Failed), &[b",\"error\":", &error[..]].concat());
        }
        let given = unrelated(&given).unwrap_or(given);
        match shape::result("tools/call", &given, server, client, &Own { server_info }) {
            Err(why) => error(code::INTERNAL_ERROR, &why),
            Ok(result) if called => Next::Result(result),
            // The experiment calls a task failed whose result tells of an error.
            Ok(result) => self.detailed(Some(Status::Completed), &[b",\"result\":", &result[..]].concat()),
        }
    }

    /// The task that was kept, in full.
    fn detailed(&self, status: Option<Status>, more: &[u8]) -> Next {
        let kept = self.kept.as_ref();
        let task = kept.and_then(|frame| Some((frame.text(), Task::read(frame.text(), frame.payload()?)?)));
        match task {
            Some((text, task)) => Next::Result(to_extension(text, &task.members, "complete", status, more)),
            None => error(code::INTERNAL_ERROR, "the server's answer is no task"),
        }
    }

    fn acknowledged(&self) -> Next {
        Next::Result(acknowledgement(self.sides.client, &self.sides.server_info))
    }
}

/// The answer to `tasks/update` and `tasks/cancel` of the extension.
pub fn acknowledgement(client: &Era, server_info: &str) -> Bytes {
    complete(client, b"", None, server_info)
}

/// The member of a call's params that has it run as a task at a server of the experiment.
pub const AS_TASK: (&str, &str) = ("task", "{}");
