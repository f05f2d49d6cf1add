//! Requests about a task, from a client with the experimental tasks to a server with the extension.
//!
//! `tasks/result` waits for the outcome; here the gateway polls the task until the task has ended, at the interval that
//! the server names. The server's questions become requests to the client, and the answers go out with
//! `tasks/update`.

use bytes::Bytes;

use super::TaskMethod;
use super::next::{CANCELLED, TaskStep, TaskSteps, about, error, only, passed_error};
use super::task::{Status, Task, related_to, to_experiment, unrelated};
use crate::bridge::input::{Question, declares_question};
use crate::bridge::shape::{self, GatewayIdentity};
use crate::era::Era;
use crate::json::{Members, Span, unquote};
use crate::mcp::Method;
use crate::rpc::{Frame, FrameKind, RpcError, code};

/// The number of questions that one task may ask while a client waits for its outcome.
const MAX_QUESTIONS: usize = 64;

/// The maximum number of polls of a cancelled task that is still running.
const MAX_LOOKS: u32 = 5;

/// Milliseconds between two polls of a task if the server names no interval. The next two constants limit an interval
/// that the server names.
const INTERVAL: u64 = 1000;
const INTERVALS: (u64, u64) = (50, 10_000);

/// The maximum number of milliseconds after which an answered task is polled again.
const AFTER_ANSWER: u64 = 200;

/// The client's and the server's side of a request.
#[derive(Debug, Clone)]
pub struct Sides {
    /// The client's era.
    pub client: &'static Era,
    /// The server's era.
    pub server: &'static Era,
    /// The client's declared capabilities as written: a JSON object.
    pub capabilities: Bytes,
    /// The gateway's own name and version, a JSON object.
    pub server_info: String,
}

#[derive(Debug, PartialEq, Eq)]
enum PollPhase {
    /// This request was sent, and its answer is awaited.
    Sent(TaskMethod),
    Waiting,
    Over,
}

#[derive(Debug)]
struct QuestionEntry {
    /// The server's key, a JSON string as written.
    key: Bytes,
    method: Method,
    answer: QuestionAnswer,
}

#[derive(Debug, PartialEq, Eq)]
enum QuestionAnswer {
    Awaited,
    /// The client gave this answer, which is in the server's form: a JSON object.
    Given(Bytes),
    /// The answer was sent to the server.
    Told,
}

/// One request from the client about a task.
#[derive(Debug)]
pub struct LegacyToModern {
    sides: Sides,
    method: TaskMethod,
    /// The server's id of the task, a JSON string.
    task: Bytes,
    phase: PollPhase,
    entries: Vec<QuestionEntry>,
    interval: u64,
    looks: u32,
}

impl LegacyToModern {
    /// Begins a request about a task; `task` is the server's id, a JSON string. `None` for a method that has no
    /// counterpart.
    pub fn begin(sides: Sides, method: TaskMethod, task: Bytes) -> Option<(Self, TaskStep)> {
        if !matches!(method, TaskMethod::Get | TaskMethod::Result | TaskMethod::Cancel) {
            return None;
        }
        let first = about(TaskMethod::Get, &task);
        let phase = PollPhase::Sent(TaskMethod::Get);
        let new = Self { sides, method, task, phase, entries: Vec::new(), interval: INTERVAL, looks: 0 };
        Some((new, first))
    }

    /// Takes the server's answer to the latest request.
    pub fn answer(&mut self, answer: &Frame) -> TaskSteps {
        let PollPhase::Sent(sent) = self.phase else { return TaskSteps::new() };
        let nexts = match (sent, answer.kind()) {
            // The next poll shows whether the task still exists.
            (TaskMethod::Update, _) => only(self.pause(AFTER_ANSWER)),
            (_, FrameKind::Error) => {
                only(passed_error(self.method, answer, self.sides.server, self.sides.client))
            }
            (TaskMethod::Cancel, _) => only(self.look()),
            _ => match answer.payload().and_then(|span| Task::read(answer.text(), span)) {
                Some(task) => self.seen(answer.text(), &task),
                None => only(malformed("the server's answer is not a task")),
            },
        };
        self.settle(nexts)
    }

    /// Continues after the wait that a [`TaskStep::Wait`] asked for.
    pub fn waited(&mut self) -> TaskSteps {
        if self.phase == PollPhase::Waiting { only(self.look()) } else { TaskSteps::new() }
    }

