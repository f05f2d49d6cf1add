//! The records in the state folder. This module must not know how they are written.
//!
//! | file | is for |
//! |---|---|
//! | [`audit`] | the record of calls |
//! | [`definitions`] | the definitions of servers' tools: what changed, and what is approved |

pub(crate) mod audit;
pub(crate) mod definitions;
