//! The facts about a recorded request that are known only at its end. This module must not know who completes them.

use std::sync::Arc;
use std::time::Duration;

use engine::meters::OperationOutcome;

use crate::admission::audit::{CallOutcome, ReasonKind, RecordedReason};

/// The facts about a request that are known only at its end. If nobody completes the record, the outcome is an error.
pub(super) struct RecordedFacts {
    pub(super) outcome: CallOutcome,
    /// The kind of the failure; `None` if there was no answer, or no failure.
    pub(super) failure: Option<OperationOutcome>,
    pub(super) code: Option<i64>,
    pub(super) upstream: Option<Arc<str>>,
    pub(super) response_bytes: u64,
    pub(super) tries: u32,
    pub(super) waited: Duration,
    pub(super) cached: bool,
    /// The cause of the failure that the call has noted, for faults of a server.
    pub(super) cause: Option<ReasonKind>,
    /// The reason for the entry; `None` while there is no failure.
    pub(super) reason: Option<Box<RecordedReason>>,
}

impl RecordedFacts {
    /// Records a failure of this kind.
    pub(super) fn fail(&mut self, failure: OperationOutcome) {
        (self.outcome, self.failure) = (CallOutcome::Error, Some(failure));
    }

    /// Returns the outcome as metrics and traces have it.
    pub(super) fn operation_outcome(&self) -> OperationOutcome {
        match self.outcome {
            CallOutcome::Ok => OperationOutcome::Ok,
            CallOutcome::Denied => OperationOutcome::Denied,
            CallOutcome::Unknown => OperationOutcome::NotFound,
            CallOutcome::Error => self.failure.unwrap_or(OperationOutcome::Cancelled),
        }
    }
}
