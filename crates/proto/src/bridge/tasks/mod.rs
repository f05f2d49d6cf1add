//! Tasks between the experimental form and the extension.
//!
//! A call may become a task, which has an id, a status and, in the end, an outcome. In the experiment (MCP
//! 2025-11-25), the client decides whether a call becomes a task, and `tasks/result` returns the outcome. In the
//! extension `io.modelcontextprotocol/tasks` (SEP-2663), the server decides, and `tasks/get` returns the whole
//! task.
//!
//! | file | is for |
//! |---|---|
//! | `names` | methods, notifications, capabilities |
//! | `places` | the spans of task ids in messages |
//! | `task` | a task in the form of each side |
//! | `legacy_to_modern` | requests from a client with the experimental tasks to a server of the extension |
//! | `modern_to_legacy` | requests from a client of the extension, or without tasks, to a server with the experimental tasks |
//! | `watch` | the questions from a server with the experimental tasks about one task |
//! | `next` | the next steps that the machines ask for |
//!
//! Not translated: tasks of clients, `tasks/list` (a server's tasks do not all belong to one client), and ids of tasks that
//! were started in the other form.
//!
//! This module must not know transports, sessions or time, or who owns a task.

mod legacy_to_modern;
mod modern_to_legacy;
mod names;
mod next;
mod places;
mod task;
mod watch;

pub use legacy_to_modern::{LegacyToModern, Sides};
pub use modern_to_legacy::{AS_TASK, ModernToLegacy, acknowledgement};
pub use names::{
    EXTENSION, NOTICE, RELATED_TASK, REQUIRED_CAPABILITIES, STATUS_NOTICE, TaskMethod, TaskSupport,
    declares_extension, offers_tasks, supporting_tasks, with_extension, without_list,
};
pub use next::{TaskStep, TaskSteps};
pub use places::{AnsweredRequest, TaskIdPlaces, in_answer, in_message, in_reply, is_task, related};
pub use task::{
    Status, Task, flattened, related_to, status_notice, to_experiment, to_extension, unrelated, wrapped,
};
pub use watch::Watch;
