//! The record of calls as log records for OpenTelemetry. This module must not know who records calls, or how posts are sent.
//!
//! | file | is for |
//! |---|---|
//! | `export_request` | entries as the bytes that collectors read |

mod export_request;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use store::audit::AuditEntry;

use super::export::{ExportQueue, ExporterSettings, Signal, Variables};
use super::trace::TraceContext;
pub(crate) use export_request::LogBatch;

/// The record of calls as a telemetry signal. It names callers, so it is exported only if `OTEL_LOGS_EXPORTER=otlp`
/// is set.
const LOGS: Signal = Signal {
    name: "LOGS",
    path: "/v1/logs",
    batches: "BLRP",
    delay: 1000,
    is_on: false,
    items: "log records",
};

/// An entry of the record, and the span of its request if the request is traced.
pub(crate) struct LoggedCall {
    pub(super) entry: AuditEntry,
    pub(super) trace: Option<TraceContext>,
}

/// The export of the record.
pub(crate) struct CallLog {
    /// The entries that wait to be sent.
    pub(crate) queue: Arc<ExportQueue<LogBatch>>,
}

impl CallLog {
    /// Creates an export with an empty queue.
    pub(crate) fn new(settings: &ExporterSettings) -> Self {
        Self { queue: Arc::new(ExportQueue::new(settings)) }
    }

    /// Reads the variables of OpenTelemetry; `None` if the record is not exported. The second value lists unusable
    /// variables.
    pub(crate) fn settings(
        lookup: &dyn Fn(&str) -> Option<String>,
    ) -> (Option<ExporterSettings>, Vec<String>) {
        let mut variables = Variables::new(lookup);
        let settings = ExporterSettings::read(&mut variables, &LOGS);
        (settings, variables.complaints)
    }

    /// Adds an entry to the queue. Its arguments are left out, because they may contain secrets.
    pub(crate) fn accept(&self, entry: &AuditEntry, trace: Option<TraceContext>) {
        let entry = AuditEntry { arguments: None, ..entry.clone() };
        self.queue.accept(|batch| batch.calls.push(LoggedCall { entry, trace }));
    }
}
