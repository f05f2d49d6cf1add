//! The entries that an operator's request, over the API or on a page, leaves in the log and in the record of calls.
//! This module must not know HTTP.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use super::audit::{self, ManagementAction};
use super::edit;
use crate::admission::audit::CallOutcome;
use crate::changes::edits::Edited;
use crate::changes::{Refusal, Standing};
use crate::process::Shard;

/// A request that changes something.
pub struct OperatorRequest<'a> {
    /// The thread's handle to the gateway.
    pub shard: &'a Shard,
    /// The operator.
    pub who: Arc<str>,
    /// The address of the operator, if the request came over the network.
    pub address: Option<IpAddr>,
    /// The method and the path, in the form in which they are recorded.
    pub asked: String,
    /// The server that the request concerns.
    pub server: Option<&'a str>,
    /// The profile that the request concerns.
    pub profile: Option<&'a str>,
}

impl OperatorRequest<'_> {
    /// Changes the configuration; returns when the change is stored and in force.
    pub async fn edit(
        self,
        how: impl FnOnce(&Standing) -> Result<(String, Standing), Refusal> + Send + 'static,
    ) -> Result<Edited, Refusal> {
        let started = Instant::now();
        let made = edit::edit(self.shard, Box::new(how)).await;
        let what = made.as_ref().map(|made| -> &(dyn fmt::Display + Sync) { &made.what });
        audit::log_and_record(self.shard, &self.action(started, what));
        made
    }

    /// Writes an operation that changes something other than the configuration, and its outcome, to the log and to the
    /// record of calls. `what` must contain no secrets.
    pub fn note<T>(self, started: Instant, outcome: &Result<T, Refusal>, what: &(dyn fmt::Display + Sync)) {
        let shard = self.shard;
        audit::log_and_record_operation(shard, &self.action(started, outcome.as_ref().map(|_| what)));
    }

    fn action<'b>(
        &'b self,
        started: Instant,
        outcome: Result<&'b (dyn fmt::Display + Sync), &Refusal>,
    ) -> ManagementAction<'b> {
        let mut action = ManagementAction {
            who: self.who.clone(),
            address: self.address,
            asked: self.asked.clone().into(),
            server: self.server,
            profile: self.profile,
            outcome: CallOutcome::Ok,
            status: None,
            what: None,
            took: started.elapsed(),
        };
        match outcome {
            Ok(what) => action.what = Some(what),
            Err(refusal) => (action.outcome, action.status) = (CallOutcome::Error, Some(refusal.status)),
        }
        action
    }
}
