//! A tool's arguments as rows, which define both the JSON Schema and the check.
//!
//! Numbers keep their written form, so no digits are lost. This module must not know any tool.

use std::borrow::Cow;
use std::fmt::Write as _;

use proto::json::{Members, Span, quote, unquote};
use proto::rpc::Frame;

use crate::unknown;

/// One argument of a tool.
#[derive(Debug)]
pub(super) struct DemoArgument {
    pub(super) name: &'static str,
    pub(super) kind: DemoArgumentType,
    pub(super) required: bool,
    pub(super) about: &'static str,
}

/// The types of arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DemoArgumentType {
    Text,
    Number,
}

impl DemoArgumentType {
    /// The type's name in JSON Schema.
    fn name(self) -> &'static str {
        match self {
            Self::Text => "string",
            Self::Number => "number",
        }
    }

    fn fits(self, value: &[u8]) -> bool {
        match self {
            Self::Text => value.first() == Some(&b'"'),
            Self::Number => matches!(value.first(), Some(b'-' | b'0'..=b'9')),
        }
    }
}

/// The JSON Schema (2020-12) of an object with these members and no others.
pub(super) fn schema(rows: &[DemoArgument]) -> String {
    let mut properties = String::new();
    for row in rows {
        let comma = if properties.is_empty() { "" } else { "," };
        let (name, kind, about) = (quote(row.name), row.kind.name(), quote(row.about));
        let _ = write!(properties, "{comma}{name}:{{\"type\":\"{kind}\",\"description\":{about}}}");
    }
    let required: Vec<String> = rows.iter().filter(|row| row.required).map(|row| quote(row.name)).collect();
    let required =
        if required.is_empty() { String::new() } else { format!(",\"required\":[{}]", required.join(",")) };
    format!(
        "{{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"type\":\"object\",\
         \"properties\":{{{properties}}}{required},\"additionalProperties\":false}}"
    )
}

/// The fault for arguments that match none of these rows.
pub(super) fn strange(text: &[u8], given: &Members, rows: &[DemoArgument]) -> Option<String> {
    let known: Vec<&str> = rows.iter().map(|row| row.name).collect();
    let given: Vec<Cow<'_, str>> =
        given.iter().map(|member| unquote(member.key.of(text)).unwrap_or(Cow::Borrowed("?"))).collect();
    unknown::fault(given.iter().map(AsRef::as_ref), &known)
}

/// The arguments of one call, checked against a tool's rows.
#[derive(Debug)]
pub(super) struct DemoArguments<'a> {
    text: &'a [u8],
    members: Option<Members>,
}

impl<'a> DemoArguments<'a> {
    /// Reads `params.arguments`; absent arguments are an empty object.
    ///
    /// # Errors
    /// Fails if arguments do not fit; one message lists every fault.
    pub(super) fn read(request: &'a Frame, rows: &[DemoArgument]) -> Result<Self, String> {
        let text = request.text().as_ref();
        let span = request.param("arguments").map_err(|e| e.to_string())?;
        let members = match span {
            Some(span) => Some(Members::of_value(text, span).ok_or("the arguments must be an object")?),
            None => None,
        };
        let arguments = Self { text, members };
        let faults = arguments.faults(rows);
        if faults.is_empty() { Ok(arguments) } else { Err(faults.join("; ")) }
    }

    fn faults(&self, rows: &[DemoArgument]) -> Vec<String> {
        let mut faults = Vec::new();
        for row in rows {
            let found = self.members.as_ref().map_or(Ok(None), |members| members.unique(self.text, row.name));
            match found {
                Err(doubled) => faults.push(doubled.to_string()),
                Ok(None) if row.required => faults.push(format!("the argument {:?} is missing", row.name)),
                Ok(Some(span)) if !row.kind.fits(span.of(self.text)) => {
                    faults.push(format!("the argument {:?} must be a {}", row.name, row.kind.name()));
                }
                Ok(Some(span)) if row.kind == DemoArgumentType::Text && self.meaning(span).is_none() => {
                    faults.push(format!("the argument {:?} is not valid Unicode", row.name));
                }
                Ok(_) => {}
            }
        }
        faults.extend(self.members.as_ref().and_then(|members| strange(self.text, members, rows)));
        faults
    }

    fn value(&self, name: &str) -> Option<Span> {
        self.members.as_ref()?.get(self.text, name)
    }

    fn meaning(&self, span: Span) -> Option<Cow<'a, str>> {
        unquote(span.of(self.text).strip_prefix(b"\"")?.strip_suffix(b"\"")?)
    }

    /// A text; `None` if the argument was omitted.
    pub(super) fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        self.meaning(self.value(name)?)
    }

    /// A number in its written form; `None` if the argument was omitted.
    pub(super) fn number(&self, name: &str) -> Option<&'a str> {
        std::str::from_utf8(self.value(name)?.of(self.text)).ok()
    }
}
