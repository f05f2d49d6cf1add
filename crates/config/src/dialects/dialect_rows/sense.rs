//! Rejects values of the right kind that make no sense in their column: an empty choice, two lines instead of one, an
//! unknown placeholder. This module must not know which code uses a column.

use serde_json::Value;

use super::cell::CellKind;
use super::fault_text::placeholders;
use super::row::{Column, Dialect};
use super::set::UnfitValue;

/// A requirement for the value of a column, beyond its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValueRule {
    /// A list of at least one string, none of them empty.
    Listed,
    /// A text of one line that is not empty.
    Line,
    /// A text of one line.
    Comment,
    /// A list of header names (RFC 9110, 5.6.2: token).
    Tokens,
    /// A path without a query.
    Path,
    /// The name of a query parameter.
    Parameter,
}

const RULES: &[(&str, ValueRule)] = &[
    ("versions", ValueRule::Listed),
    ("methods", ValueRule::Listed),
    ("corsMethods", ValueRule::Tokens),
    ("corsHeaders", ValueRule::Tokens),
    ("corsExposed", ValueRule::Tokens),
    ("messagePath", ValueRule::Path),
    ("endpointData", ValueRule::Line),
    ("sessionParameter", ValueRule::Parameter),
    ("openingComment", ValueRule::Comment),
    ("pingEvent", ValueRule::Line),
    ("errorEvent", ValueRule::Line),
];

/// The placeholders of columns that are not about faults.
const OTHERS: &[(&str, &[&str])] = &[
    ("serverName", &["profile"]),
    ("info", &["serverName", "serverVersion", "profile"]),
    ("otherBody", &["serverName", "serverVersion"]),
    ("endpointData", &["path", "session", "profile"]),
    ("errorData", &["code", "text"]),
];

/// The placeholders of fault texts; `text` is available only in `data` and `body`.
const FAULT_TEXT: &[&str] = &[
    "name",
    "message",
    "detail",
    "tool",
    "method",
    "server",
    "hint",
    "original",
    "originalData",
    "body",
    "stack",
    "url",
    "code",
    "status",
    "seconds",
    "text",
];

impl ValueRule {
    fn allowed(self) -> &'static str {
        match self {
            Self::Listed => "a list of at least one string, none of them empty",
            Self::Line => "a string of one line",
            Self::Comment => "a string of one line, which may be empty",
            Self::Tokens => "a list of HTTP header names",
            Self::Path => "a path without a query, such as /message",
            Self::Parameter => "the name of a query parameter, such as session_id",
        }
    }

    fn fits(self, value: &Value) -> bool {
        let texts = || value.as_array().into_iter().flatten().filter_map(Value::as_str);
        let text = value.as_str().unwrap_or_default();
        match self {
            Self::Listed => texts().count() > 0 && texts().all(|text| !text.is_empty() && is_line(text)),
            // Some columns can be null.
            Self::Line => value.is_null() || !text.is_empty() && is_line(text),
            Self::Comment => is_line(text),
            Self::Tokens => texts().all(is_token),
            Self::Path => is_path(text),
            Self::Parameter => !text.is_empty() && text.bytes().all(|b| is_plain(b) && b != b'~'),
        }
    }
}

impl Column {
    /// The allowed values, in words.
    pub fn allowed(&self) -> String {
        let rule = rule(self.name).map(|rule| rule.allowed().to_owned());
        let or_null = if self.kind == CellKind::TextOrNull { ", or null" } else { "" };
        rule.map_or_else(|| self.kind.allowed(), |rule| format!("{rule}{or_null}"))
    }

    /// Returns true if a list must not be empty.
    pub fn needs_items(&self) -> bool {
        rule(self.name) == Some(ValueRule::Listed)
    }

    /// The placeholders that the column's texts may contain, without braces.
    pub fn placeholders(&self) -> &'static [&'static str] {
        if self.kind == CellKind::FaultText {
            return FAULT_TEXT;
        }
        OTHERS.iter().find(|(name, _)| *name == self.name).map_or(&[], |(_, known)| known)
    }
}

fn rule(name: &str) -> Option<ValueRule> {
    RULES.iter().find(|(column, _)| *column == name).map(|(_, rule)| *rule)
}

/// Rejects values that make no sense in this column of a row.
pub fn check(column: &Column, row: &Dialect) -> Result<(), UnfitValue> {
    let value = (column.show)(row);
    if rule(column.name).is_some_and(|rule| !rule.fits(&value)) {
        return Err(UnfitValue::new(format!("{} must be {}", column.name, column.allowed())));
    }
    let known = column.placeholders();
    if column.kind == CellKind::FaultText {
        // `text` is the message with its placeholders filled in.
        let in_message: Vec<&str> = known.iter().copied().filter(|name| *name != "text").collect();
        held(column.name, &value["message"], &in_message)?;
        held(column.name, &value["data"], known)?;
        return held(column.name, &value["body"], known);
    }
    if known.is_empty() { Ok(()) } else { held(column.name, &value, known) }
}

/// Rejects unknown placeholders in the texts of a value.
fn held(column: &str, value: &Value, known: &[&str]) -> Result<(), UnfitValue> {
    match value {
        Value::String(text) if placeholders(text).any(|name| !known.contains(&name)) => {
            let names: Vec<String> = known.iter().map(|name| format!("{{{name}}}")).collect();
            // The placeholder is not quoted, because a text may contain a secret.
            Err(UnfitValue {
                reason: format!("{column} has an unknown placeholder"),
                help: Some(format!("write one of {}", names.join(", "))),
            })
        }
        Value::Array(items) => items.iter().try_for_each(|item| held(column, item, known)),
        Value::Object(members) => members.values().try_for_each(|value| held(column, value, known)),
        _ => Ok(()),
    }
}

fn is_line(text: &str) -> bool {
    !text.chars().any(char::is_control)
}

fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte)
}

fn is_path(text: &str) -> bool {
    text.len() > 1
        && text.starts_with('/')
        && !text.contains("//")
        && !text.split('/').any(|part| part == "." || part == "..")
        && text.bytes().all(|b| b == b'/' || is_plain(b))
}
