//! One cell of a row: reading a value from a configuration, and displaying it. This module must not know which columns
//! exist.

use std::borrow::Cow;
use std::num::NonZeroU32;

use proto::era::{Era, by_version};
use serde_json::Value;

/// A text in a row: either built in, or a user's own.
pub type Text = Cow<'static, str>;

/// One of the words of a choice.
#[derive(Debug, PartialEq, Eq)]
pub struct Choice {
    /// The word in a configuration.
    pub word: &'static str,
    /// The meaning of the word, in a sentence.
    pub about: &'static str,
}

/// The kind of a column's values, for schemas and documentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellKind {
    /// `true` or `false`.
    Bool,
    /// A whole number between these two, both included.
    Number(i64, i64),
    /// A text.
    Text,
    /// A text, or null.
    TextOrNull,
    /// One of these words.
    Word(&'static [Choice]),
    /// Some of these words, in a significant order.
    Words(&'static [Choice]),
    /// All of these words, in a significant order.
    Order(&'static [Choice]),
    /// A list of texts.
    Texts,
    /// A list of texts, or null.
    TextsOrNull,
    /// A protocol version that the gateway supports.
    Version,
    /// An object, or null.
    ObjectOrNull,
    /// Any JSON, whose texts may contain placeholders; `false` for none.
    Template,
    /// A mapping with any of `code`, `message`, `status`, `channel`, `data` and `body`.
    FaultText,
}

impl CellKind {
    /// The allowed values, in words.
    pub fn allowed(self) -> String {
        match self {
            Self::Bool => "true or false".to_owned(),
            Self::Number(least, most) => format!("a whole number from {least} to {most}"),
            Self::Text => "a string".to_owned(),
            Self::TextOrNull => "a string, or null".to_owned(),
            Self::Word(words) => format!("one of {}", listed(words)),
            Self::Words(words) => format!("a list of any of these words: {}", listed(words)),
            Self::Order(words) => format!("a list of all of these words, in any order: {}", listed(words)),
            Self::Texts => "a list of strings".to_owned(),
            Self::TextsOrNull => "a list of strings, or null".to_owned(),
            Self::Version => "a protocol version".to_owned(),
            Self::ObjectOrNull => "an object, or null".to_owned(),
            Self::Template => "JSON with placeholders, or false for none".to_owned(),
            Self::FaultText => "a mapping with any of code, message, status, channel, data, body".to_owned(),
        }
    }
}

fn listed(choices: &[Choice]) -> String {
    choices.iter().map(|choice| choice.word).collect::<Vec<_>>().join(", ")
}

/// A value that a row can hold.
pub trait Cell {
    /// The kind of value.
    const KIND: CellKind;

    /// Sets the value from the configuration.
    ///
    /// # Errors
    /// Returns the fault, worded to follow the column's name.
    fn set(&mut self, value: &Value) -> Result<(), String>;

    /// The value as a configuration writes it.
    fn show(&self) -> Value;
}

/// The error message for a value of another kind.
pub fn unfit(kind: CellKind) -> String {
    format!("must be {}", kind.allowed())
}

impl Cell for bool {
    const KIND: CellKind = CellKind::Bool;

    fn set(&mut self, value: &Value) -> Result<(), String> {
        *self = value.as_bool().ok_or_else(|| unfit(Self::KIND))?;
        Ok(())
    }

    fn show(&self) -> Value {
        Value::Bool(*self)
    }
}

macro_rules! number {
    ($type:ty, $least:expr, $most:expr) => {
        impl Cell for $type {
            const KIND: CellKind = CellKind::Number($least, $most);

            fn set(&mut self, value: &Value) -> Result<(), String> {
                let number = value.as_i64().filter(|n| ($least..=$most).contains(n));
                *self = number.and_then(|n| <$type>::try_from(n).ok()).ok_or_else(|| unfit(Self::KIND))?;
                Ok(())
            }

            fn show(&self) -> Value {
                Value::from(*self)
            }
        }
    };
}

// For error codes, HTTP statuses and seconds.
number!(i32, -2_147_483_648, 2_147_483_647);
number!(u16, 200, 599);
number!(u32, 0, 604_800);

/// The period of a repeated event, in seconds.
impl Cell for NonZeroU32 {
    const KIND: CellKind = CellKind::Number(1, 604_800);

    fn set(&mut self, value: &Value) -> Result<(), String> {
        let number = value.as_u64().filter(|n| *n <= 604_800).and_then(|n| u32::try_from(n).ok());
        *self = number.and_then(Self::new).ok_or_else(|| unfit(Self::KIND))?;
        Ok(())
    }

    fn show(&self) -> Value {
        Value::from(self.get())
    }
}

impl Cell for Text {
    const KIND: CellKind = CellKind::Text;

    fn set(&mut self, value: &Value) -> Result<(), String> {
        *self = text(value).ok_or_else(|| unfit(Self::KIND))?;
        Ok(())
    }

    fn show(&self) -> Value {
        Value::String(self.to_string())
    }
}

impl Cell for Option<Text> {
    const KIND: CellKind = CellKind::TextOrNull;

    fn set(&mut self, value: &Value) -> Result<(), String> {
        *self = match value {
            Value::Null => None,
            value => Some(text(value).ok_or_else(|| unfit(Self::KIND))?),
        };
        Ok(())
    }

    fn show(&self) -> Value {
        self.as_ref().map_or(Value::Null, Cell::show)
    }
}

impl Cell for Vec<Text> {
    const KIND: CellKind = CellKind::Texts;

    fn set(&mut self, value: &Value) -> Result<(), String> {
        *self = texts(value).ok_or_else(|| unfit(Self::KIND))?;
        Ok(())
    }

    fn show(&self) -> Value {
        self.iter().map(Cell::show).collect()
    }
}

impl Cell for Option<Vec<Text>> {
    const KIND: CellKind = CellKind::TextsOrNull;

    fn set(&mut self, value: &Value) -> Result<(), String> {
        *self = match value {
            Value::Null => None,
            value => Some(texts(value).ok_or_else(|| unfit(Self::KIND))?),
        };
        Ok(())
    }

    fn show(&self) -> Value {
        self.as_ref().map_or(Value::Null, Cell::show)
    }
}

impl Cell for &'static Era {
    const KIND: CellKind = CellKind::Version;

    fn set(&mut self, value: &Value) -> Result<(), String> {
        *self = value.as_str().and_then(by_version).ok_or_else(|| unfit(Self::KIND))?;
        Ok(())
    }

    fn show(&self) -> Value {
        Value::from(self.version)
    }
}

/// The text of a JSON object that is copied into messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object(pub Text);

impl Cell for Option<Object> {
    const KIND: CellKind = CellKind::ObjectOrNull;

    fn set(&mut self, value: &Value) -> Result<(), String> {
        *self = match value {
            Value::Null => None,
            Value::Object(_) => Some(Object(Cow::Owned(value.to_string()))),
            _ => return Err(unfit(Self::KIND)),
        };
        Ok(())
    }

    fn show(&self) -> Value {
        self.as_ref().and_then(|Object(text)| serde_json::from_str(text).ok()).unwrap_or_default()
    }
}

fn text(value: &Value) -> Option<Text> {
    value.as_str().map(|text| Cow::Owned(text.to_owned()))
}

fn texts(value: &Value) -> Option<Vec<Text>> {
    value.as_array()?.iter().map(text).collect()
}
