//! Calls that show, keep or restore the content that a change replaces. This module must not know the format of content.

use std::fmt::Write as _;
use std::time::Duration;

use bytes::Bytes;
use serde_json::{Map, Value, json};
use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::previous::{ADDRESS, PreviousContent, id_of};
use super::request::AGENT;
use super::step::Check;
use super::world::Run;
use crate::port::{HttpRequest, Verb};
use crate::tools::{CallFailure, Condition, ToolArgument, flag};

/// Shows what a call would change, without changing it.
pub(crate) const DRY_RUN: ToolArgument =
    flag("dry_run", "Return what the call would change, with a diff of the content, and save nothing.");

/// Texts that are longer than this, in bytes, or that have line breaks, are compared line by line.
const SHORT: usize = 200;
/// The largest number of lines that are compared one by one: the time grows with the square of this number. Longer texts
/// are compared as a whole.
const MOST_LINES: usize = 4000;
/// The largest difference to show, in bytes.
const LONGEST: usize = 20_000;
/// The API of content whose routes name the content's type.
const BASE: &str = "index";

impl Run<'_> {
    /// Keeps the content that the call is about to replace.
    ///
    /// # Errors
    /// Fails if the request for the content cannot be made.
    pub(super) fn keep(&mut self, check: &Check, current: &Value) -> Result<(), CallFailure> {
        let place = self.world.places.place(check.ask.base, &self.values, self.mapped)?;
        let account = self.world.digest(&place);
        let url = self.request(&check.ask, place)?.url;
        if let (Some(account), Some(content)) = (account, source(current, check.given)) {
            self.keep_content(account, url.split('?').next().unwrap_or_default(), content);
        }
        Ok(())
    }

    fn keep_content(&mut self, account: [u8; 32], url: &str, content: &str) {
        let Some(contents) = self.world.places.previous() else { return };
        let at = self.world.http.now();
        // The digest has a key of the process, so that nobody can guess the address.
        let id = id_of(self.world.http.digest(format!("{url}\n{}\n{content}", at.as_nanos()).as_bytes()));
        let previous = PreviousContent { id, account, url: url.to_owned(), content: content.to_owned(), at };
        let address = format!("{ADDRESS}{}", previous.id);
        if contents.put(previous) {
            self.previous = Some(address);
        }
    }

    /// The kept content at this address, for the account that replaced it.
    ///
    /// # Errors
    /// Fails if no content is kept there, or the site does not know the account.
    pub(super) async fn kept(&self, address: &str) -> Result<PreviousContent, CallFailure> {
        let place = self.world.places.place(BASE, &self.values, self.mapped)?;
        self.world.let_in(&place).await?;
        let account = self.world.digest(&place);
        let id = address.trim().strip_prefix(ADDRESS).unwrap_or(address.trim());
        let found = account
            .zip(self.world.places.previous())
            .and_then(|(account, contents)| contents.get(id, &account, self.world.http.now()));
        found.ok_or_else(|| {
            let words = "no content is kept at this address for this account: the content that an update replaced is kept for at \
                         most a day, and is lost when Dragoman restarts. Look for a revision of the item instead";
            CallFailure::new(Condition::ToolFailed, words).with("status", 404)
        })
    }

    /// Restores the content at this address, and keeps the content that it replaces.
    ///
    /// # Errors
    /// As for [`Self::kept`]; or the site refuses the change.
    pub(super) async fn restore(&mut self, address: &str) -> Result<Value, CallFailure> {
        let previous = self.kept(address).await?;
        let place = self.world.places.place(BASE, &self.values, self.mapped)?;
        let request = |method, query: &str, body: Value| HttpRequest {
            method,
            url: format!("{}?{query}", previous.url),
            headers: vec![
                ("accept", "application/json".into()),
                ("content-type", "application/json".into()),
                AGENT,
            ],
            authorization: place.authorization.clone(),
            body: if method == Verb::Get { Bytes::new() } else { Bytes::from(body.to_string()) }.into(),
            public_only: place.public_only,
            is_fixed_host: place.is_fixed_host,
            patience: self.world.limits.patience,
            most: self.world.limits.answer,
        };
        let read = request(Verb::Get, "context=edit&_fields=content", Value::Null);
        let write = request(Verb::Post, "context=edit", json!({"content": previous.content}));
        let current = self.answered((BASE, Verb::Get, Duration::ZERO), Some(previous.account), read).await?;
        let answer = self.answered((BASE, Verb::Post, Duration::ZERO), Some(previous.account), write).await?;
        if let Some(content) = source(&current, "content") {
            self.keep_content(previous.account, &previous.url, content);
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

/// The content of an item as editors see it.
fn source<'a>(item: &'a Value, name: &str) -> Option<&'a str> {
    let content = item.get(name)?;
    content.get("raw").unwrap_or(content).as_str()
}

/// A change of one field.
fn change(old: &Value, new: &Value) -> Value {
    match (old.as_str(), new.as_str()) {
        (Some(old), Some(new)) if [old, new].iter().any(|text| text.len() > SHORT || text.contains('\n')) => {
            json!({"difference": difference(old, new)})
        }
        _ => json!({"from": old, "to": new}),
    }
}

/// The lines that differ, each with `-` or `+` before it, and the number of the first line of each group.
fn difference(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let mut text = String::new();
    let operations = if old.len() + new.len() <= MOST_LINES {
        capture_diff_slices(Algorithm::Myers, &old, &new)
    } else {
        vec![DiffOp::Replace { old_index: 0, old_len: old.len(), new_index: 0, new_len: new.len() }]
    };
    for op in operations {
        if matches!(op, DiffOp::Equal { .. }) {
            continue;
        }
        let _ = writeln!(text, "@ line {}", op.old_range().start + 1);
        let (gone, added) = (old.get(op.old_range()), new.get(op.new_range()));
        for (sign, line) in gone
            .into_iter()
            .flatten()
            .map(|line| ('-', line))
            .chain(added.into_iter().flatten().map(|line| ('+', line)))
        {
            let _ = writeln!(text, "{sign} {line}");
        }
        if text.len() > LONGEST {
            text.truncate(text.floor_char_boundary(LONGEST));
            text.push_str("\n… and more");
            break;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_has_only_the_lines_that_differ() {
        let (old, new) =
            ("<!-- wp:heading -->\n<h2>A</h2>\n\nText\n", "<!-- wp:heading -->\n<h2>B</h2>\n\nText\nMore\n");
        assert_eq!(difference(old, new), "@ line 2\n- <h2>A</h2>\n+ <h2>B</h2>\n@ line 5\n+ More\n");
        assert_eq!(difference(old, old), "");
        let long = "x\n".repeat(50_000);
        assert!(difference("", &long).len() < LONGEST + 20);
    }

    #[test]
    fn a_short_value_is_shown_whole() {
        assert_eq!(change(&json!("a"), &json!("b")), json!({"from": "a", "to": "b"}));
        assert_eq!(change(&json!([1]), &json!([2])), json!({"from": [1], "to": [2]}));
        assert!(change(&json!("a\nb"), &json!("a\nc"))["difference"].is_string());
    }
}
