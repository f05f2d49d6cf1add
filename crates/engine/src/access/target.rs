//! The target of a decision: a tool, a prompt or a resource, and its arguments.

use config::AnnotationHint;
use proto::json::{Members, Span};

use crate::list_kind::ListKind;

/// The requested item, for which the rules decide.
#[derive(Debug, Clone, Copy)]
pub struct AccessTarget<'a> {
    /// The profile.
    pub profile: &'a str,
    /// The server that the item belongs to.
    pub server: &'a str,
    /// The kind of item.
    pub kind: ListKind,
    /// The item's identity: `server__name` for a tool or prompt, where `name` is the server's own name for it; the URI of a
    /// resource; the URI template of a resource template.
    pub name: &'a str,
    /// Other texts by which rules may refer to the item.
    pub also: &'a [String],
    /// The server's annotations; for tools only.
    pub annotations: Annotations,
    /// The arguments.
    pub arguments: CallArguments<'a>,
}

impl<'a> AccessTarget<'a> {
    /// The target for a listed item; its arguments are not known.
    pub fn listed(profile: &'a str, server: &'a str, kind: ListKind, name: &'a str) -> Self {
        let (annotations, arguments) = (Annotations::default(), CallArguments::Any);
        Self { profile, server, kind, name, also: &[], annotations, arguments }
    }

    /// Adds other texts by which rules may refer to the item.
    #[must_use]
    pub fn also_known_as(self, also: &'a [String]) -> Self {
        Self { also, ..self }
    }

    /// Adds the server's annotations.
    #[must_use]
    pub fn annotated(self, annotations: Annotations) -> Self {
        Self { annotations, ..self }
    }

    /// Sets a call's arguments, JSON text; `None` if there are none.
    #[must_use]
    pub fn called(self, arguments: Option<&'a [u8]>) -> Self {
        Self { arguments: CallArguments::These(arguments), ..self }
    }
}

/// The arguments of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallArguments<'a> {
    /// The arguments are not known yet; the decision is whether any call could be allowed.
    Any,
    /// These arguments, JSON text; `None` if there are none.
    These(Option<&'a [u8]>),
}

/// A server's annotations of a tool, with the specification's defaults for missing ones (MCP 2025-06-18, schema,
/// `ToolAnnotations`). Servers may claim anything: these are hints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "they are the protocol's four hints")]
pub struct Annotations {
    /// The tool changes nothing.
    pub read_only: bool,
    /// The tool may destroy something.
    pub destructive: bool,
    /// Calling the tool twice has the same effect as calling it once.
    pub idempotent: bool,
    /// The tool interacts with systems outside the server.
    pub open_world: bool,
}

impl Default for Annotations {
    fn default() -> Self {
        Self { read_only: false, destructive: true, idempotent: false, open_world: true }
    }
}

impl Annotations {
    /// Reads the annotations of a listed tool, a JSON object. For a read-only tool, the specification defines no meaning for two of
    /// the hints. If the server does not set them, they get the values that follow from `readOnlyHint`.
    pub fn of_tool(tool: &[u8]) -> Self {
        let whole = |text: &[u8]| Members::of_value(text, Span::new(0, text.len()));
        let Some(written) = whole(tool).and_then(|members| members.get(tool, "annotations")) else {
            return Self::default();
        };
        let Some(members) = Members::of_value(tool, written) else { return Self::default() };
        let hint = |name: &str| match members.get(tool, name).map(|span| span.of(tool)) {
            Some(b"true") => Some(true),
            Some(b"false") => Some(false),
            _ => None,
        };
        let default = Self::default();
        let read_only = hint("readOnlyHint").unwrap_or(default.read_only);
        Self {
            read_only,
            destructive: hint("destructiveHint").unwrap_or(!read_only),
            idempotent: hint("idempotentHint").unwrap_or(read_only),
            open_world: hint("openWorldHint").unwrap_or(default.open_world),
        }
    }

    /// Returns true if a call changes nothing, so the result of an earlier call can take its place.
    pub fn are_repeatable(self) -> bool {
        self.read_only && self.idempotent
    }

    pub(super) fn says(self, hint: AnnotationHint) -> bool {
        match hint {
            AnnotationHint::ReadOnlyHint => self.read_only,
            AnnotationHint::DestructiveHint => self.destructive,
            AnnotationHint::IdempotentHint => self.idempotent,
            AnnotationHint::OpenWorldHint => self.open_world,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_have_the_defaults_of_the_specification() {
        let cases = [
            ("{}", [false, true, false, true]),
            (r#"{"annotations":null}"#, [false, true, false, true]),
            (r#"{"annotations":{"readOnlyHint":true}}"#, [true, false, true, true]),
            (r#"{"annotations":{"readOnlyHint":true,"destructiveHint":true}}"#, [true, true, true, true]),
            (
                r#"{"annotations":{"destructiveHint":false,"openWorldHint":false}}"#,
                [false, false, false, false],
            ),
            (r#"{"annotations":{"readOnlyHint":"true"},"name":"x"}"#, [false, true, false, true]),
        ];
        for (tool, [read_only, destructive, idempotent, open_world]) in cases {
            let wanted = Annotations { read_only, destructive, idempotent, open_world };
            assert_eq!(Annotations::of_tool(tool.as_bytes()), wanted, "{tool}");
        }
    }
}
