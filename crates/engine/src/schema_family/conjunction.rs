//! Combines a schema with the schemas that must also hold (the target of its reference, and the schemas in its
//! `allOf`) into one set of keywords. The set accepts everything that all of these schemas accept, and more where
//! they disagree. This module must not know any family.

use indexmap::{IndexMap, IndexSet};
use serde_json::{Map, Value};

use super::document::SchemaDocument;

/// The maximum number of schemas that are combined.
const MOST: usize = 1000;

/// The maximum length of a chain of references and `allOf`.
const DEEPEST: usize = 32;

/// Keywords whose meaning depends on one another: they are taken from one schema together.
const GROUPS: [&[&str]; 6] = [
    &["prefixItems", "items", "additionalItems"],
    &["if", "then", "else"],
    &["contains", "minContains", "maxContains"],
    &["minimum", "exclusiveMinimum"],
    &["maximum", "exclusiveMaximum"],
    &["patternProperties", "additionalProperties"],
];

/// The keywords that stay effective beside a reference in older drafts.
const ANNOTATIONS: [&str; 6] = ["title", "description", "default", "examples", "deprecated", "x-mcp-header"];

/// The keywords of a schema and of all schemas that must also hold.
#[derive(Debug, Default)]
pub(super) struct Conjunction<'a> {
    /// All keywords other than those in the fields below. If several schemas have a keyword, the first one counts.
    pub(super) keywords: IndexMap<&'a str, &'a Value>,
    /// The properties of all schemas; `None` if no schema has `properties`.
    pub(super) properties: Option<IndexMap<&'a str, &'a Value>>,
    /// The required properties of all schemas.
    pub(super) required: IndexSet<&'a str>,
    /// The schemas that were reached through references.
    pub(super) entered: Vec<&'a Value>,
    /// The target of a circular reference: a schema that is already being written.
    pub(super) cycle: Option<&'a Value>,
    /// True if one of the schemas accepts nothing.
    pub(super) is_nothing: bool,
    /// The number of members that were read.
    pub(super) weight: usize,
    /// The number of schemas.
    count: usize,
}

/// The way in which schemas are combined.
#[derive(Debug, Clone, Copy)]
pub(super) struct Combining<'d, 'a> {
    pub(super) document: &'d SchemaDocument<'a>,
    /// The schemas that are being written.
    pub(super) open: &'d [&'a Value],
    /// True if `allOf` is combined as well.
    pub(super) merges_all_of: bool,
}

impl<'a> Conjunction<'a> {
    /// Combines a schema with other schemas that must hold as well.
    pub(super) fn of(schema: &'a Value, how: Combining<'_, 'a>) -> Self {
        let mut all = Self::default();
        all.add(schema, how, 0);
        all
    }

    fn add(&mut self, schema: &'a Value, how: Combining<'_, 'a>, depth: usize) {
        let node = match schema {
            Value::Object(node) if depth <= DEEPEST && self.count < MOST => node,
            Value::Bool(false) => {
                self.is_nothing = true;
                return;
            }
            _ => return,
        };
        self.count += 1;
        self.weight += node.len();
        let stands_alone = how.document.references_stand_alone && node.contains_key("$ref");
        self.take(node, how, stands_alone);
        if let Some(target) = how.document.referred(node) {
            let is_among = |known: &[&Value]| known.iter().any(|known| std::ptr::eq(*known, target));
            if is_among(how.open) {
                self.cycle = Some(target);
            } else if !is_among(&self.entered) {
                self.entered.push(target);
                self.add(target, how, depth + 1);
            }
        }
        if how.merges_all_of && !stands_alone {
            let others = node.get("allOf").and_then(Value::as_array);
            others.into_iter().flatten().for_each(|other| self.add(other, how, depth + 1));
        }
    }

    fn take(&mut self, node: &'a Map<String, Value>, how: Combining<'_, 'a>, stands_alone: bool) {
        let has_any = |group: &&&[&str]| group.iter().any(|keyword| self.keywords.contains_key(keyword));
        let taken: Vec<&str> = GROUPS.iter().filter(has_any).copied().flatten().copied().collect();
        for (keyword, value) in node {
            let keyword = keyword.as_str();
            match (keyword, value) {
                _ if stands_alone && !ANNOTATIONS.contains(&keyword) => {}
                ("$ref", _) => {}
                ("allOf", _) if how.merges_all_of => {}
                ("properties", Value::Object(properties)) => {
                    self.weight += properties.len();
                    let known = self.properties.get_or_insert_default();
                    for (name, property) in properties {
                        known.entry(name).or_insert(property);
                    }
                }
                ("required", Value::Array(names)) => {
                    self.weight += names.len();
                    self.required.extend(names.iter().filter_map(Value::as_str));
                }
                // A keyword that depends on all other keywords of its node cannot be moved.
                ("unevaluatedProperties" | "unevaluatedItems", _) if self.count > 1 => {}
                _ if taken.contains(&keyword) => {}
                _ => {
                    self.keywords.entry(keyword).or_insert(value);
                }
            }
        }
    }

    /// A keyword's value.
    pub(super) fn get(&self, keyword: &str) -> Option<&'a Value> {
        self.keywords.get(keyword).copied()
    }

    /// Returns true if more than one schema was combined.
    pub(super) fn is_combined(&self) -> bool {
        self.count > 1
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn keywords(schema: &Value) -> Vec<String> {
        let document = SchemaDocument::new(schema);
        let how = Combining { document: &document, open: &[], merges_all_of: true };
        Conjunction::of(schema, how).keywords.iter().map(|(k, v)| format!("{k}={v}")).collect()
    }

    #[test]
    fn the_first_schema_counts_and_groups_stay_together() {
        let schema = json!({ "allOf": [{ "minimum": 1, "if": {}, "title": "a" }, { "exclusiveMinimum": 0, "else": false, "title": "b" }] });
        assert_eq!(keywords(&schema), ["minimum=1", "if={}", "title=\"a\""]);
    }

    #[test]
    fn a_reference_of_an_older_draft_disables_what_is_beside_it() {
        let defs = json!({ "a": { "type": "string" } });
        let older = json!({ "$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/a", "minLength": 2, "title": "t", "definitions": defs });
        assert_eq!(keywords(&older), ["title=\"t\"", "type=\"string\""]);
        let newer = json!({ "$ref": "#/definitions/a", "minLength": 2, "definitions": defs });
        assert!(keywords(&newer).contains(&"minLength=2".to_owned()));
    }
}
