//! A task in both forms. In the extension, a task is flat, with `ttlMs` and `pollIntervalMs`. In the experimental form, a task has
//! `ttl` and `pollInterval`, and the answer to a call wraps it.
//!
//! Members that neither form defines stay, and so does the spelling of numbers.

use bytes::Bytes;

use super::names::{NOTICE, RELATED_TASK, STATUS_NOTICE};
use super::places::is_task;
use crate::json::{Members, Span, Splice, quote};
use crate::mcp::meta;
use crate::rpc::Frame;

/// The status of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// The server is working on the task.
    Working,
    /// The task waits for the client's answers.
    InputRequired,
    /// The task's call returned a result, possibly one that reports an error.
    Completed,
    /// The task's call returned a JSON-RPC error.
    Failed,
    /// The task was cancelled.
    Cancelled,
}

impl Status {
    /// The status as written, quotes included; `None` for any other value.
    pub fn of_json(written: &[u8]) -> Option<Self> {
        match written {
            b"\"working\"" => Some(Self::Working),
            b"\"input_required\"" => Some(Self::InputRequired),
            b"\"completed\"" => Some(Self::Completed),
            b"\"failed\"" => Some(Self::Failed),
            b"\"cancelled\"" => Some(Self::Cancelled),
            _ => None,
        }
    }

    /// The status as JSON.
    pub fn json(self) -> &'static str {
        match self {
            Self::Working => "\"working\"",
            Self::InputRequired => "\"input_required\"",
            Self::Completed => "\"completed\"",
            Self::Failed => "\"failed\"",
            Self::Cancelled => "\"cancelled\"",
        }
    }

    /// Returns true if the status is final.
    pub fn has_ended(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

/// A task as a server reported it: the span of its object, and the members that the gateway acts on.
#[derive(Debug, Clone)]
pub struct Task {
    /// The members of the task's object.
    pub members: Members,
    /// The task's status.
    pub status: Status,
    /// Milliseconds to wait before asking again.
    pub interval: Option<u64>,
}

impl Task {
    /// Reads the task at `span` in either form; `None` if the value is not a task.
    pub fn read(text: &[u8], span: Span) -> Option<Self> {
        let members = Members::of_value(text, span)?;
        let status = Status::of_json(members.get(text, "status")?.of(text))?;
        members.get(text, "taskId").filter(|id| id.of(text)[0] == b'"')?;
        let interval = ["pollIntervalMs", "pollInterval"].iter().find_map(|key| members.get(text, key));
        let interval = interval.and_then(|span| std::str::from_utf8(span.of(text)).ok()?.parse().ok());
        Some(Self { members, status, interval })
    }

    /// The task's id as written, a JSON string.
    pub fn id<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        self.members.get(text, "taskId").map_or(b"\"\"", |span| span.of(text))
    }
}

/// Members with the same meaning: the name in the extension, the name in the experimental form.
const RENAMED: [(&str, &str); 2] = [("ttlMs", "ttl"), ("pollIntervalMs", "pollInterval")];

/// Members that only tasks of the extension have.
const INLINED: [&str; 5] = ["resultType", "inputRequests", "result", "error", "requestState"];

/// Converts a task of the extension to the experimental form, a JSON object.
pub fn to_experiment(text: &[u8], task: &Members) -> Bytes {
    let mut splice = Splice::new(text);
    for key in INLINED {
        splice.remove(task, key.as_bytes());
    }
    rename(&mut splice, text, task, RENAMED.map(|(extension, experiment)| (extension, experiment)));
    if ["ttl", "ttlMs"].iter().all(|key| task.get(text, key).is_none()) {
        splice.set(task, b"ttl", b"null");
    }
    cut(&splice.finish(), text, task)
}

/// Converts an experimental task to the form of the extension, a JSON object with this `resultType`. `status`
/// overrides the task's own status if the two forms differ; `more` holds additional members, each with a comma in
/// front.
pub fn to_extension(text: &[u8], task: &Members, kind: &str, status: Option<Status>, more: &[u8]) -> Bytes {
    let kind = quote(kind);
    let mut splice = Splice::new(text);
    splice.set(task, b"resultType", kind.as_bytes());
    for key in ["inputRequests", "result", "error"] {
        splice.remove(task, key.as_bytes());
    }
    rename(&mut splice, text, task, RENAMED.map(|(extension, experiment)| (experiment, extension)));
    if ["ttl", "ttlMs"].iter().all(|key| task.get(text, key).is_none()) {
        splice.set(task, b"ttlMs", b"null");
    }
    if let Some(status) = status {
        splice.set(task, b"status", status.json().as_bytes());
    }
    let whole = cut(&splice.finish(), text, task);
    [&whole[..whole.len() - 1], more, b"}"].concat().into()
}

