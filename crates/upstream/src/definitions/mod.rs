//! The record of a server's tool definitions: what was seen first, what changed, what is approved. A server that changes a
//! tool after somebody has reviewed it is noticed before a client sees the tool. It must not know clients, views or files.
//!
//! | file | is for |
//! |---|---|
//! | `record` | the record of one server, shared by its per-caller upstreams |
//! | `store` | the port to the stored record, and the identity of a server in it |

mod record;
mod store;

#[cfg(test)]
mod tests;

pub use record::{DefinitionCounts, DefinitionRecord};
pub(crate) use record::{ListSlot, ListSource};
pub use store::DefinitionStore;
