//! Calls that became tasks: the state that the gateway keeps if client and server support different kinds of tasks, and
//! notifications about tasks.
//!
//! | file | is for |
//! |---|---|
//! | `kept` | the state that is kept for the task of an answered call, and clients' requests about it |
//! | `limited` | limits of a tool, applied to its tasks |
//! | `notices` | notifications about tasks on a client's stream |
//!
//! `proto::bridge::tasks` and `engine::tasks` decide how a message is handled.

mod kept;
mod limited;
mod notices;

pub(crate) use kept::{TaskRequest, held, keep, serve};
pub(super) use limited::{StartedTask, limit};
pub(crate) use notices::{TaskSubscription, follow, wanted};