/// Renames the first key of each pair to the second, if the first exists and the second does not.
fn rename<'a>(splice: &mut Splice<'a>, text: &'a [u8], object: &Members, pairs: [(&str, &'a str); 2]) {
    for (from, to) in pairs {
        let Some(value) = object.get(text, from) else { continue };
        splice.remove(object, from.as_bytes());
        if object.get(text, to).is_none() {
            splice.set(object, to.as_bytes(), value.of(text));
        }
    }
}

/// Extracts the object from the edited text; everything around it was unchanged.
fn cut(edited: &Bytes, text: &[u8], object: &Members) -> Bytes {
    let behind = text.len() - object.span().end();
    edited.slice(object.span().start()..edited.len() - behind)
}

/// Converts an answer of the extension that is a task to the experimental form, in which the answer to a call wraps the
/// task. `None` if the result is not a task.
pub fn wrapped(text: &[u8], result: &Members) -> Option<Bytes> {
    if !is_task(text, result) {
        return None;
    }
    Task::read(text, result.span())?;
    let mut task = to_experiment(text, result);
    let meta = result.get(text, "_meta");
    if meta.is_some() {
        let members = Members::of_value(&task, Span::new(0, task.len()))?;
        let mut splice = Splice::new(&task);
        splice.remove(&members, b"_meta");
        task = splice.finish();
    }
    let meta = meta.map(|span| [b",\"_meta\":", span.of(text)].concat()).unwrap_or_default();
    Some([b"{\"task\":".as_slice(), &task, &meta, b"}"].concat().into())
}

/// Converts an answer to a call: the experimental form wraps the task, and the extension's form does not. `None` if the
/// answer contains no task.
pub fn flattened(text: &[u8], result: &Members) -> Option<Bytes> {
    let task = Task::read(text, result.get(text, "task")?)?;
    let meta = result.get(text, "_meta").filter(|_| task.members.get(text, "_meta").is_none());
    let meta = meta.map(|span| [b",\"_meta\":", span.of(text)].concat()).unwrap_or_default();
    let flat = to_extension(text, &task.members, "task", None, &meta);
    Some(unrelated(&flat).unwrap_or(flat))
}

/// Translates a task notification of the extension to the experimental form; `None` if `notice` is not a task notification.
pub fn status_notice(notice: &Frame) -> Option<Bytes> {
    let (text, params) = (notice.text(), notice.params()?);
    if notice.method() != NOTICE {
        return None;
    }
    let task = Task::read(text, params.members.span())?;
    let mut task = to_experiment(text, &task.members);
    let members = Members::of_value(&task, Span::new(0, task.len()))?;
    if let Some(own) = members.get(&task, "_meta").and_then(|span| Members::of_value(&task, span)) {
        let mut splice = Splice::new(&task);
        splice.remove(&own, meta::SUBSCRIPTION_ID.as_bytes());
        task = splice.finish();
    }
    let inside = &task[1..task.len() - 1];
    Some(crate::era::notice(STATUS_NOTICE, inside))
}

/// Adds to a result the id of the task that it belongs to (MCP 2025-11-25, tasks: related-task metadata). `id`
/// is a JSON string.
pub fn related_to(result: &Bytes, id: &[u8]) -> Bytes {
    let Some(members) = Members::of_value(result, Span::new(0, result.len())) else { return result.clone() };
    let task = [b"{\"taskId\":", id, b"}"].concat();
    let own = members.get(result, "_meta").and_then(|span| Members::of_value(result, span));
    let whole = [b"{\"", RELATED_TASK.as_bytes(), b"\":", &task, b"}"].concat();
    let mut splice = Splice::new(result);
    match &own {
        Some(own) => splice.set(own, RELATED_TASK.as_bytes(), &task),
        None => splice.set(&members, b"_meta", &whole),
    };
    splice.finish()
}

/// Removes from an object the id of the task that it belongs to; `None` if it has none.
pub fn unrelated(object: &[u8]) -> Option<Bytes> {
    let members = Members::of_value(object, Span::new(0, object.len()))?;
    let own = Members::of_value(object, members.get(object, "_meta")?)?;
    own.get(object, RELATED_TASK)?;
    let mut splice = Splice::new(object);
    if own.len() == 1 {
        splice.remove(&members, b"_meta");
    } else {
        splice.remove(&own, RELATED_TASK.as_bytes());
    }
    Some(splice.finish())
}
