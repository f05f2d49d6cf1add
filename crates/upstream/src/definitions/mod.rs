//! The record of a server's tool definitions: when each was first seen, which have changed, and which are approved. If a
//! server changes a tool after somebody has reviewed the tool, the change is noticed before a client sees it. This module
//! must not know clients, views or files.
//!
//! | file | is for |
//! |---|---|
//! | `record` | the record of one server, shared by its per-caller upstreams |
//! | `state` | the record in memory, and the lists that were compared with it |
//! | `note` | the description of the tools that nobody has approved, for the log |
//! | `store` | the port to the stored record, and the identity of a server in it |

mod note;
mod record;
mod state;
mod store;

#[cfg(test)]
mod tests;

pub use record::{DefinitionCounts, DefinitionRecord};
pub(crate) use record::{ListSlot, ListSource};
pub use store::{DefinitionStore, StoredRecord};
