//! Long work between the experiment and the extension.
//!
//! A call may become a task: a thing with an id, a status and, in the end, an outcome. The experiment (MCP 2025-11-25)
//! lets the client decide and keeps the outcome under `tasks/result`; the extension `io.modelcontextprotocol/tasks`
//! (SEP-2663) lets the server decide and keeps everything under `tasks/get`.
//!
//! | file | is for |
//! |---|---|
//! | `names` | methods, notifications, capabilities |
//! | `places` | where ids of tasks stand in messages |
//!
//! It must not know transports, sessions or time, nor whose task it is.

mod names;
mod places;

pub use names::{
    EXTENSION, NOTICE, RELATED_TASK, REQUIRED_CAPABILITIES, STATUS_NOTICE, TaskMethod, declares_extension,
    offers_tasks,
};
pub use places::{Asked, Places, in_answer, in_message, in_reply, is_task, related};
