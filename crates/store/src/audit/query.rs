//! Queries of the audit log.

use rusqlite::types::Value;

use super::CallOutcome;
use crate::database::kept;

/// The maximum number of entries that one query returns.
pub const MAX_LIMIT: u32 = 100_000;

/// A selection of entries. In patterns, `*` matches any characters and `?` matches one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// Selects entries that arrived at this time or later.
    pub since_ms: Option<u64>,
    /// Selects entries that arrived before this time.
    pub until_ms: Option<u64>,
    /// Selects callers with a matching name.
    pub principal: Option<String>,
    /// Additional patterns for the caller's name: calls are selected if the name matches `principal` or any of
    /// these patterns. They apply only if `principal` is set.
    pub principals: Vec<String>,
    /// Selects profiles with a matching name.
    pub profile: Option<String>,
    /// Selects calls that went to a server with a matching name.
    pub upstream: Option<String>,
    /// Selects tools with a matching name.
    pub tool: Option<String>,
    /// Selects requests with a matching method.
    pub method: Option<String>,
    /// Selects calls whose tool or recorded arguments contain this text, whatever its case.
    pub text: Option<String>,
    /// Selects clients with a matching name, or name and version.
    pub client: Option<String>,
    /// Selects clients with a matching address.
    pub address: Option<String>,
    /// Selects calls with this outcome.
    pub outcome: Option<CallOutcome>,
    /// Selects entries recorded after the one with this number, oldest first. Without this number, the newest entries
    /// come first.
    pub after: Option<i64>,
    /// Selects entries recorded before the one with this number.
    pub before: Option<i64>,
    /// The maximum number of entries; capped at [`MAX_LIMIT`].
    pub limit: u32,
}

impl Query {
    /// The part of the statement from `WHERE` on, and its values.
    pub(super) fn clause(&self) -> (String, Vec<Value>) {
        let pattern = |text: &Option<String>| text.as_deref().map(|text| Value::from(sql_pattern(text)));
        let conditions = [
            ("at_ms >= ?", self.since_ms.map(|at| Value::from(kept(at)))),
            ("at_ms < ?", self.until_ms.map(|at| Value::from(kept(at)))),
            ("profile GLOB ?", pattern(&self.profile)),
            ("upstream GLOB ?", pattern(&self.upstream)),
            ("tool GLOB ?", pattern(&self.tool)),
            ("method GLOB ?", pattern(&self.method)),
            // A name without a version matches all versions.
            (
                "client || ' ' GLOB ?",
                self.client.as_ref().map(|text| Value::from(sql_pattern(&format!("{text} *")))),
            ),
            ("address GLOB ?", pattern(&self.address)),
            (
                "instr(lower(coalesce(tool, method) || ' ' || coalesce(arguments, '')), ?) > 0",
                self.text.as_deref().map(lower),
            ),
            ("outcome = ?", self.outcome.map(|outcome| Value::from(outcome.as_str().to_owned()))),
            ("id > ?", self.after.map(Value::from)),
            ("id < ?", self.before.map(Value::from)),
        ];
        let (mut texts, mut values): (Vec<&str>, Vec<Value>) =
            conditions.into_iter().filter_map(|(text, value)| Some((text, value?))).unzip();
        let callers: Vec<&String> = self.principal.iter().chain(&self.principals).collect();
        let any = vec!["principal GLOB ?"; callers.len()].join(" OR ");
        let any = format!("({any})");
        if self.principal.is_some() {
            texts.push(&any);
            values.extend(callers.into_iter().map(|text| Value::from(sql_pattern(text))));
        }
        let all = if texts.is_empty() { "TRUE".to_owned() } else { texts.join(" AND ") };
        let order = if self.after.is_some() { "id" } else { "id DESC" };
        values.push(Value::from(i64::from(self.limit.min(MAX_LIMIT))));
        (format!("WHERE {all} ORDER BY {order} LIMIT ?"), values)
    }
}

fn lower(text: &str) -> Value {
    // Like the database, this converts only ASCII letters.
    Value::from(text.to_ascii_lowercase())
}

/// Translates a pattern into SQLite's form, where `[` opens a set of characters.
fn sql_pattern(pattern: &str) -> String {
    pattern.replace('[', "[[]")
}
