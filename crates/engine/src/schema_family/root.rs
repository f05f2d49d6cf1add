//! The root of a schema as one object: its own arguments and those of all alternatives (`anyOf`, `oneOf`, `allOf`). This module
//! must not know how arguments are written.

use indexmap::{IndexMap, IndexSet};
use serde_json::Value;

use super::conjunction::{Combining, Conjunction};
use super::document::{Budget, SchemaDocument};

/// The maximum nesting of alternatives at the root.
const DEEPEST: usize = 8;

/// The maximum number of alternatives for one argument.
const MOST: usize = 32;

/// Any value.
static ANY: Value = Value::Bool(true);

/// The root of a schema.
#[derive(Debug, Default)]
pub(super) struct Root<'a> {
    /// The keywords other than `properties`, `required` and lists of alternatives.
    pub(super) keywords: IndexMap<&'a str, &'a Value>,
    /// The schemas of each argument; a value must match at least one of them.
    pub(super) properties: IndexMap<&'a str, Vec<&'a Value>>,
    /// The arguments that the root itself or every alternative requires.
    pub(super) required: IndexSet<&'a str>,
    /// The schemas that were reached through references.
    pub(super) entered: Vec<&'a Value>,
    /// True if several schemas were merged.
    pub(super) is_merged: bool,
    /// True if the root has `properties`.
    pub(super) has_properties: bool,
}

impl<'a> Root<'a> {
    /// The root of a document; if `merges` is true, the root's alternatives are merged.
    pub(super) fn of(document: &SchemaDocument<'a>, budget: &mut Budget, merges: bool) -> Self {
        let mut root = Self::read(document.root, document, budget, merges, 0);
        root.keywords.shift_remove("$ref");
        root
    }

    fn read(
        schema: &'a Value,
        document: &SchemaDocument<'a>,
        budget: &mut Budget,
        merges: bool,
        depth: usize,
    ) -> Self {
        let how = Combining { document, open: &[], merges_all_of: merges };
        let all = Conjunction::of(schema, how);
        budget.spend(all.weight);
        let is_merged = all.is_combined();
        let mut root = Self {
            keywords: all.keywords,
            has_properties: all.properties.is_some(),
            properties: all
                .properties
                .into_iter()
                .flatten()
                .map(|(name, schema)| (name, vec![schema]))
                .collect(),
            required: all.required,
            entered: all.entered,
            is_merged,
        };
        if merges {
            for key in ["anyOf", "oneOf"] {
                let Some(Value::Array(list)) = root.keywords.shift_remove(key) else { continue };
                root.merge(list, document, budget, depth);
            }
        }
        root
    }

    /// Adds the arguments of a list of alternatives. An argument is required if all alternatives require it.
    fn merge(&mut self, list: &'a [Value], document: &SchemaDocument<'a>, budget: &mut Budget, depth: usize) {
        self.is_merged = true;
        if depth >= DEEPEST {
            return;
        }
        let own: IndexSet<&str> = self.properties.keys().copied().collect();
        let mut common: Option<IndexSet<&str>> = None;
        for alternative in list {
            if !budget.takes_node() {
                // Unknown alternatives may have any arguments, and require none.
                common = Some(IndexSet::new());
                break;
            }
            if !accepts_objects(alternative) {
                continue;
            }
            let read = Self::read(alternative, document, budget, true, depth + 1);
            if !read.keywords.get("type").is_none_or(|kind| names_object(kind)) {
                continue;
            }
            self.has_properties |= read.has_properties;
            common = Some(match common {
                None => read.required,
                Some(common) => common.into_iter().filter(|name| read.required.contains(name)).collect(),
            });
            for (name, schemas) in read.properties.into_iter().filter(|(name, _)| !own.contains(name)) {
                let known = self.properties.entry(name).or_default();
                for schema in schemas {
                    if !known.contains(&schema) {
                        known.push(schema);
                    }
                }
                if known.len() > MOST {
                    *known = vec![&ANY];
                }
            }
        }
        self.required.extend(common.into_iter().flatten());
    }
}

fn accepts_objects(schema: &Value) -> bool {
    schema != &Value::Bool(false) && schema.get("type").is_none_or(names_object)
}

/// Returns true if a `type` includes objects, or is not a type of JSON Schema.
fn names_object(kind: &Value) -> bool {
    match kind {
        Value::String(one) => one == "object" || !super::keywords::TYPES.contains(&one.as_str()),
        Value::Array(many) => many.iter().any(names_object),
        _ => true,
    }
}