    /// Takes the client's reply to a question.
    pub fn reply(&mut self, index: usize, frame: &Frame) -> TaskSteps {
        let open = self.entries.get_mut(index).filter(|entry| entry.answer == QuestionAnswer::Awaited);
        let Some(entry) = open.filter(|_| self.phase != PollPhase::Over) else { return TaskSteps::new() };
        let object = frame.payload().filter(|span| span.of(frame.text())[0] == b'{');
        let given = match (frame.kind(), object) {
            (FrameKind::Response, Some(result)) => {
                let result = result.share(frame.text());
                let result = unrelated(&result).unwrap_or(result);
                shape::answer(entry.method.name(), &result, self.sides.client, self.sides.server)
            }
            _ if entry.method == Method::Elicit => Bytes::from_static(CANCELLED),
            _ => {
                let why = object.and_then(|span| RpcError::of_value(frame.text(), span)?.message);
                let why =
                    why.and_then(|span| frame.string(span)).unwrap_or("the client gave no reason".into());
                let message = format!(
                    "the task needs the client's answer to {}, but the client refused: {why}",
                    entry.method.name()
                );
                return self.settle(only(error(code::INTERNAL_ERROR, &message)));
            }
        };
        entry.answer = QuestionAnswer::Given(given);
        let nexts = if self.phase == PollPhase::Waiting { self.tell().map(only) } else { None };
        nexts.unwrap_or_default()
    }

    /// The number of questions that wait for the client's reply.
    pub fn asking(&self) -> usize {
        self.entries.iter().filter(|entry| entry.answer == QuestionAnswer::Awaited).count()
    }

    /// Takes the task's current state and returns the next steps.
    fn seen(&mut self, text: &Bytes, task: &Task) -> TaskSteps {
        let (least, most) = INTERVALS;
        self.interval = task.interval.unwrap_or(INTERVAL).clamp(least, most);
        match self.method {
            TaskMethod::Cancel => only(self.cancelled(text, task)),
            TaskMethod::Result => self.outcome(text, task),
            _ => only(TaskStep::Result(to_experiment(text, &task.members))),
        }
    }

    fn cancelled(&mut self, text: &[u8], task: &Task) -> TaskStep {
        self.looks += 1;
        match (self.looks, task.status.has_ended()) {
            (1, true) => {
                // MCP 2025-11-25, tasks: a task that has ended cannot be cancelled.
                let message = "the task has already ended and cannot be cancelled";
                error(code::INVALID_PARAMS, message)
            }
            (1, false) => {
                self.phase = PollPhase::Sent(TaskMethod::Cancel);
                about(TaskMethod::Cancel, &self.task)
            }
            (looks, false) if looks <= MAX_LOOKS => self.pause(self.interval),
            _ => TaskStep::Result(to_experiment(text, &task.members)),
        }
    }

    fn outcome(&mut self, text: &Bytes, task: &Task) -> TaskSteps {
        let (server, client) = (self.sides.server, self.sides.client);
        let inlined = |key: &str| {
            let span = task.members.get(text, key).filter(|span| span.of(text)[0] == b'{');
            span.map(|span| span.share(text))
        };
        only(match task.status {
            Status::Working | Status::InputRequired => return self.go_on(text, &task.members),
            Status::Cancelled => error(code::INTERNAL_ERROR, "the task was cancelled"),
            Status::Failed => match inlined("error") {
                Some(given) => TaskStep::Error(shape::error("tools/call", &given, None, server, client)),
                None => malformed("the task failed without an error"),
            },
            Status::Completed => match inlined("result") {
                Some(given) => {
                    let own = GatewayIdentity { server_info: &self.sides.server_info };
                    match shape::result("tools/call", &given, server, client, &own) {
                        Ok(result) => TaskStep::Result(related_to(&result, &self.task)),
                        Err(why) => malformed(&why),
                    }
                }
                None => malformed("the task was completed without a result"),
            },
        })
    }

