//! Writes the record of calls: calls hand over their entries without waiting, and a thread that is allowed to wait for
//! the disk writes them a little later.
//!
//! | file | is for |
//! |---|---|
//! | `reason_text` | error texts, short and without secrets |
//! | `sink` | the producer side: accepts entries from calls without ever waiting |
//! | `shared_calls` | entries for the other gateways of a cluster |
//! | `watch` | readers that watch entries arrive |
//! | `writer` | the thread: batches, recovery from file errors, pruning |
//!
//! This module must not know what a call is or who may call: an [`AuditEntry`] contains everything.

mod reason_text;
mod shared_calls;
mod sink;
#[cfg(test)]
mod tests;
mod watch;
mod writer;

use std::path::Path;
use std::time::Duration;

use config::Audit;
use store::audit::Log;

pub use shared_calls::{CallBatch, SharedCall};
pub(crate) use sink::AuditSink;
pub use store::audit::{AuditEntry, CallOutcome, ReasonKind, RecordedReason};
pub use watch::{WatchedCalls, WatchedCounts, WatchedShare};

/// The default size limit of the record, in bytes: enough for several million calls.
const MOST_BYTES: u64 = 1 << 30;

/// The settings of the record: which data it contains, and for how long.
#[derive(Debug, Clone)]
pub(crate) struct AuditOptions {
    /// True if arguments are recorded.
    pub(crate) arguments: bool,
    /// The names whose values are never recorded: each item is a substring of a name, or a pattern with `*` and `?`
    /// that matches a whole name.
    pub(crate) redact: Vec<String>,
    /// True if entries are shared with the other gateways of a cluster.
    pub(crate) share: bool,
    /// The time for which an entry is kept.
    pub(crate) keep: Duration,
    /// The size limit of the record, in bytes; above this limit, the oldest entries are deleted first.
    pub(crate) most_bytes: u64,
}

impl AuditOptions {
    /// Returns the settings that the configuration contains.
    pub(crate) fn new(audit: &Audit) -> Self {
        Self {
            arguments: audit.arguments,
            redact: audit.redact.clone(),
            share: audit.share,
            keep: audit.keep,
            most_bytes: MOST_BYTES,
        }
    }
}

/// Opens the record's file, if one is configured. This blocks.
///
/// # Errors
/// Returns the reason why the file cannot be used, and what to do about it.
pub(crate) fn open(audit: Option<&Audit>, folder: Option<&Path>) -> Result<Option<Log>, String> {
    let Some(audit) = audit else { return Ok(None) };
    let folder = folder
        .ok_or("there is no state folder for the record of calls; set stateFolder in the configuration")?;
    let opened = Log::open(&folder.join(audit.file.expose()));
    opened.map(Some).map_err(|e| format!("audit: {e}; {}", e.help()))
}
