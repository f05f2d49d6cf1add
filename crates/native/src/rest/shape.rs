//! What of an answer is shown.

use serde_json::{Map, Value};

use crate::tools::{Literal, Values};

/// How an answer becomes the text of a result.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape {
    /// As it came, as indented JSON.
    Whole,
    /// These members of it.
    Picked(&'static [Pick]),
    /// A list: how many, and under this name these members of each.
    Listed(&'static str, &'static [Pick]),
    /// In words.
    Told(fn(&Value, &Values) -> String),
}

/// A member of what is shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pick {
    /// Its name.
    pub(crate) name: &'static str,
    /// Where it comes from. What is not there is left out.
    pub(crate) from: From,
}

/// Where a member comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum From {
    /// The answer, at this place (RFC 6901).
    At(&'static str),
    /// The answer, at the first of these places that there is.
    First(&'static [&'static str]),
    /// The answer at this place, or else this.
    Or(&'static str, Literal),
    /// A value of the call.
    Value(&'static str),
    /// An object of its own, when the answer has this place.
    Object(&'static str, &'static [Pick]),
    /// The row.
    Fixed(Literal),
}

/// A member with the name and place of one in the answer.
pub(crate) const fn pick(name: &'static str, at: &'static str) -> Pick {
    Pick { name, from: From::At(at) }
}

/// An answer in words.
pub(crate) const fn told(tell: fn(&Value, &Values) -> String) -> Shape {
    Shape::Told(tell)
}

impl Shape {
    /// The text of a result. With `raw`, JSON is shown as it came.
    pub(crate) fn shown(&self, answer: &Value, values: &Values, raw: bool) -> String {
        match self {
            Self::Told(tell) => tell(answer, values),
            Self::Picked(picks) if !raw => pretty(&picked(answer, values, picks)),
            Self::Listed(name, picks) if !raw => {
                let rows: Vec<Value> = answer
                    .as_array()
                    .map(|rows| rows.iter().map(|row| picked(row, values, picks)).collect())
                    .unwrap_or_default();
                let mut out = Map::new();
                out.insert("count".to_owned(), Value::from(rows.len()));
                out.insert((*name).to_owned(), Value::Array(rows));
                pretty(&Value::Object(out))
            }
            _ => pretty(answer),
        }
    }
}

fn picked(answer: &Value, values: &Values, picks: &[Pick]) -> Value {
    let mut out = Map::new();
    for pick in picks {
        let found = match pick.from {
            From::At(at) => answer.pointer(at).cloned(),
            From::First(places) => places.iter().find_map(|at| answer.pointer(at)).cloned(),
            From::Or(at, literal) => Some(answer.pointer(at).cloned().unwrap_or_else(|| literal.value())),
            From::Value(name) => values.get(name).cloned(),
            From::Object(at, picks) => answer.pointer(at).map(|inner| picked(inner, values, picks)),
            From::Fixed(literal) => Some(literal.value()),
        };
        if let Some(found) = found {
            out.insert(pick.name.to_owned(), found);
        }
    }
    Value::Object(out)
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string())
}
