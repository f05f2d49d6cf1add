//! One cell of a row: how a kind of value is read from a configuration, and shown again. It must not know what columns
//! there are.

use std::borrow::Cow;
use std::num::NonZeroU32;

use proto::era::{Era, by_version};
use serde_json::Value;

/// A text of a row: built in, or a user's own.
pub type Text = Cow<'static, str>;

/// One of the words of a choice.
#[derive(Debug, PartialEq, Eq)]
pub struct Choice {
    /// As a configuration has it.
    pub word: &'static str,
    /// What it means, in a sentence.
    pub about: &'static str,
}

/// What a column holds, for schemas and documentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `true` or `false`.
    Bool,
    /// A whole number from the first to the second, both included.
    Number(i64, i64),
    /// A text.
    Text,
    /// A text, or null.
    TextOrNull,
    /// One of these words.
    Word(&'static [Choice]),
    /// Some of these words, in an order that counts.
    Words(&'static [Choice]),
    /// All of these words, in an order that counts.
    Order(&'static [Choice]),
    /// A list of texts.
    Texts,
    /// A list of texts, or null.
    TextsOrNull,
    /// A protocol version that the gateway knows.
    Version,
    /// An object, or null.
    ObjectOrNull,
    /// Any JSON, in whose texts placeholders may stand; `false` for none.
    Template,
    /// A mapping with any of `code`, `message`, `status`, `channel`, `data` and `body`.
    Say,
}

impl Kind {
    /// What may be set, in words.
    pub fn allowed(self) -> String {
        match self {
            Self::Bool => "true or false".to_owned(),
            Self::Number(least, most) => format!("a whole number from {least} to {most}"),
            Self::Text => "a text".to_owned(),
            Self::TextOrNull => "a text, or null".to_owned(),
            Self::Word(words) => format!("one of {}", listed(words)),
            Self::Words(words) => format!("a list of {}", listed(words)),
            Self::Order(words) => format!("a list that orders {}", listed(words)),
            Self::Texts => "a list of texts".to_owned(),
            Self::TextsOrNull => "a list of texts, or null".to_owned(),
            Self::Version => "a protocol version".to_owned(),
            Self::ObjectOrNull => "an object, or null".to_owned(),
            Self::Template => "JSON with placeholders, or false for none".to_owned(),
            Self::Say => "a mapping with any of code, message, status, channel, data, body".to_owned(),
        }
    }
}

fn listed(choices: &[Choice]) -> String {
    choices.iter().map(|choice| choice.word).collect::<Vec<_>>().join(", ")
}

/// A value that a row can hold.
pub(crate) trait Cell {
    /// What it is.
    const KIND: Kind;

    /// Takes a configured value.
    ///
    /// # Errors
    /// What is wrong with it, to stand behind the column's name.
    fn set(&mut self, value: &Value) -> Result<(), String>;

    /// The value as it is configured.
    fn show(&self) -> Value;
}

/// The complaint about a value of another kind.
pub(crate) fn unfit(kind: Kind) -> String {
    format!("must be {}", kind.allowed())
}

impl Cell for bool {
    const KIND: Kind = Kind::Bool;

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
            const KIND: Kind = Kind::Number($least, $most);

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

// Error codes, HTTP statuses, seconds.
number!(i32, -2_147_483_648, 2_147_483_647);
number!(u16, 200, 599);
number!(u32, 0, 604_800);

/// Seconds of something that happens again and again.
impl Cell for NonZeroU32 {
    const KIND: Kind = Kind::Number(1, 604_800);

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
    const KIND: Kind = Kind::Text;

    fn set(&mut self, value: &Value) -> Result<(), String> {
        *self = text(value).ok_or_else(|| unfit(Self::KIND))?;
        Ok(())
    }

    fn show(&self) -> Value {
        Value::String(self.to_string())
    }
}

impl Cell for Option<Text> {
    const KIND: Kind = Kind::TextOrNull;

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
    const KIND: Kind = Kind::Texts;

    fn set(&mut self, value: &Value) -> Result<(), String> {
        *self = texts(value).ok_or_else(|| unfit(Self::KIND))?;
        Ok(())
    }

    fn show(&self) -> Value {
        self.iter().map(Cell::show).collect()
    }
}

impl Cell for Option<Vec<Text>> {
    const KIND: Kind = Kind::TextsOrNull;

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
    const KIND: Kind = Kind::Version;

    fn set(&mut self, value: &Value) -> Result<(), String> {
        *self = value.as_str().and_then(by_version).ok_or_else(|| unfit(Self::KIND))?;
        Ok(())
    }

    fn show(&self) -> Value {
        Value::from(self.version)
    }
}

/// The text of an object that stands in messages as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object(pub Text);

impl Cell for Option<Object> {
    const KIND: Kind = Kind::ObjectOrNull;

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
