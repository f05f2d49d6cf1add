//! The rules for nodes in the language with a fixed set of fields. Each rule is documented, or was observed in
//! answers of the API: <https://ai.google.dev/api/caching#Schema>,
//! <https://cloud.google.com/vertex-ai/docs/reference/rest/v1beta1/Schema>. This module must not know how a finding
//! is repaired.

use serde_json::{Map, Value};

use super::SchemaRule;
use super::lint::{Findings, SchemaNode};

/// The fields of the message. The API rejects a whole request because of any other field.
const FIELDS: [&str; 23] = [
    "type",
    "format",
    "title",
    "description",
    "nullable",
    "default",
    "example",
    "enum",
    "items",
    "minItems",
    "maxItems",
    "properties",
    "propertyOrdering",
    "required",
    "minProperties",
    "maxProperties",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "pattern",
    "anyOf",
    "x-mcp-header",
];

/// The keywords whose schemas are checked. Others are reported as a whole.
pub(super) const FOLLOWED: [&str; 5] = ["items", "properties", "anyOf", "oneOf", "allOf"];

/// The formats of each type.
const FORMATS: [(&str, &[&str]); 3] =
    [("string", &["enum", "date-time"]), ("number", &["float", "double"]), ("integer", &["int32", "int64"])];

/// Returns true if a type has a format.
pub(super) fn has_format(kind: &str, format: &str) -> bool {
    FORMATS.iter().any(|(of, formats)| *of == kind && formats.contains(&format))
}

/// Returns true if a field belongs to a type.
pub(super) fn belongs(field: &str, kind: &str) -> bool {
    match field {
        "items" | "minItems" | "maxItems" => kind == "array",
        "properties" | "required" | "minProperties" | "maxProperties" => kind == "object",
        "minimum" | "maximum" => matches!(kind, "number" | "integer"),
        "minLength" | "maxLength" | "pattern" => kind == "string",
        _ => true,
    }
}

/// Checks one node.
pub(super) fn lint_node(place: &SchemaNode<'_>, mirrors: bool, findings: &mut Findings) {
    let path = &place.path;
    let Some(node) = place.node.as_object() else {
        return findings.add(path, SchemaRule::BooleanSchema);
    };
    for field in node.keys() {
        let rule = match field.as_str() {
            "$ref" => SchemaRule::Reference,
            "const" => SchemaRule::Const,
            "$schema" | "additionalProperties" => SchemaRule::UsualKeyword,
            "oneOf" => SchemaRule::OneOf,
            "allOf" => SchemaRule::AllOf,
            "x-mcp-header" if mirrors => continue,
            "x-mcp-header" => SchemaRule::Keyword,
            known if FIELDS.contains(&known) => continue,
            _ => SchemaRule::Keyword,
        };
        findings.add_at(path, field, rule);
    }
    lint_type(node, path, findings);
    lint_values(node, path, findings);
    lint_array(node, path, findings);
    lint_object(node, path, findings);
    if node.contains_key("anyOf") && node.len() > 1 {
        findings.add_at(path, "anyOf", SchemaRule::AnyOfSiblings);
    }
    for field in node.keys() {
        if field == "default" && super::keywords::contains_reference(&node[field]) {
            findings.add_at(path, field, SchemaRule::DefaultReference);
        }
        let is_ill = matches!(field.as_str(), "title" | "description" | "pattern" | "nullable" | "anyOf")
            && !super::keywords::is_well_formed(field, &node[field], false);
        let is_ill = is_ill || (field == "nullable" && !node[field].is_boolean());
        let is_amount = field.starts_with("min") || field.starts_with("max");
        if is_ill || (is_amount && !super::keywords::is_well_formed(field, &node[field], false)) {
            findings.add_at(path, field, SchemaRule::SchemaValid);
        }
    }
}

/// The type of a node, if `type` is a single string.
fn one_type(node: &Map<String, Value>) -> Option<&str> {
    node.get("type").and_then(Value::as_str)
}

fn lint_type(node: &Map<String, Value>, path: &str, findings: &mut Findings) {
    match node.get("type") {
        None => {
            let is_composed = ["anyOf", "oneOf", "allOf", "$ref"].iter().any(|key| node.contains_key(*key));
            if !is_composed {
                findings.add(path, SchemaRule::TypeMissing);
            }
        }
        Some(Value::String(one)) if one == "null" => findings.add_at(path, "type", SchemaRule::TypeNull),
        Some(Value::String(one)) if super::keywords::TYPES.contains(&one.as_str()) => {
            for field in node.keys().filter(|field| !belongs(field, one)) {
                findings.add_at(path, field, SchemaRule::FieldMisplaced);
            }
        }
        Some(Value::Array(_)) => findings.add_at(path, "type", SchemaRule::TypeUnion),
        Some(_) => findings.add_at(path, "type", SchemaRule::TypeValue),
    }
}

fn lint_values(node: &Map<String, Value>, path: &str, findings: &mut Findings) {
    let kind = one_type(node).unwrap_or_default();
    if let Some(format) = node.get("format")
        && !format.as_str().is_some_and(|format| has_format(kind, format))
    {
        findings.add_at(path, "format", SchemaRule::Format);
    }
    let Some(values) = node.get("enum") else { return };
    let texts: Option<Vec<&str>> =
        values.as_array().map(|all| all.iter().filter_map(Value::as_str).collect());
    let is_text = kind == "string" && texts.as_ref().map(Vec::len) == values.as_array().map(Vec::len);
    if !is_text || texts.as_ref().is_none_or(Vec::is_empty) {
        findings.add_at(path, "enum", SchemaRule::EnumType);
    }
    if texts.is_some_and(|texts| texts.contains(&"")) {
        findings.add_at(path, "enum", SchemaRule::EnumEmptyValue);
    }
}

fn lint_array(node: &Map<String, Value>, path: &str, findings: &mut Findings) {
    if one_type(node) != Some("array") {
        return;
    }
    match node.get("items") {
        None => findings.add(path, SchemaRule::ItemsMissing),
        Some(Value::Object(_)) => {}
        Some(_) => findings.add_at(path, "items", SchemaRule::ItemsShape),
    }
}

fn lint_object(node: &Map<String, Value>, path: &str, findings: &mut Findings) {
    let properties = node.get("properties");
    let known = properties.and_then(Value::as_object);
    if properties.is_some() && known.is_none() {
        findings.add_at(path, "properties", SchemaRule::SchemaValid);
    }
    // Clients leave the parameters out if the root has none.
    if known.is_some_and(Map::is_empty) && !path.is_empty() {
        findings.add_at(path, "properties", SchemaRule::ObjectEmpty);
    }
    let Some(required) = node.get("required") else { return };
    let is_known =
        |name: &Value| name.as_str().is_some_and(|name| known.is_some_and(|all| all.contains_key(name)));
    if !required.as_array().is_some_and(|all| all.iter().all(is_known)) {
        findings.add_at(path, "required", SchemaRule::RequiredUndefined);
    }
}
