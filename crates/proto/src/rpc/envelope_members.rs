//! The members that determine what a JSON-RPC message is, found in one pass over its members.

use crate::json::{Duplicate, Members, Span, unquote};

/// A member that determines what a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EnvelopeKey {
    Id,
    Jsonrpc,
    Method,
    Params,
    Result,
    Error,
}

impl EnvelopeKey {
    fn name(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::Jsonrpc => "jsonrpc",
            Self::Method => "method",
            Self::Params => "params",
            Self::Result => "result",
            Self::Error => "error",
        }
    }

    fn from_name(name: &[u8]) -> Option<Self> {
        match name {
            b"id" => Some(Self::Id),
            b"jsonrpc" => Some(Self::Jsonrpc),
            b"method" => Some(Self::Method),
            b"params" => Some(Self::Params),
            b"result" => Some(Self::Result),
            b"error" => Some(Self::Error),
            _ => None,
        }
    }
}

/// The values of these members in one message.
#[derive(Debug, Default)]
pub(super) struct EnvelopeMembers {
    values: [Option<Span>; 6],
    repeated: [bool; 6],
}

impl EnvelopeMembers {
    pub(super) fn of(members: &Members, text: &[u8]) -> Self {
        let mut found = Self::default();
        for member in members.iter() {
            let written = member.key.of(text);
            let key = if members.is_escaped() {
                unquote(written).and_then(|key| EnvelopeKey::from_name(key.as_bytes()))
            } else {
                EnvelopeKey::from_name(written)
            };
            let Some(key) = key else { continue };
            let repeats = found.values[key as usize].replace(member.value).is_some();
            found.repeated[key as usize] |= repeats;
        }
        found
    }

    /// The value of `key`; an error if the key occurs twice.
    pub(super) fn get(&self, key: EnvelopeKey) -> Result<Option<Span>, Duplicate> {
        if self.repeated[key as usize] {
            return Err(Duplicate(key.name()));
        }
        Ok(self.values[key as usize])
    }
}
