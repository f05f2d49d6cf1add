//! The lenient policy: numbers lose their sign, texts lose their markup, and a value outside the row's list of
//! allowed values is dropped.

use serde_json::Value;

use super::argument::{ArgumentType, ToolArgument};
use super::read::{tree, user, whole};
use crate::html;

/// The maximum length of a text, in characters; longer texts are truncated.
const LONGEST: usize = 1000;

/// The value converted to the row's type; `None` if the value is treated as omitted.
pub(crate) fn bent(value: &Value, row: &ToolArgument) -> Option<Value> {
    if value.as_str().is_some_and(str::is_empty) {
        return None;
    }
    let value = match row.kind {
        ArgumentType::Raw => Value::from(written(value)?),
        ArgumentType::Html => Value::from(html::safe(&written(value)?)),
        ArgumentType::Text => Value::from(plain(&written(value)?)),
        ArgumentType::Integer => Value::from(unsigned(value)),
        ArgumentType::User => user(value)?,
        ArgumentType::Number => value.as_number().map(|number| Value::Number(number.clone()))?,
        ArgumentType::Flag => Value::from(is_true(value)),
        ArgumentType::Texts => elements(value).iter().filter_map(written).map(|text| plain(&text)).collect(),
        ArgumentType::Integers => elements(value).iter().map(unsigned).collect(),
        ArgumentType::Object => tree(value).filter(Value::is_object)?,
        ArgumentType::Objects => {
            tree(value)?.as_array()?.iter().filter(|item| item.is_object()).cloned().collect()
        }
        ArgumentType::Any => value.clone(),
    };
    let allowed = row.words.is_empty() || value.as_str().is_some_and(|text| row.words.contains(&text));
    let empty = value.as_str() == Some("");
    (allowed && !empty).then_some(value)
}

/// A scalar as text; a list of scalars as a comma-separated text.
fn written(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(if *flag { "1" } else { "" }.to_owned()),
        Value::Array(parts) => {
            let parts: Vec<String> =
                parts.iter().filter(|part| !part.is_array()).filter_map(written).collect();
            Some(parts.join(","))
        }
        Value::Null | Value::Object(_) => None,
    }
}

/// The elements of a list, of a comma-separated text, or of a scalar, which is treated as a list with one element.
fn elements(value: &Value) -> Vec<Value> {
    match value {
        Value::Array(parts) => parts.clone(),
        Value::String(text) => {
            text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(Value::from).collect()
        }
        other => vec![other.clone()],
    }
}

/// Text without markup and control characters, on one line, truncated to [`LONGEST`].
fn plain(text: &str) -> String {
    let bare = html::without_tags(text);
    let mut out = String::with_capacity(bare.len().min(LONGEST * 4));
    for word in bare.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    match out.char_indices().nth(LONGEST) {
        Some((end, _)) => out[..end].trim_end().to_owned(),
        None => out,
    }
}

/// The whole number at the beginning of the value, without its sign; zero if there is no such number.
fn unsigned(value: &Value) -> i64 {
    let number = match value {
        Value::Bool(flag) => i64::from(*flag),
        Value::String(text) => {
            let text = text.trim().trim_start_matches(['-', '+']);
            let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            text[..digits].parse().unwrap_or_default()
        }
        Value::Number(number) => match (whole(value), number.as_f64()) {
            (Some(number), _) => number,
            (None, Some(number)) => truncated(number),
            _ => 0,
        },
        _ => 0,
    };
    number.checked_abs().unwrap_or(i64::MAX)
}

#[expect(clippy::cast_possible_truncation, reason = "a cast from a float saturates, which is intended")]
fn truncated(number: f64) -> i64 {
    number.trunc() as i64
}

fn is_true(value: &Value) -> bool {
    match value {
        Value::Bool(flag) => *flag,
        Value::Number(_) => unsigned(value) != 0,
        Value::String(text) => {
            ["true", "1", "yes", "on"].iter().any(|word| text.trim().eq_ignore_ascii_case(word))
        }
        _ => false,
    }
}
