//! The texts of a listed tool that a search looks at. This module must not know how they are weighted.

use std::borrow::Cow;

use proto::json::{Elements, Members, Span, unquote};

/// The part of a tool in which a word occurs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolField {
    Name,
    Title,
    Description,
    /// The names of arguments.
    Argument,
    /// The descriptions and permitted values of arguments.
    ArgumentText,
    Server,
}

impl ToolField {
    pub(super) const COUNT: usize = 6;

    pub(super) fn index(self) -> usize {
        self as usize
    }
}

/// A tool with the texts that a search looks at.
#[derive(Debug, Clone, Copy)]
pub struct ToolText<'t> {
    /// The name of the tool's server.
    pub server: &'t str,
    /// The name by which clients call the tool.
    pub name: &'t str,
    /// The tool's name at its server.
    pub own_name: &'t str,
    /// The listed object, validated JSON text.
    pub text: &'t [u8],
}

/// The maximum nesting depth at which arguments are read.
const MAX_DEPTH: u32 = 4;

impl ToolText<'_> {
    /// Calls `each` with every text and its field, the most important ones first.
    pub(super) fn read(&self, each: &mut dyn FnMut(ToolField, &str)) {
        each(ToolField::Name, self.own_name);
        // A public name usually consists of the names of the server and of the tool.
        if !self.name.contains(self.own_name) {
            each(ToolField::Name, self.name);
        }
        each(ToolField::Server, self.server);
        let Some(tool) = Members::of_value(self.text, Span::new(0, self.text.len())) else { return };
        let titles = tool.get(self.text, "annotations").and_then(|span| Members::of_value(self.text, span));
        let titles = titles.iter().chain([&tool]).filter_map(|among| among.get(self.text, "title"));
        for title in titles.filter_map(|span| string(self.text, span)) {
            each(ToolField::Title, &title);
        }
        if let Some(description) = tool.get(self.text, "description").and_then(|span| string(self.text, span))
        {
            each(ToolField::Description, &description);
        }
        if let Some(schema) = tool.get(self.text, "inputSchema") {
            Schema { text: self.text, each }.arguments(schema, 0);
        }
    }
}

/// The walk through an input schema.
struct Schema<'t, 'e> {
    text: &'t [u8],
    each: &'e mut dyn FnMut(ToolField, &str),
}

impl Schema<'_, '_> {
    /// Reads the arguments in a schema and in the schemas inside it.
    fn arguments(&mut self, schema: Span, depth: u32) {
        let text = self.text;
        let Some(members) = Members::of_value(text, schema).filter(|_| depth < MAX_DEPTH) else { return };
        for member in members.iter() {
            match member.key.of(text) {
                b"properties" => {
                    for property in Members::of_value(text, member.value).iter().flat_map(Members::iter) {
                        if let Some(name) = unquote(property.key.of(text)) {
                            (self.each)(ToolField::Argument, &name);
                        }
                        self.argument(property.value);
                        self.arguments(property.value, depth + 1);
                    }
                }
                b"items" => {
                    self.argument(member.value);
                    self.arguments(member.value, depth + 1);
                }
                b"$defs" | b"definitions" => {
                    for named in Members::of_value(text, member.value).iter().flat_map(Members::iter) {
                        self.argument(named.value);
                        self.arguments(named.value, depth + 1);
                    }
                }
                b"anyOf" | b"oneOf" | b"allOf" => {
                    for branch in Elements::of_value(text, member.value).iter().flat_map(Elements::iter) {
                        self.argument(branch);
                        self.arguments(branch, depth + 1);
                    }
                }
                _ => {}
            }
        }
    }

    /// Reads the description and the permitted values of one argument.
    fn argument(&mut self, schema: Span) {
        let text = self.text;
        let Some(members) = Members::of_value(text, schema) else { return };
        for key in ["title", "description", "const"] {
            if let Some(content) = members.get(text, key).and_then(|span| string(text, span)) {
                (self.each)(ToolField::ArgumentText, &content);
            }
        }
        let values = members.get(text, "enum").and_then(|span| Elements::of_value(text, span));
        for value in values.iter().flat_map(Elements::iter).filter_map(|span| string(text, span)) {
            (self.each)(ToolField::ArgumentText, &value);
        }
    }
}

fn string(text: &[u8], span: Span) -> Option<Cow<'_, str>> {
    unquote(span.of(text).strip_prefix(b"\"")?.strip_suffix(b"\"")?)
}
