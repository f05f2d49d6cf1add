//! The value of a reply.

use bytes::Bytes;

/// A reply, or a part of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StoreReply {
    /// There is no value.
    Nil,
    /// A whole number, or a truth value as 0 or 1.
    Integer(i64),
    /// A text or bytes.
    Bytes(Bytes),
    /// The command failed: a code in capitals, and the reason.
    Error(String),
    /// Several values. A map is a list in which keys and values alternate.
    List(Vec<Self>),
    /// A message that answers no command.
    Push(Vec<Self>),
}

impl StoreReply {
    /// Returns the bytes of a text; `None` for any other value.
    pub(crate) fn bytes(&self) -> Option<&Bytes> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Returns a text; `None` for any other value.
    pub(crate) fn text(&self) -> Option<&str> {
        self.bytes().and_then(|bytes| std::str::from_utf8(bytes).ok())
    }

    /// Returns a number, including one that is written as a text; `None` for any other value.
    pub(crate) fn integer(&self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(*number),
            other => other.text()?.parse().ok(),
        }
    }

    /// Returns the values of a list; none for any other value.
    pub(crate) fn list(&self) -> &[Self] {
        match self {
            Self::List(values) => values,
            _ => &[],
        }
    }
}
