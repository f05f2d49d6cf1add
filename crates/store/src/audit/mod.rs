//! The record of calls: one row a call in a file of its own, appended in batches, never changed, pruned by age and size.
//!
//! | file | is for |
//! |---|---|
//! | `entry` | what is recorded of a call |
//! | `query` | what is asked for |
//! | `log` | the file |
//!
//! It must not know what a column means beyond its name.

mod entry;
mod log;
mod query;

#[cfg(test)]
mod tests;

pub use entry::{Entry, Outcome, Recorded};
pub use log::Log;
pub use query::{MAX_LIMIT, Query};
