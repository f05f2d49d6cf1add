//! What is asked for of the record.

use rusqlite::types::Value;

use super::Outcome;
use crate::database::kept;

/// The most entries that one query gives.
pub const MAX_LIMIT: u32 = 100_000;

/// Which entries. In patterns `*` stands for any characters and `?` for one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// That came in at this time or behind it.
    pub since_ms: Option<u64>,
    /// That came in in front of this time.
    pub until_ms: Option<u64>,
    /// Of callers whose name has this pattern.
    pub principal: Option<String>,
    /// Of profiles whose name has this pattern.
    pub profile: Option<String>,
    /// That went to servers whose name has this pattern.
    pub upstream: Option<String>,
    /// Of tools whose name has this pattern.
    pub tool: Option<String>,
    /// That ended so.
    pub outcome: Option<Outcome>,
    /// That were recorded after the one with this number. Then the oldest come first, else the newest.
    pub after: Option<i64>,
    /// At most so many, and at most [`MAX_LIMIT`].
    pub limit: u32,
}

impl Query {
    /// The part of the statement from `WHERE` on, and its values.
    pub(super) fn clause(&self) -> (String, Vec<Value>) {
        let pattern = |text: &Option<String>| text.as_deref().map(|text| Value::from(sql_pattern(text)));
        let conditions = [
            ("at_ms >= ?", self.since_ms.map(|at| Value::from(kept(at)))),
            ("at_ms < ?", self.until_ms.map(|at| Value::from(kept(at)))),
            ("principal GLOB ?", pattern(&self.principal)),
            ("profile GLOB ?", pattern(&self.profile)),
            ("upstream GLOB ?", pattern(&self.upstream)),
            ("tool GLOB ?", pattern(&self.tool)),
            ("outcome = ?", self.outcome.map(|outcome| Value::from(outcome.as_str().to_owned()))),
            ("id > ?", self.after.map(Value::from)),
        ];
        let (texts, mut values): (Vec<&str>, Vec<Value>) =
            conditions.into_iter().filter_map(|(text, value)| Some((text, value?))).unzip();
        let all = if texts.is_empty() { "TRUE".to_owned() } else { texts.join(" AND ") };
        let order = if self.after.is_some() { "id" } else { "id DESC" };
        values.push(Value::from(i64::from(self.limit.min(MAX_LIMIT))));
        (format!("WHERE {all} ORDER BY {order} LIMIT ?"), values)
    }
}

/// A pattern as the database has it, where `[` opens a set of characters.
fn sql_pattern(pattern: &str) -> String {
    pattern.replace('[', "[[]")
}
