//! Tasks of upstreams under ids of ours: each says whose it is and at which server, to nobody but the gateway.
//!
//! | file | is for |
//! |---|---|
//! | `ids` | an id of ours from an upstream's, and back |
//! | `route` | which upstream a request about a task is for; which tasks a stream of notices is about |
//! | `rename` | exchanging ids in messages, both ways |
//!
//! Nothing is kept: what an id stands for is sealed in it. It must not know transports, nor what a task is about.

mod ids;
mod rename;
mod route;

#[cfg(test)]
mod tests;

pub use ids::{KnownTask, MAX_ID, Opened, TaskIds, TaskPlace};
pub use rename::{Edits, Renaming, inbound_edits, message_edits, notice_edits, renames};
pub use route::{Heard, TaskRoute, heard, route};
