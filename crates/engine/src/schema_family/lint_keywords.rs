//! The rules for nodes in JSON Schema. This module must not know how a finding is repaired.

use serde_json::Value;

use super::document::SchemaDocument;
use super::family::References;
use super::keywords::{is_well_formed, types};
use super::lint::{Findings, SchemaNode};
use super::{SchemaFamily, SchemaRule};

/// The keywords that refer to another schema.
pub(super) const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// The keywords that combine schemas.
pub(super) const COMBINATORS: [&str; 3] = ["anyOf", "oneOf", "allOf"];

/// Checks one node.
pub(super) fn lint_node(
    family: &SchemaFamily,
    document: &SchemaDocument<'_>,
    place: &SchemaNode<'_>,
    findings: &mut Findings,
) {
    let path = &place.path;
    let Some(node) = place.node.as_object() else {
        if !place.node.is_boolean() {
            findings.add(path, SchemaRule::SchemaValid);
        }
        return;
    };
    for (keyword, value) in node {
        if keyword == "items" && value.is_array() && !family.arrays.allows_tuples {
            findings.add_at(path, keyword, SchemaRule::ItemsShape);
        } else if !is_well_formed(keyword, value, true) {
            findings.add_at(path, keyword, SchemaRule::SchemaValid);
        }
    }
    let follows = family.references != References::Any;
    if follows && node.get("default").is_some_and(super::keywords::contains_reference) {
        findings.add_at(path, "default", SchemaRule::DefaultReference);
    }
    for keyword in REFERENCES.iter().filter(|keyword| node.contains_key(**keyword)) {
        match family.references {
            References::None => findings.add_at(path, keyword, SchemaRule::Reference),
            References::Resolvable if *keyword == "$ref" && document.referred(node).is_none() => {
                findings.add_at(path, keyword, SchemaRule::ReferenceUnresolved);
            }
            References::Resolvable | References::Any => {}
        }
    }
    if family.excludes_combinators() {
        for keyword in COMBINATORS.iter().filter(|keyword| node.contains_key(**keyword)) {
            findings.add_at(path, keyword, SchemaRule::Combinator);
        }
    }
    let lacks_items = matches!(node.get("items"), None | Some(Value::Bool(false)));
    if family.arrays.needs_items && lacks_items && types(node).contains(&"array") {
        findings.add(path, SchemaRule::ItemsMissing);
    }
}
