//! Tasks of upstreams under ids of ours: each says whose it is and at which server, to nobody but the gateway.
//!
//! | file | is for |
//! |---|---|
//! | `held` | outcomes that were there at once, for clients that wait for a task |
//! | `ids` | an id of ours from an upstream's, and back |
//! | `route` | which upstream a request about a task is for; which tasks a stream of notices is about |
//! | `rename` | exchanging ids in messages, both ways |
//!
//! Of other tasks nothing is kept: what an id stands for is sealed in it. It must not know transports, nor what a task is about.

mod held;
mod ids;
mod rename;
mod route;

#[cfg(test)]
mod tests;

pub use held::{Held, HeldLimits};
pub use ids::{KnownTask, MAX_ID, Opened, TaskIds, TaskPlace};
pub use rename::{Edits, Renaming, inbound_edits, message_edits, notice_edits, renames};
pub use route::{Heard, TaskRoute, heard, route};
