//! Tasks of upstreams under the gateway's ids. An id contains its principal and its server in a form that only the gateway
//! can read.
//!
//! | file | is for |
//! |---|---|
//! | `held` | outcomes that were available immediately, for clients that wait for a task |
//! | `ids` | the conversion between an upstream's ids and ours |
//! | `route` | the upstream for a request about a task; the tasks that a stream of notifications covers |
//! | `rename` | the replacement of ids in messages, in both directions |
//!
//! No state is kept for other tasks: the meaning of an id is sealed in it. This module must not know transports, or
//! what a task is about.

mod held;
mod ids;
mod rename;
mod route;

#[cfg(test)]
mod tests;

pub use held::{HeldLimits, HeldOutcomes};
pub use ids::{KnownTask, MAX_ID, OpenedTaskId, TaskIds, TaskPlace};
pub use rename::{Edits, Renaming, inbound_edits, message_edits, notice_edits, renames};
pub use route::{TaskRoute, WatchedTask, heard, route};
