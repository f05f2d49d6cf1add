//! The audit log of calls: one row per call in a separate file, appended in batches, never changed, pruned by age and size.
//!
//! | file | is for |
//! |---|---|
//! | `entry` | the recorded data of a call |
//! | `reason` | the reason why a call did not succeed |
//! | `query`, `figures` | queries; the parts of many entries for statistics |
//! | `log` | the file |
//!
//! This module must not know more about a column than its name.

mod entry;
mod figures;
mod log;
mod query;
mod reason;

#[cfg(test)]
mod tests;

pub use entry::{AuditEntry, CallOutcome, Recorded};
pub use figures::{CallFigures, Examined};
pub use log::Log;
pub use query::{MAX_LIMIT, Query};
pub use reason::{ReasonKind, RecordedReason};
