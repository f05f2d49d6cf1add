//! The arguments of a tool that a profile sets itself. Every call gets them, and no client can set them. This module
//! must not know how a call is sent.

use bytes::Bytes;
use proto::json::{Members, Span, Splice, unquote};

use config::{Text, ToolSetting};

/// The arguments that clients cannot set, with the values that every call gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixedArguments(Vec<(String, Option<Text>)>);

impl FixedArguments {
    /// The arguments that a setting fixes or hides; `None` if there are none.
    pub(super) fn of(setting: &ToolSetting) -> Option<Self> {
        let hidden = setting.arguments.iter().filter(|(_, own)| own.hidden);
        let all: Vec<_> = hidden.map(|(name, own)| (name.clone(), own.value.clone())).collect();
        (!all.is_empty()).then_some(Self(all))
    }

    /// Returns true if a value is a secret.
    pub(super) fn has_secrets(&self) -> bool {
        self.0.iter().any(|(_, value)| value.as_ref().is_some_and(Text::hides))
    }

    /// A call's arguments, JSON text, with the fixed values. Arguments that are not an object stay unchanged, because the
    /// argument check rejects them.
    ///
    /// Names that differ only in case count as the same, because some servers (those written in Go, for example) treat them
    /// as the same.
    ///
    /// # Errors
    /// Returns the name of an argument that the client set, although clients cannot set it.
    pub fn apply(&self, arguments: Option<&[u8]>) -> Result<Bytes, &str> {
        let written = arguments.filter(|text| *text != b"null").unwrap_or(b"{}");
        let Some(members) = Members::of_value(written, Span::new(0, written.len())) else {
            return Ok(Bytes::copy_from_slice(written));
        };
        let sent: Vec<String> =
            members.iter().filter_map(|member| Some(folded(&unquote(member.key.of(written))?))).collect();
        if let Some((name, _)) = self.0.iter().find(|(name, _)| sent.contains(&folded(name))) {
            return Err(name);
        }
        let keys: Vec<(String, &str)> = self
            .0
            .iter()
            .filter_map(|(name, value)| Some((escaped(name), value.as_ref()?.expose())))
            .collect();
        let mut splice = Splice::new(written);
        for (key, value) in &keys {
            splice.set(&members, key.as_bytes(), value.as_bytes());
        }
        Ok(splice.finish())
    }
}

/// A name after Unicode's simple case folding, which removes differences in case.
fn folded(name: &str) -> String {
    name.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

/// The JSON spelling of a key, without its quotes.
fn escaped(name: &str) -> String {
    let quoted = proto::json::quote(name);
    quoted[1..quoted.len() - 1].to_owned()
}
