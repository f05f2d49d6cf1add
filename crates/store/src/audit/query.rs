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
    /// Selects tools with one of these names, which are no patterns; all tools if it is empty.
    pub tools: Vec<String>,
    /// Selects entries with one of these times; all entries if `None`.
    pub times_ms: Option<Vec<u64>>,
    /// Examines only about this number of the newest entries.
    pub newest: Option<u32>,
    /// Selects only requests of clients if true, and only changes and operations, which are recorded without a request, if false.
    pub of_clients: Option<bool>,
    /// Selects requests whose method matches one of these patterns; all requests if it is empty.
    pub methods: Vec<String>,
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
        let mut all = Conditions::default();
        // The conditions that are cheapest to check come first, because each query may check them for very many entries.
        all.add("id > ?", self.after);
        all.add("id < ?", self.before);
        all.add("id > (SELECT max(id) FROM calls) - ?", self.newest.map(i64::from));
        all.add_all("tool IN ", ", ", &placeholders(self.tools.len()), self.tools.iter().cloned());
        all.add("(request_bytes > 0) = ?", self.of_clients);
        if let Some(times) = &self.times_ms {
            all.add_all("at_ms IN ", ", ", &placeholders(times.len()), times.iter().map(|at| kept(*at)));
            if times.is_empty() {
                all.texts.push("FALSE".to_owned());
            }
        }
        all.add("at_ms >= ?", self.since_ms.map(kept));
        all.add("at_ms < ?", self.until_ms.map(kept));
        all.add_pattern("profile", self.profile.as_deref());
        all.add_pattern("upstream", self.upstream.as_deref());
        all.add_pattern("tool", self.tool.as_deref());
        let methods: Vec<String> = self.methods.iter().map(|text| matching("method", text)).collect();
        all.add_all("", " OR ", &methods, self.methods.iter().map(|text| value_of(text)));
        all.add("outcome = ?", self.outcome.map(|outcome| outcome.as_str().to_owned()));
        // A name without a version matches all versions.
        all.add("client || ' ' GLOB ?", self.client.as_ref().map(|text| sql_pattern(&format!("{text} *"))));
        all.add_pattern("address", self.address.as_deref());
        if let Some(principal) = &self.principal {
            let callers: Vec<&str> =
                std::iter::once(principal).chain(&self.principals).map(|s| &**s).collect();
            let each: Vec<String> = callers.iter().map(|text| matching("principal", text)).collect();
            all.add_all("", " OR ", &each, callers.into_iter().map(value_of));
        }
        all.add(
            "instr(lower(coalesce(tool, method) || ' ' || coalesce(arguments, '')), ?) > 0",
            // Like the database, this converts only ASCII letters.
            self.text.as_deref().map(str::to_ascii_lowercase),
        );
        let Conditions { texts, mut values } = all;
        let which = if texts.is_empty() { "TRUE".to_owned() } else { texts.join(" AND ") };
        let order = if self.after.is_some() { "id" } else { "id DESC" };
        values.push(Value::from(i64::from(self.limit.min(MAX_LIMIT))));
        (format!("WHERE {which} ORDER BY {order} LIMIT ?"), values)
    }
}

/// The conditions of a query, all of which must be true, with their values.
#[derive(Default)]
struct Conditions {
    texts: Vec<String>,
    values: Vec<Value>,
}

impl Conditions {
    /// Adds a condition with one value, unless the value is missing.
    fn add(&mut self, text: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.texts.push(text.to_owned());
            self.values.push(value.into());
        }
    }

    /// Adds the condition that a column matches a pattern.
    fn add_pattern(&mut self, column: &str, pattern: Option<&str>) {
        if let Some(pattern) = pattern {
            self.add(&matching(column, pattern), Some(value_of(pattern)));
        }
    }

    /// Adds a condition with several parts, unless there are none.
    fn add_all(
        &mut self,
        before: &str,
        between: &str,
        parts: &[String],
        values: impl Iterator<Item = impl Into<Value>>,
    ) {
        if !parts.is_empty() {
            self.texts.push(format!("{before}({})", parts.join(between)));
            self.values.extend(values.map(Into::into));
        }
    }
}

fn placeholders(number: usize) -> Vec<String> {
    vec!["?".to_owned(); number]
}

/// Returns the condition that a column matches a pattern. A comparison takes less time than a search for a pattern.
fn matching(column: &str, pattern: &str) -> String {
    let operator = if is_pattern(pattern) { "GLOB" } else { "=" };
    format!("{column} {operator} ?")
}

/// Returns the value with which a column is compared.
fn value_of(pattern: &str) -> String {
    if is_pattern(pattern) { sql_pattern(pattern) } else { pattern.to_owned() }
}

fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?'])
}

/// Translates a pattern into SQLite's form, where `[` opens a set of characters.
fn sql_pattern(pattern: &str) -> String {
    pattern.replace('[', "[[]")
}
