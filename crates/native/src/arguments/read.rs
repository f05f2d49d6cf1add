//! Reading the arguments of a call according to its server's policy.
//!
//! Unknown arguments are ignored here: they are never sent on, and `called` refuses them. Amounts beyond a limit are set to the
//! limit. An identifier beyond a limit is never replaced, because another identifier names something else.

use serde_json::{Map, Value};

use super::argument::{ArgumentType, ToolArgument};
use super::call_failure::CallFailure;
use super::lenient;
use super::values::Values;

/// The policies for reading arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Policy {
    /// Refuses values of the wrong type or form.
    Exact,
    /// Like `Exact`, but a required text must also not be blank.
    Filled,
    /// Converts or drops values of the wrong type or form; refuses only calls without a required argument.
    Lenient,
    /// Passes every value on unchanged; refuses only calls without a required argument.
    Loose,
}

/// Reads `given`, the `params.arguments` of a call.
///
/// # Errors
/// Fails if arguments do not fit; one message lists every fault. Under the lenient policies, only the first missing
/// argument is reported.
pub(crate) fn read(
    given: &Map<String, Value>,
    rows: &[ToolArgument],
    policy: Policy,
) -> Result<Values, CallFailure> {
    let mut values = Values::default();
    let mut faults = Vec::new();
    for row in rows {
        let found = given.get(row.name).filter(|value| !value.is_null());
        match found.map(|value| checked(value, row, policy)) {
            Some(Ok(Some(value))) => values.set(row.name, limited(value, row)),
            Some(Err(fault)) => faults.push(fault),
            None | Some(Ok(None)) if row.required => match policy {
                Policy::Lenient | Policy::Loose => {
                    return Err(CallFailure::arguments(format!("Missing required parameter: {}", row.name)));
                }
                _ => faults.push(format!("the argument {:?} is missing", row.name)),
            },
            None | Some(Ok(None)) => {
                if let Some(default) = row.default {
                    values.set(row.name, default.value());
                }
            }
        }
    }
    if faults.is_empty() { Ok(values) } else { Err(CallFailure::arguments(faults.join("; "))) }
}

/// The arguments in `given` that a call would accept, in their converted form. Omitted arguments get no default
/// here.
pub(crate) fn taken<'r>(
    given: &Map<String, Value>,
    rows: impl Iterator<Item = &'r ToolArgument>,
    policy: Policy,
) -> Map<String, Value> {
    let one = |row: &ToolArgument| {
        let value = given.get(row.name).filter(|value| !value.is_null())?;
        Some((row.name.to_owned(), limited(checked(value, row, policy).ok()??, row)))
    };
    rows.filter_map(one).collect()
}

/// The value converted to the row's type; `None` if the value is treated as omitted.
fn checked(value: &Value, row: &ToolArgument, policy: Policy) -> Result<Option<Value>, String> {
    let blank = value.as_str().is_some_and(|text| text.trim().is_empty());
    match policy {
        Policy::Lenient => Ok(lenient::bent(value, row)),
        Policy::Loose => Ok((!(row.required && blank)).then(|| value.clone())),
        Policy::Filled if row.required && blank => {
            Err(format!("the argument {:?} must not be empty", row.name))
        }
        Policy::Exact | Policy::Filled => match fitting(value, row) {
            Some(value) if !is_too_small(&value, row) => Ok(Some(value)),
            _ => Err(wanted(row)),
        },
    }
}

fn wanted(row: &ToolArgument) -> String {
    if !row.words.is_empty() {
        return format!("the argument {:?} must be one of: {}", row.name, row.words.join(", "));
    }
    let from = row.least.filter(|_| row.names_something());
    let what = match row.kind {
        ArgumentType::Text | ArgumentType::Raw | ArgumentType::Html => "a string",
        ArgumentType::Integer => match from {
            Some(least) => {
                return format!("the argument {:?} must be a whole number of at least {least}", row.name);
            }
            None => "a whole number",
        },
        ArgumentType::Number => "a number",
        ArgumentType::User => "a user's number or \"me\"",
        ArgumentType::Flag => "true or false",
        ArgumentType::Texts => "an array of strings",
        ArgumentType::Integers => "an array of whole numbers",
        ArgumentType::Object => "an object",
        ArgumentType::Objects => "an array of objects",
        ArgumentType::Any => "a value",
    };
    format!("the argument {:?} must be {what}", row.name)
}

/// The value if it has the row's type; numbers in text form are accepted.
fn fitting(value: &Value, row: &ToolArgument) -> Option<Value> {
    match row.kind {
        ArgumentType::Text | ArgumentType::Raw | ArgumentType::Html => {
            let text = value.as_str()?;
            (row.words.is_empty() || row.words.contains(&text)).then(|| value.clone())
        }
        ArgumentType::Integer => whole(value).map(Value::from),
        ArgumentType::User => user(value),
        ArgumentType::Number => match value {
            Value::Number(_) => Some(value.clone()),
            Value::String(text) => {
                let number: f64 = text.trim().parse().ok().filter(|number: &f64| number.is_finite())?;
                Some(Value::from(number))
            }
            _ => None,
        },
        ArgumentType::Flag => match value {
            Value::Bool(_) => Some(value.clone()),
            Value::String(text) => text.trim().parse::<bool>().ok().map(Value::from),
            _ => None,
        },
        ArgumentType::Texts => {
            value.as_array()?.iter().map(Value::as_str).collect::<Option<Vec<_>>>().map(Value::from)
        }
        ArgumentType::Integers => {
            value.as_array()?.iter().map(whole).collect::<Option<Vec<_>>>().map(Value::from)
        }
        ArgumentType::Object => tree(value).filter(Value::is_object),
        ArgumentType::Objects => {
            tree(value).filter(|list| list.as_array().is_some_and(|list| list.iter().all(Value::is_object)))
        }
        ArgumentType::Any => Some(value.clone()),
    }
}

/// Returns true if the value is an identifier below the lowest allowed identifier.
fn is_too_small(value: &Value, row: &ToolArgument) -> bool {
    row.names_something() && value.as_i64().zip(row.least).is_some_and(|(number, least)| number < least)
}

/// The value itself, or, for a text, the JSON in it: models often write objects as texts.
pub(crate) fn tree(value: &Value) -> Option<Value> {
    match value {
        Value::String(text) => serde_json::from_str(text).ok(),
        other => Some(other.clone()),
    }
}

/// A user: `me`, or an ID.
pub(crate) fn user(value: &Value) -> Option<Value> {
    match value.as_str().map(str::trim) {
        Some("me") => Some(Value::from("me")),
        _ => whole(value).filter(|number| *number > 0).map(Value::from),
    }
}

/// A whole number, even if it is written as 3.0 or in text form.
pub(crate) fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64().or_else(|| exact(number.as_f64()?)),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// The exact whole number that a double-precision number represents.
#[expect(clippy::cast_possible_truncation, reason = "values beyond 2^53 have been refused before")]
fn exact(number: f64) -> Option<i64> {
    (number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_992.0).then_some(number as i64)
}

/// The value; an amount outside the limits of its row is set to the nearest limit.
fn limited(value: Value, row: &ToolArgument) -> Value {
    match value.as_i64() {
        Some(number) if row.kind == ArgumentType::Integer && !row.names_something() => {
            let least = row.least.unwrap_or(i64::MIN);
            Value::from(number.max(least).min(row.most.unwrap_or(i64::MAX)))
        }
        _ => value,
    }
}
