//! Failures that a service may report although the request took effect. This module must not know any service.

use serde_json::Value;

use super::environment::Run;
use super::step::{FalseFailure, RestRequest, get};
use crate::tools::CallFailure;

impl Run<'_> {
    /// The answer to a request. After a failure that may be false, the current state is read; if it shows the
    /// request's effect, it is the answer.
    pub(super) async fn verified(&mut self, ask: &RestRequest) -> Result<Value, CallFailure> {
        let outcome = self.asked(ask).await;
        let (Err(failure), Some(expected)) = (&outcome, ask.false_failure) else { return outcome };
        if !may_be(&expected, failure) {
            return outcome;
        }
        match self.asked(&get(ask.base, ask.route).alone()).await {
            Ok(state) if (expected.has_effect)(&state, &self.values) => Ok(state),
            _ => outcome,
        }
    }
}

fn may_be(expected: &FalseFailure, failure: &CallFailure) -> bool {
    let has =
        |name, wanted: &Value| failure.detail.iter().any(|(given, value)| *given == name && value == wanted);
    has("status", &expected.status.into()) && has("code", &expected.code.into())
}
