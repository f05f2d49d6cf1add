//! The steps of a call, one after the other. This module must not know how a request is sent.

use std::ops::ControlFlow;

use serde_json::Value;

use super::content_format::ContentFormat;
use super::environment::Run;
use super::shape::{AnswerStyle, CallAnswer};
use super::step::{Bind, MissingValue, RestRequest, Step, StepCondition};
use crate::tools::{CallFailure, Condition};

/// The outcome of all steps: the last answer, and the form of its content.
pub(super) struct StepsOutcome {
    pub(super) last: Value,
    pub(super) content: Option<ContentFormat>,
}

impl Run<'_> {
    /// Runs the steps. Returns `Break` with the call's answer if a step ends the call early.
    ///
    /// # Errors
    /// Returns the first failure, which ends the call.
    pub(super) async fn through(
        &mut self,
        steps: &'static [Step],
    ) -> Result<ControlFlow<CallAnswer, StepsOutcome>, CallFailure> {
        let mut outcome = StepsOutcome { last: Value::Null, content: None };
        for (at, step) in steps.iter().enumerate() {
            match step {
                Step::File(from) => {
                    self.file = Some(self.had(*from, steps.get(at..).unwrap_or_default()).await?);
                }
                Step::Ask(ask) if ask.shows_content && self.environment.answers == AnswerStyle::Compact => {
                    (outcome.last, outcome.content) = self.content(ask).await?;
                }
                Step::Ask(ask) if self.is_due(ask.when) => {
                    self.refer(ask).await?;
                    outcome.last =
                        self.verified(ask).await.map_err(|failure| self.half_done(ask, failure))?;
                    if let Some(instead) = self.bound(ask.binds, &outcome.last)? {
                        outcome.last = instead;
                        break;
                    }
                }
                Step::Ask(_) => {}
                Step::Check(check) if !self.is_due(check.ask.when) => {}
                Step::Check(check) => {
                    if let Some(changes) = self.checked(check).await? {
                        return Ok(ControlFlow::Break(CallAnswer::object(changes)));
                    }
                }
                Step::Previous(argument) => {
                    outcome.last = self.kept(self.values.text(argument)).await?.shown();
                }
                Step::Restore(restoring) => outcome.last = self.restore(restoring).await?,
                Step::Open(open) => outcome.last = self.opened(open).await?,
                Step::Make(name, make) => {
                    if let Some(value) = make(&self.values)? {
                        self.values.set(name, value);
                    }
                }
            }
        }
        Ok(ControlFlow::Continue(outcome))
    }

    fn is_due(&self, when: StepCondition) -> bool {
        let digits = |name| {
            let text = self.values.text(name);
            !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
        };
        match when {
            StepCondition::Always => true,
            StepCondition::Given(name) => self.values.has(name),
            StepCondition::Absent(name) => !self.values.has(name),
            StepCondition::Digits(name) => digits(name),
            StepCondition::Words(name) => !digits(name),
            StepCondition::Is(name, word) => self.values.text(name) == word,
            StepCondition::IsNot(name, word) => self.values.text(name) != word,
        }
    }

    /// The failure of a request, with what earlier requests of the call have changed. Messages in the form of presets stay as they are.
    fn half_done(&self, ask: &RestRequest, mut failure: CallFailure) -> CallFailure {
        if let Some(done) = ask.done_before.filter(|_| self.environment.answers != AnswerStyle::Plain) {
            failure.message = format!("{}; {done}", failure.message.trim_end_matches('.'));
        }
        failure
    }

    /// Stores the values that later steps need. If a value is missing and the row gives an answer for that
    /// case, returns that answer, which ends the call.
    fn bound(&mut self, binds: &[Bind], answer: &Value) -> Result<Option<Value>, CallFailure> {
        for bind in binds {
            match (found(answer, bind.at), bind.missing) {
                (Some(value), _) => self.values.set(bind.name, value),
                (None, MissingValue::Nothing) => {}
                (None, MissingValue::CallFailure(words)) => {
                    return Err(CallFailure::new(Condition::ToolFailed, words));
                }
                (None, MissingValue::Answer(text)) => {
                    return Ok(Some(serde_json::from_str(text).unwrap_or_default()));
                }
            }
        }
        Ok(None)
    }
}

/// The value at the first existing pointer; with `*`, the values of all elements.
fn found(answer: &Value, at: &str) -> Option<Value> {
    at.split('|').find_map(|at| found_at(answer, at))
}

fn found_at(answer: &Value, at: &str) -> Option<Value> {
    let Some((before, behind)) = at.split_once("/*") else { return answer.pointer(at).cloned() };
    let rows = answer.pointer(before)?.as_array()?;
    let values: Vec<Value> = rows.iter().filter_map(|row| row.pointer(behind).cloned()).collect();
    (!values.is_empty()).then_some(Value::Array(values))
}
