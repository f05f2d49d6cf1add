//! Child processes that exchange newline-delimited messages: upstreams over the stdio transport.
//!
//! A [`Supervisor`] starts children, counts them, and ends them together with all processes that they started; a
//! [`Child`] is a handle for writing lines and a stream of lines to read. This module must not know what a line means:
//! JSON, ids and protocol versions belong to `proto`.
//!
//! ```text
//!  runtime of the caller                      thread of the supervisor
//!  Handle::send ─► queue ─► writer task ─► stdin ┐
//!  Lines::recv ◄─ decoder ◄─────────────── stdout┤ child           (start, end, reaping)
//!                                          stderr┘ ─► ring of last bytes
//! ```
//!
//! | file | is for |
//! |---|---|
//! | `usage` | the memory of a process |
//! | `supervisor`, `life`, `state` | starts, counts and ends children; one child from its start to its end |
//! | `starter`, `process`, `pipes` | the two ways to start a child, and the parts that both share |
//! | `guarded/`, [`guardian`] | a child under its own holder, which ends its whole tree: the gateway's side, and the other processes |
//! | `grouped`, `group`, `death` | a child of this process in a process group: everywhere but on Linux |
//! | `spec`, `environment`, `program`, `limits`, `caps` | the program to start, and its limits |
//! | `handle`, `writer`, `lines`, `stderr` | a child's pipes |
//! | `error`, `start_error`, `backoff` | failures |
//! | `stat` | the data that Linux shows about a process |
//!
//! Messages never pass through the supervisor's thread, so a call costs no thread hop. The thread exists because Linux
//! ties the parent-death signal to the *thread* that started a process, and because a process must be ended and reaped
//! even if the runtime that used it is gone.

pub mod backoff;
mod caps;
mod death;
mod environment;
mod error;
mod group;
mod grouped;
#[cfg(target_os = "linux")]
mod guarded;
#[cfg(target_os = "linux")]
pub mod guardian;
mod handle;
mod life;
mod limits;
mod lines;
mod pipes;
mod process;
mod program;
mod spec;
mod start_error;
mod starter;
#[cfg(target_os = "linux")]
mod stat;
mod state;
mod stderr;
mod supervisor;
mod usage;
mod writer;

pub use caps::{CapUse, ChildCaps};
pub use error::{ChildError, Exit};
pub use handle::{Child, Handle};
pub use limits::Limits;
pub use lines::Lines;
pub use spec::Spec;
pub use start_error::SpawnError;
pub use stderr::LastOutput;
pub use supervisor::{Companion, Supervisor};
pub use usage::{FamilyUsage, family_usage, resident_bytes};
pub use writer::QueuedLine;

#[cfg(test)]
mod tests;