    /// Asks the new questions of a task that has not ended, and continues to poll it.
    fn go_on(&mut self, text: &Bytes, task: &Members) -> TaskSteps {
        let mut nexts = TaskSteps::new();
        let requests = task.get(text, "inputRequests").and_then(|span| Members::of_value(text, span));
        for request in requests.iter().flat_map(Members::iter) {
            let key: Bytes = [b"\"", request.key.of(text), b"\""].concat().into();
            if self.entries.iter().any(|entry| entry.key == key) {
                continue;
            }
            if self.entries.len() == MAX_QUESTIONS {
                return only(malformed("the task asks too many questions"));
            }
            match self.question(text, key, request.value) {
                Ok(question) => nexts.extend(question.map(TaskStep::Ask)),
                Err(why) => return only(malformed(&why)),
            }
        }
        let then = self.tell().unwrap_or_else(|| self.pause(self.interval));
        nexts.push(then);
        nexts
    }

    /// Creates the question for an entry; `None` if the gateway has answered it on behalf of a client that
    /// cannot be asked.
    fn question(&mut self, text: &Bytes, key: Bytes, entry: Span) -> Result<Option<Question>, String> {
        let members = Members::of_value(text, entry).ok_or("one of the task's questions is not an object")?;
        let name = members.get(text, "method").and_then(|span| {
            let inside = span.of(text).strip_prefix(b"\"")?.strip_suffix(b"\"")?;
            unquote(inside)
        });
        let name = name.ok_or("one of the task's questions has no method")?;
        let asks =
            |method: &Method| matches!(method, Method::Elicit | Method::CreateMessage | Method::RootsList);
        let method = Method::from_name(&name).filter(asks);
        let method =
            method.ok_or_else(|| format!("the task asks for {name}, which clients cannot be asked for"))?;
        let params = members.get(text, "params").filter(|span| span.of(text)[0] == b'{');
        let params = params.map_or(Bytes::from_static(b"{}"), |span| span.share(text));
        let Sides { client, server, capabilities, .. } = &self.sides;
        let index = self.entries.len();
        // The ids of visits only need to be unique among the questions of one client.
        let mut mint = || format!("{}-{index}", String::from_utf8_lossy(&self.task).trim_matches('"'));
        let put = shape::question(method.name(), &params, server, client, &mut mint)
            .map_err(|why| why.to_string())
            .and_then(|params| {
                let declared = declares_question(client, capabilities, method, &params);
                declared
                    .then_some(params)
                    .ok_or("this client did not declare the capability for this question".to_owned())
            });
        let answer = match (&put, method) {
            (Ok(_), _) => QuestionAnswer::Awaited,
            // A question that the user never saw counts as dismissed.
            (Err(_), Method::Elicit) => QuestionAnswer::Given(Bytes::from_static(CANCELLED)),
            (Err(why), _) => return Err(format!("the task asks for {name}, but {why}")),
        };
        self.entries.push(QuestionEntry { key, method, answer });
        Ok(put.ok().map(|params| Question { index, method, params: related_to(&params, &self.task) }))
    }

    /// Sends the server the answers so far; `None` if there are none.
    fn tell(&mut self) -> Option<TaskStep> {
        let mut responses = Vec::new();
        for entry in &mut self.entries {
            let QuestionAnswer::Given(answer) = &entry.answer else { continue };
            let comma: &[u8] = if responses.is_empty() { b"" } else { b"," };
            responses.extend_from_slice(&[comma, &entry.key, b":", answer].concat());
            entry.answer = QuestionAnswer::Told;
        }
        if responses.is_empty() {
            return None;
        }
        self.phase = PollPhase::Sent(TaskMethod::Update);
        let params = [b"\"taskId\":", &self.task[..], b",\"inputResponses\":{", &responses, b"}"].concat();
        Some(TaskStep::Send(TaskMethod::Update, params.into()))
    }

    fn look(&mut self) -> TaskStep {
        self.phase = PollPhase::Sent(TaskMethod::Get);
        about(TaskMethod::Get, &self.task)
    }

    /// Sends the answers that have arrived in the meantime. If there are none, waits at most `most` milliseconds.
    fn pause(&mut self, most: u64) -> TaskStep {
        if let Some(tell) = self.tell() {
            return tell;
        }
        self.phase = PollPhase::Waiting;
        TaskStep::Wait(self.interval.min(most))
    }

    fn settle(&mut self, nexts: TaskSteps) -> TaskSteps {
        if matches!(nexts.last(), Some(TaskStep::Result(_) | TaskStep::Error(_))) {
            self.phase = PollPhase::Over;
        }
        nexts
    }
}

fn malformed(why: &str) -> TaskStep {
    error(code::INTERNAL_ERROR, why)
}
