//! Names for tasks: methods, notifications, the extension, and the key that ties a message to a task.
//!
//! This module has only the names; other modules read the data.

use bytes::Bytes;

use crate::era::{Era, Tasks};
use crate::json::{MAX_DEPTH, Members, Span, Splice};
use crate::mcp::meta;
use crate::rpc::Frame;

/// The identifier of the extension (SEP-2663).
pub const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// The key of `_meta` that ties a message to a task. Its value is an object with `taskId` (MCP 2025-11-25,
/// tasks).
pub const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";

/// The notification of the extension about a task, on a listen stream.
pub const NOTICE: &str = "notifications/tasks";

/// The notification about an experimental task (MCP 2025-11-25).
pub const STATUS_NOTICE: &str = "notifications/tasks/status";

/// The `data` of the error that reports that a client lacks the capability for tasks (MCP 2026-07-28, error
/// -32021).
pub const REQUIRED_CAPABILITIES: &str =
    r#"{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}"#;

/// A client's request about a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TaskMethod {
    /// Gets the state of a task; in the extension, also its outcome and its questions.
    Get,
    /// Gets the outcome of a task once there is one (experiment).
    Result,
    /// Sends answers to a task's questions (extension).
    Update,
    /// Cancels the task.
    Cancel,
    /// Lists the tasks (experiment).
    List,
}

impl TaskMethod {
    /// The method with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "tasks/get" => Some(Self::Get),
            "tasks/result" => Some(Self::Result),
            "tasks/update" => Some(Self::Update),
            "tasks/cancel" => Some(Self::Cancel),
            "tasks/list" => Some(Self::List),
            _ => None,
        }
    }

    /// The method's name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "tasks/get",
            Self::Result => "tasks/result",
            Self::Update => "tasks/update",
            Self::Cancel => "tasks/cancel",
            Self::List => "tasks/list",
        }
    }

    /// Returns true if this form of tasks defines the method.
    pub fn is_known(self, tasks: Tasks) -> bool {
        match tasks {
            Tasks::None => false,
            Tasks::Experiment => self != Self::Update,
            Tasks::Extension => matches!(self, Self::Get | Self::Update | Self::Cancel),
        }
    }
}

/// Returns true if a server of `era` that declares `capabilities`, a JSON object, runs tool calls as tasks.
pub fn offers_tasks(era: &Era, capabilities: &[u8]) -> bool {
    match era.shapes.tasks {
        Tasks::None => false,
        Tasks::Experiment => within(capabilities, &["tasks", "requests", "tools", "call"]),
        Tasks::Extension => within(capabilities, &["extensions", EXTENSION]),
    }
}

/// Returns true if a stateless request declares that its client supports the extension.
pub fn declares_extension(frame: &Frame) -> bool {
    let declared = frame.meta(meta::CLIENT_CAPABILITIES).ok().flatten();
    declared.is_some_and(|span| within(span.of(frame.text()), &["extensions", EXTENSION]))
}

/// A client's capabilities, a JSON object, with the extension added.
pub fn with_extension(capabilities: &[u8]) -> Bytes {
    let text = Bytes::copy_from_slice(capabilities);
    let Ok(all) = Members::of_document(&text, MAX_DEPTH) else {
        return format!("{{\"extensions\":{{\"{EXTENSION}\":{{}}}}}}").into();
    };
    let own = all.get(&text, "extensions").and_then(|span| Members::of_value(&text, span));
    let whole = format!("{{\"{EXTENSION}\":{{}}}}");
    let mut splice = Splice::new(&text);
    match &own {
        Some(own) => splice.set(own, EXTENSION.as_bytes(), b"{}"),
        None => splice.set(&all, b"extensions", whole.as_bytes()),
    };
    splice.finish()
}

/// A tool's support for running as a task in the experimental form (MCP 2025-11-25, `execution.taskSupport`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TaskSupport {
    /// The tool never runs as a task.
    #[default]
    Forbidden,
    /// The tool runs as a task if the client asks for it.
    Optional,
    /// The tool runs only as a task.
    Required,
}

impl TaskSupport {
    /// Reads the support from a listed tool, a JSON object.
    pub fn of_tool(tool: &[u8]) -> Self {
        let said = || {
            let all = Members::of_document(tool, MAX_DEPTH).ok()?;
            let execution = Members::of_value(tool, all.get(tool, "execution")?)?;
            Some(execution.get(tool, "taskSupport")?.of(tool))
        };
        match said() {
            Some(b"\"optional\"") => Self::Optional,
            Some(b"\"required\"") => Self::Required,
            _ => Self::Forbidden,
        }
    }
}

/// Returns a listed tool, a JSON object, marked as a tool that runs as a task if its client asks for this.
pub fn supporting_tasks(tool: &[u8]) -> Option<Bytes> {
    let all = Members::of_document(tool, MAX_DEPTH).ok()?;
    let mut splice = Splice::new(tool);
    splice.set(&all, b"execution", br#"{"taskSupport":"optional"}"#);
    Some(splice.finish())
}

/// A server's capabilities, a JSON object, without the capability to list all tasks: its tasks do not all belong to
/// one client.
pub fn without_list(capabilities: &str) -> Option<String> {
    let text = capabilities.as_bytes();
    let all = Members::of_document(text, MAX_DEPTH).ok()?;
    let own = Members::of_value(text, all.get(text, "tasks")?)?;
    let mut splice = Splice::new(text);
    splice.remove(&own, b"list");
    String::from_utf8(splice.finish().to_vec()).ok()
}

/// Returns true if an object has a member under this path that is not null.
fn within(object: &[u8], path: &[&str]) -> bool {
    let mut span = Span::new(0, object.len());
    for key in path {
        let inner = Members::of_value(object, span).and_then(|members| members.get(object, key));
        match inner {
            Some(inner) => span = inner,
            None => return false,
        }
    }
    span.of(object) != b"null"
}
