//! Request ids, kept exactly as they were written.

use bytes::Bytes;

/// The longest accepted id, in bytes as written. Ids are kept for as long as a request is open.
pub(super) const MAX_ID: usize = 1024;

/// A JSON-RPC id: the exact text of a JSON string or integer. An answer repeats it byte for byte.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Id(Bytes);

/// The reason why a value cannot be an id (MCP, base protocol: "Requests MUST include a string or integer ID", never
/// null).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// `null`.
    #[error("the id is null; it must be a string or an integer")]
    Null,
    /// A number with a fraction or an exponent.
    #[error("the id is a number with a fraction or an exponent; it must be a string or an integer")]
    Fraction,
    /// An object, an array or a boolean.
    #[error("the id is neither a string nor an integer")]
    Kind,
    /// The id is longer than allowed; the message states the limit.
    #[error("the id is longer than {MAX_ID} bytes")]
    Long,
}

impl Id {
    /// An id from its JSON text, which must be a valid JSON value.
    pub fn from_json(text: Bytes) -> Result<Self, IdError> {
        if text.len() > MAX_ID {
            return Err(IdError::Long);
        }
        match text.first() {
            Some(b'"') => Ok(Self(text)),
            Some(b'-' | b'0'..=b'9') if text.iter().all(|b| matches!(b, b'-' | b'0'..=b'9')) => {
                Ok(Self(text))
            }
            Some(b'-' | b'0'..=b'9') => Err(IdError::Fraction),
            Some(b'n') => Err(IdError::Null),
            _ => Err(IdError::Kind),
        }
    }

    /// An id that the gateway itself assigns.
    pub fn number(n: u64) -> Self {
        Self(Bytes::from(n.to_string()))
    }

    /// The id as JSON text.
    pub fn json(&self) -> &Bytes {
        &self.0
    }

    /// The id as one of our own numbers; `None` for strings and for numbers in a form that we never write.
    pub fn as_number(&self) -> Option<u64> {
        std::str::from_utf8(&self.0).ok()?.parse().ok()
    }
}

impl std::fmt::Display for Id {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.0))
    }
}
