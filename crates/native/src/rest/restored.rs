//! Calls that show, keep or restore what a change replaces. This module must not know the format of content.

use std::time::Duration;

use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::difference::difference;
use super::environment::Run;
use super::previous::{PreviousContent, id_of};
use super::replaced::ReplacedValues;
use super::request::AGENT;
use super::step::{Check, KeptState, Restoring};
use super::stored_content::{self, CONTENT};
use crate::port::{HttpRequest, Verb};
use crate::tools::{CallFailure, Condition, ToolArgument, flag};

/// Shows what a call would change, without changing it.
pub(crate) const DRY_RUN: ToolArgument =
    flag("dry_run", "Return what the call would change, with a diff of the content, and save nothing.");

/// Texts that are longer than this, in bytes, or that have line breaks, are compared line by line.
const SHORT: usize = 200;
/// The API whose credentials identify an account.
const BASE: &str = "index";
/// The member of an answer with the names of the replaced values that no call can restore.
pub(crate) const NOT_KEPT: &str = "not_kept";

impl Run<'_> {
    /// The values of the call that the check keeps the old values of, by their names in the item.
    pub(super) fn sent(&self, check: &Check) -> Map<String, Value> {
        let in_path = |row: &ToolArgument| check.ask.route.contains(&format!("{{{}}}", row.name));
        let rows = self.arguments.iter().filter(|row| row.sent && !in_path(row));
        let given = rows.filter_map(|row| Some((row.called.unwrap_or(row.name), self.values.get(row.name)?)));
        match check.keeping {
            KeptState::Content => given.filter(|(name, _)| *name == CONTENT).map(own).collect(),
            KeptState::Values(kept) => {
                let mut sent: Map<String, Value> = given.map(own).collect();
                if kept.together.iter().any(|row| sent.contains_key(row.name)) {
                    for row in kept.together {
                        sent.entry(row.name).or_insert_with(Value::default);
                    }
                }
                sent
            }
        }
    }

    /// Keeps the values that the call is about to replace.
    ///
    /// # Errors
    /// Fails if the request for the values cannot be made.
    pub(super) fn keep(
        &mut self,
        check: &Check,
        sent: &Map<String, Value>,
        current: &Value,
    ) -> Result<(), CallFailure> {
        let place = self.environment.places.place(check.ask.base, &self.values, self.mapped)?;
        let account = self.environment.digest(&place);
        let url = self.request(&check.ask, place)?.url;
        if let Some(account) = account {
            let url = url.split('?').next().unwrap_or_default();
            self.keep_values((account, url), (self.arguments, check.keeping), sent, current);
        }
        Ok(())
    }

    fn keep_values(
        &mut self,
        (account, url): ([u8; 32], &str),
        form: (&'static [ToolArgument], KeptState),
        sent: &Map<String, Value>,
        current: &Value,
    ) {
        let Some(contents) = self.environment.places.previous() else { return };
        let ReplacedValues { values, mut lost } = form.1.replaced(form.0, sent, current);
        if !values.is_empty() {
            let at = self.environment.http.now();
            let names: Vec<String> = values.keys().cloned().collect();
            let values = Value::Object(values).to_string();
            // The digest has a key of the process, so that nobody can guess the address.
            let id =
                id_of(self.environment.http.digest(format!("{url}\n{}\n{values}", at.as_nanos()).as_bytes()));
            let address = format!("{}{id}", contents.names.address);
            let previous = PreviousContent { id, account, url: url.to_owned(), values, form, at };
            if contents.put(previous) {
                self.previous.insert(contents.names.member.to_owned(), Value::from(address));
            } else {
                lost.extend(names);
            }
        }
        if matches!(form.1, KeptState::Values(_)) && !lost.is_empty() {
            self.previous.insert(NOT_KEPT.to_owned(), Value::from(lost));
        }
    }

    /// The values kept at this address, for the account that replaced them.
    ///
    /// # Errors
    /// Fails if nothing is kept there, or the site does not know the account.
    pub(super) async fn kept(&self, address: &str) -> Result<PreviousContent, CallFailure> {
        let place = self.environment.places.place(BASE, &self.values, self.mapped)?;
        self.environment.let_in(&place).await?;
        let account = self.environment.digest(&place);
        let contents = self.environment.places.previous();
        let found = account.zip(contents).and_then(|(account, contents)| {
            let id = address.trim().strip_prefix(contents.names.address).unwrap_or(address.trim());
            contents.get(id, &account, self.environment.http.now())
        });
        found.ok_or_else(|| {
            let words = contents.map_or("nothing is kept here", |contents| contents.names.gone);
            CallFailure::new(Condition::ToolFailed, words).with("status", 404)
        })
    }

    /// Restores the values at the address in an argument, and keeps the values that they replace.
    ///
    /// # Errors
    /// As for [`Self::kept`]; or the site refuses the change.
    pub(super) async fn restore(&mut self, restoring: &Restoring) -> Result<Value, CallFailure> {
        let previous = self.kept(self.values.text(restoring.argument)).await?;
        let place = self.environment.places.place(restoring.base, &self.values, self.mapped)?;
        let request = |method, query: &str, body: String| HttpRequest {
            method,
            url: format!("{}?{query}", previous.url),
            headers: vec![
                ("accept", "application/json".into()),
                ("content-type", "application/json".into()),
                AGENT,
            ],
            authorization: place.authorization.clone(),
            body: Bytes::from(body).into(),
            public_only: place.public_only,
            is_fixed_host: place.is_fixed_host,
            patience: self.environment.limits.patience,
            most: self.environment.limits.answer,
        };
        let values = previous.values();
        let names: Vec<&str> = values.keys().map(String::as_str).collect();
        let read = request(Verb::Get, &format!("context=edit&_fields={}", names.join("%2C")), String::new());
        let write = request(Verb::Post, "context=edit", previous.values.clone());
        let account = Some(previous.account);
        let current = self.answered((restoring.base, Verb::Get, Duration::ZERO), account, read).await?;
        let answer = self.answered((restoring.base, Verb::Post, Duration::ZERO), account, write).await?;
        self.keep_values((previous.account, &previous.url), previous.form, &values, &current);
        if let Some(sent) = values.get(CONTENT).and_then(Value::as_str) {
            stored_content::report(sent, &answer, &mut self.previous);
        }
        Ok(answer)
    }

    /// The changes that the call would make to this item: for each argument that differs, both values, or their difference.
    pub(super) fn changes(&self, current: &Value) -> Value {
        let mut changes = Map::new();
        for argument in self.arguments {
            let Some(given) = self.values.get(argument.name).filter(|_| argument.sent) else { continue };
            let fields = match given.as_object().filter(|_| argument.form.spreads()) {
                Some(fields) => fields.iter().map(|(name, value)| (name.as_str(), value)).collect(),
                None => vec![(argument.called.unwrap_or(argument.name), given)],
            };
            for (name, new) in fields {
                let old = current.get(name).map(|old| old.get("raw").unwrap_or(old));
                if old.is_some() && old != Some(new) {
                    changes.insert(name.to_owned(), change(old.unwrap_or(&Value::Null), new));
                }
            }
        }
        json!({"dry_run": true, "saved": false, "changes": changes})
    }
}

fn own((name, value): (&str, &Value)) -> (String, Value) {
    (name.to_owned(), value.clone())
}

/// A change to one field.
fn change(old: &Value, new: &Value) -> Value {
    match (old.as_str(), new.as_str()) {
        (Some(old), Some(new)) if [old, new].iter().any(|text| text.len() > SHORT || text.contains('\n')) => {
            json!({"difference": difference(old, new)})
        }
        _ => json!({"from": old, "to": new}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_value_is_shown_whole() {
        assert_eq!(change(&json!("a"), &json!("b")), json!({"from": "a", "to": "b"}));
        assert_eq!(change(&json!([1]), &json!([2])), json!({"from": [1], "to": [2]}));
        assert!(change(&json!("a\nb"), &json!("a\nc"))["difference"].is_string());
    }
}
