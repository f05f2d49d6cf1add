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
//! | `task` | a task as each side writes it |
//! | `legacy_to_modern` | requests of a client of the experiment at a server of the extension |
//! | `modern_to_legacy` | requests of a client of the extension, or of none, at a server of the experiment |
//! | `watch` | the questions of a server of the experiment about one task |
//! | `next` | what the machines want done |
//!
//! What cannot be mapped: tasks of clients, `tasks/list` (a server's tasks are not all one client's), ids of tasks that
//! were begun in the other way.
//!
//! It must not know transports, sessions or time, nor whose task it is.

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
pub use next::{Next, Nexts};
pub use places::{Asked, Places, in_answer, in_message, in_reply, is_task, related};
pub use task::{
    Status, Task, flattened, related_to, status_notice, to_experiment, to_extension, unrelated, wrapped,
};
pub use watch::Watch;
