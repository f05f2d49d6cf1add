//! Child processes that speak newline-delimited messages: upstreams over the stdio transport.
//!
//! A [`Supervisor`] starts them, counts them, and ends them with everything that they started; a [`Child`] is a handle
//! to write lines with and a stream of lines to read. Must not know what a line means: JSON, ids and protocol
//! versions belong to `proto`.
//!
//! ```text
//!  runtime of the caller                      thread of the supervisor
//!  Handle::send ─► queue ─► writer task ─► stdin ┐
//!  Lines::recv ◄─ decoder ◄─────────────── stdout┤ process group   (start, wait, signals, reaping)
//!                                          stderr┘ ─► ring of last bytes
//! ```
//!
//! Messages never pass the supervisor's thread, so a call costs no thread hop. The thread exists because Linux ties
//! the parent-death signal to the *thread* that started a process, and because a process must be ended and reaped even
//! if the runtime that used it is gone.

pub mod backoff;
mod death;
mod environment;
mod error;
mod group;
mod handle;
mod life;
mod limits;
mod lines;
mod spec;
mod start_error;
mod state;
mod stderr;
mod supervisor;
mod writer;

pub use error::{ChildError, Exit};
pub use handle::{Child, Handle};
pub use limits::Limits;
pub use lines::Lines;
pub use spec::Spec;
pub use start_error::SpawnError;
pub use supervisor::Supervisor;

#[cfg(test)]
mod tests;
