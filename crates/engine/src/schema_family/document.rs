//! One schema as a document: the targets of its references, and the bounds for the work on it. This module must not know
//! any family.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::{Map, Value};

use super::keywords::each_child;

/// The maximum length of a schema that is read or written, in bytes.
pub(super) const MAX_BYTES: usize = 512 * 1024;

/// The maximum number of nodes (schemas inside the schema) that are read or written.
pub(super) const MAX_NODES: usize = 10_000;

/// The maximum number of values and members that are read and copied for one schema.
const MAX_WEIGHT: usize = 200_000;

/// The maximum nesting depth of the schemas that are written.
pub(super) const MAX_DEPTH: usize = 32;

/// A schema whose references can be followed.
#[derive(Debug)]
pub(super) struct SchemaDocument<'a> {
    pub(super) root: &'a Value,
    anchors: HashMap<&'a str, &'a Value>,
    /// True if a part of the schema has its own `$id`: references in that part are relative to the part.
    is_divided: bool,
    /// True for drafts in which a reference disables the keywords beside it.
    pub(super) references_stand_alone: bool,
    /// The number of nodes.
    pub(super) nodes: usize,
}

impl<'a> SchemaDocument<'a> {
    /// Reads the structure of a schema, up to one node more than the maximum.
    pub(super) fn new(root: &'a Value) -> Self {
        let dialect = root.get("$schema").and_then(Value::as_str).unwrap_or_default();
        let references_stand_alone = dialect.contains("/draft-0");
        let mut document =
            Self { root, anchors: HashMap::new(), is_divided: false, references_stand_alone, nodes: 0 };
        let mut open = vec![root];
        while let Some(schema) = open.pop().filter(|_| document.nodes <= MAX_NODES) {
            document.nodes += 1;
            let Some(node) = schema.as_object() else { continue };
            if let Some(anchor) = node.get("$anchor").and_then(Value::as_str) {
                document.anchors.entry(anchor).or_insert(schema);
            }
            let id = node.get("$id").and_then(Value::as_str).filter(|_| !std::ptr::eq(schema, root));
            document.is_divided |= id.is_some();
            each_child(node, |_, _, child| open.push(child));
        }
        document
    }

    /// Returns true if the schema exceeds the bounds.
    pub(super) fn is_too_large(&self) -> bool {
        self.nodes > MAX_NODES
    }

    /// The target of a reference, if it is in this document.
    pub(super) fn target(&self, reference: &str) -> Option<&'a Value> {
        if self.is_divided {
            return None;
        }
        let fragment = percent_decoded(reference.strip_prefix('#')?)?;
        let found = match fragment.strip_prefix('/') {
            None if fragment.is_empty() => Some(self.root),
            None => self.anchors.get(&*fragment).copied(),
            Some(_) => self.root.pointer(&fragment),
        };
        found.filter(|found| super::keywords::is_schema(found))
    }

    /// The target of a node's `$ref`.
    pub(super) fn referred(&self, node: &Map<String, Value>) -> Option<&'a Value> {
        self.target(node.get("$ref")?.as_str()?)
    }
}

/// The work that is left for one schema. Once the budget is used up, the rest of the schema is written in outline.
#[derive(Debug)]
pub(super) struct Budget {
    nodes: usize,
    weight: usize,
}

impl Budget {
    /// The work for one schema.
    pub(super) fn new() -> Self {
        Self { nodes: MAX_NODES, weight: MAX_WEIGHT }
    }

    /// Spends one node of the budget. Returns false if none is left.
    pub(super) fn takes_node(&mut self) -> bool {
        let is_left = self.nodes > 0 && self.weight > 0;
        self.nodes = self.nodes.saturating_sub(1);
        is_left
    }

    /// Spends the weight of members that were read.
    pub(super) fn spend(&mut self, weight: usize) {
        self.weight = self.weight.saturating_sub(weight);
    }

    /// A copy of a value; `null` if it is too large.
    pub(super) fn copy(&mut self, value: &Value) -> Value {
        self.spend(weight(value));
        if self.weight == 0 { Value::Null } else { value.clone() }
    }
}

/// The size of a value: one for the value itself and for each value inside it, and one for each eight bytes of text.
fn weight(value: &Value) -> usize {
    match value {
        Value::String(text) => 1 + text.len() / 8,
        Value::Array(all) => 1 + all.iter().map(weight).sum::<usize>(),
        Value::Object(all) => 1 + all.iter().map(|(key, one)| 1 + key.len() / 8 + weight(one)).sum::<usize>(),
        _ => 1,
    }
}

fn percent_decoded(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('%') {
        return Some(Cow::Borrowed(text));
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: u8| char::from(byte).to_digit(16);
        let (high, low) = (digit(rest.next()?)?, digit(rest.next()?)?);
        bytes.push(u8::try_from(high * 16 + low).ok()?);
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn references_lead_to_schemas_of_the_document_alone() {
        let schema = json!({
            "$defs": { "a/b": { "type": "string" }, "c": { "$anchor": "here", "type": "null" } },
            "default": { "x": 1 }, "title": "t",
        });
        let document = SchemaDocument::new(&schema);
        let leads = |reference: &str| document.target(reference).is_some();
        assert!(leads("#") && leads("#/$defs/a~1b") && leads("#/%24defs/c") && leads("#here"));
        for nowhere in ["", "#/$defs/d", "#/title", "#there", "#/%2", "other.json#/a", "https://h/#"] {
            assert!(!leads(nowhere), "{nowhere}");
        }
        let divided = json!({ "$defs": { "a": { "$id": "https://h/a", "type": "string" } } });
        assert!(SchemaDocument::new(&divided).target("#/$defs/a").is_none());
    }
}
