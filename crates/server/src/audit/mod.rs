//! The record of calls as the gateway writes it: entries are taken at once and written a little later, by a thread that
//! may wait for a disk.
//!
//! | file | is for |
//! |---|---|
//! | `sink` | what calls have in hand: taking entries without ever waiting |
//! | `writer` | the thread behind it: batches, trouble with the file, pruning |
//!
//! It must not know what a call is or who may call: an [`Entry`] says it all.

mod sink;
#[cfg(test)]
mod tests;
mod writer;

use std::time::Duration;

pub(crate) use sink::AuditSink;
pub(crate) use store::audit::{Entry, Outcome};

/// The most bytes that the record takes, when nobody says otherwise; some millions of calls.
const MOST_BYTES: u64 = 1 << 30;

/// What is recorded, and for how long.
#[derive(Debug, Clone)]
pub(crate) struct AuditOptions {
    /// Write arguments down.
    pub(crate) arguments: bool,
    /// Names whose values are never written down: parts of a name, or patterns with `*` and `?` for a whole one.
    pub(crate) redact: Vec<String>,
    /// The time for which an entry is kept.
    pub(crate) keep: Duration,
    /// How large the record may grow, in bytes; the oldest entries make room.
    pub(crate) most_bytes: u64,
}

impl AuditOptions {
    /// What the configuration says.
    pub(crate) fn new(audit: &engine::config::Audit) -> Self {
        Self {
            arguments: audit.arguments,
            redact: audit.redact.clone(),
            keep: audit.keep,
            most_bytes: MOST_BYTES,
        }
    }
}
