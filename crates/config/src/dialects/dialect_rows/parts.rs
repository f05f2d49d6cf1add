//! Building blocks for the built-in rows. This module must not know any row.

use std::borrow::Cow;

use proto::era::Era;
use proto::mcp::Method;

use super::cell::{Object, Text};
use super::fault_text::Template;
use super::row::Lists;

/// The lists of a system that has only tools, and returns all of them on one page.
pub(super) fn tools_only() -> Lists {
    Lists {
        methods: texts(&[Method::Initialize.name(), Method::ToolsList.name(), Method::ToolsCall.name()]),
        forward_unknown: false,
        tool_members: Some(texts(&["name", "description", "inputSchema"])),
        description_always: true,
        pages: false,
        ..Lists::default()
    }
}

/// A built-in text.
pub(super) fn text(text: &'static str) -> Text {
    Cow::Borrowed(text)
}

pub(super) fn texts(list: &[&'static str]) -> Vec<Text> {
    list.iter().copied().map(text).collect()
}

pub(super) fn versions(eras: &[&'static Era]) -> Vec<Text> {
    eras.iter().map(|era| text(era.version)).collect()
}

pub(super) fn object(json: &'static str) -> Object {
    Object(text(json))
}

pub(super) fn template(json: &'static str) -> Template {
    Template(text(json))
}
