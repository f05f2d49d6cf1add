//! IDs that a change refers to. Some services ignore IDs that do not exist, and report success, so the IDs are
//! looked up before the change. This module must not know which arguments these are.

use std::collections::BTreeSet;

use serde_json::Value;

use super::environment::Run;
use super::place::Reference;
use super::shape::AnswerStyle;
use super::step::{Field, FieldSource, RestRequest, fixed, get};
use crate::port::Verb;
use crate::tools::{CallFailure, Form, Literal, Values};

/// The number of IDs that one request can look up; calls with more are not checked.
const MOST: usize = 100;
/// The value with the IDs to look up.
const IDS: &str = "referenced ids";
/// The query of the look-up.
const LOOK_UP: &[Field] = &[
    Field { name: "include", source: FieldSource::Value(IDS), form: Form::Plain },
    fixed("per_page", Literal::Int(100)),
    fixed("_fields", Literal::Text("id")),
];

impl Run<'_> {
    /// Checks that the items to which a change refers exist. Items that the account may not list are not checked.
    ///
    /// # Errors
    /// Names the first IDs that do not exist.
    pub(super) async fn refer(&mut self, change: &RestRequest) -> Result<(), CallFailure> {
        if change.acts_as == Verb::Get
            || !change.takes_arguments
            || self.environment.answers == AnswerStyle::Plain
        {
            return Ok(());
        }
        for reference in self.environment.places.references(change.base) {
            let asked = ids(&self.values, reference.argument);
            if asked.is_empty() || asked.len() > MOST {
                continue;
            }
            let list = asked.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
            self.values.set(IDS, Value::from(list));
            let (fields, totals) = (self.fields.take(), self.totals);
            let found = self.asked(&get(reference.base, reference.route).alone().with(LOOK_UP)).await;
            (self.fields, self.totals) = (fields, totals);
            self.values.0.remove(IDS);
            // An account that may not list these items may still refer to them.
            let Ok(Value::Array(found)) = found else { continue };
            let known: BTreeSet<i64> = found.iter().filter_map(|item| item.get("id")?.as_i64()).collect();
            let missing: Vec<String> = asked.difference(&known).map(ToString::to_string).collect();
            if !missing.is_empty() {
                let Reference { argument, noun, lister, .. } = reference;
                return Err(CallFailure::arguments(format!(
                    "not saved: there is no {noun} {} (argument {argument:?}); {lister} lists those that exist",
                    missing.join(", ")
                )));
            }
        }
        Ok(())
    }
}

/// The IDs in an argument: numbers, or objects with an `id`. 0 stands for none.
fn ids(values: &Values, argument: &str) -> BTreeSet<i64> {
    let spread = values.get("fields").and_then(Value::as_object).and_then(|fields| fields.get(argument));
    let Some(value) = values.get(argument).or(spread) else { return BTreeSet::new() };
    let one = |value: &Value| {
        let value = value.get("id").unwrap_or(value);
        value.as_i64().or_else(|| value.as_str()?.trim().parse().ok())
    };
    let all: Vec<i64> = match value {
        Value::String(list) => list.split(',').filter_map(|id| id.trim().parse().ok()).collect(),
        Value::Array(items) => items.iter().filter_map(one).collect(),
        single => one(single).into_iter().collect(),
    };
    all.into_iter().filter(|id| *id > 0).collect()
}
