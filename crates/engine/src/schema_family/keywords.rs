//! The keywords of JSON Schema: which keywords contain schemas, and which values are well-formed. Covers drafts 06
//! to 2020-12, where their meta schemas agree. This module must not know any family.

use serde_json::{Map, Value};

/// The schemas in a keyword's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeywordContent {
    /// The value is a schema.
    Schema,
    /// The value is a list of schemas.
    Schemas,
    /// The value is an object whose members are schemas.
    Named,
    /// The value is a schema, or a list of schemas in older drafts (`items`).
    SchemaOrSchemas,
    /// The value is an object whose members are schemas or lists of names (`dependencies`).
    Dependencies,
    /// The value contains no schema.
    Nothing,
}

/// The schemas in the value of a keyword.
pub(super) fn holds(keyword: &str) -> KeywordContent {
    match keyword {
        "items" => KeywordContent::SchemaOrSchemas,
        "additionalItems"
        | "additionalProperties"
        | "unevaluatedItems"
        | "unevaluatedProperties"
        | "contains"
        | "propertyNames"
        | "not"
        | "if"
        | "then"
        | "else"
        | "contentSchema" => KeywordContent::Schema,
        "anyOf" | "oneOf" | "allOf" | "prefixItems" => KeywordContent::Schemas,
        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas" => {
            KeywordContent::Named
        }
        "dependencies" => KeywordContent::Dependencies,
        _ => KeywordContent::Nothing,
    }
}

/// Returns true if a value can be a schema.
pub(super) fn is_schema(value: &Value) -> bool {
    value.is_object() || value.is_boolean()
}

/// The types of JSON Schema.
pub(super) const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "array", "object", "null"];

/// The types that a node names.
pub(super) fn types(node: &Map<String, Value>) -> Vec<&str> {
    match node.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Returns true if every draft allows this value for the keyword. Nested schemas are not checked, because each of
/// them is a node of its own.
pub(super) fn is_well_formed(keyword: &str, value: &Value, allows_tuples: bool) -> bool {
    match holds(keyword) {
        KeywordContent::Schema => return is_schema(value),
        KeywordContent::Schemas => return is_schema_list(value),
        KeywordContent::Named => return value.as_object().is_some_and(|all| all.values().all(is_schema)),
        KeywordContent::SchemaOrSchemas => {
            return is_schema(value) || (allows_tuples && is_schema_list(value));
        }
        KeywordContent::Dependencies => {
            let is_one = |one: &Value| is_schema(one) || is_name_list(one);
            return value.as_object().is_some_and(|all| all.values().all(is_one));
        }
        KeywordContent::Nothing => {}
    }
    match keyword {
        "type" => is_type(value),
        "enum" => value.as_array().is_some_and(|all| !all.is_empty()),
        "examples" => value.is_array(),
        "required" => is_name_list(value),
        "dependentRequired" => value.as_object().is_some_and(|all| all.values().all(is_name_list)),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties"
        | "minContains" | "maxContains" => is_count(value),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => value.is_number(),
        "multipleOf" => value.as_f64().is_some_and(|step| step > 0.0),
        "pattern" | "format" | "title" | "description" | "$comment" | "$schema" | "$ref" | "$dynamicRef"
        | "$recursiveRef" | "contentEncoding" | "contentMediaType" => value.is_string(),
        "$id" => {
            value.as_str().is_some_and(|id| !id.trim_end_matches('#').contains('#') && !id.ends_with("##"))
        }
        "$anchor" | "$dynamicAnchor" => value.as_str().is_some_and(is_anchor),
        "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" | "$recursiveAnchor" => value.is_boolean(),
        "$vocabulary" => value.as_object().is_some_and(|all| all.values().all(Value::is_boolean)),
        _ => true,
    }
}

fn is_schema_list(value: &Value) -> bool {
    value.as_array().is_some_and(|all| !all.is_empty() && all.iter().all(is_schema))
}

/// Returns true if a value is a list of different strings.
fn is_name_list(value: &Value) -> bool {
    let Some(all) = value.as_array() else { return false };
    let mut seen = std::collections::HashSet::with_capacity(all.len());
    all.iter().all(|name| name.as_str().is_some_and(|name| seen.insert(name)))
}

fn is_type(value: &Value) -> bool {
    match value {
        Value::String(one) => TYPES.contains(&one.as_str()),
        Value::Array(all) => {
            !all.is_empty() && all.len() <= TYPES.len() && is_name_list(value) && {
                all.iter().filter_map(Value::as_str).all(|one| TYPES.contains(&one))
            }
        }
        _ => false,
    }
}

/// Returns true if a value contains a member `$ref`.
pub(super) fn contains_reference(value: &Value) -> bool {
    match value {
        Value::Object(all) => all.contains_key("$ref") || all.values().any(contains_reference),
        Value::Array(all) => all.iter().any(contains_reference),
        _ => false,
    }
}

/// Returns true if a number is a non-negative integer; `2.0` counts as one.
fn is_count(value: &Value) -> bool {
    value.as_u64().is_some() || value.as_f64().is_some_and(|count| count >= 0.0 && count.fract() == 0.0)
}

fn is_anchor(name: &str) -> bool {
    let starts = |first: char| first.is_ascii_alphabetic() || first == '_';
    name.starts_with(starts) && name.chars().all(|c| c.is_ascii_alphanumeric() || "-._".contains(c))
}

/// Calls `visit` for each schema directly below a node, with the steps that lead there.
pub(super) fn each_child<'a>(
    node: &'a Map<String, Value>,
    mut visit: impl FnMut(&'a str, SchemaStep<'a>, &'a Value),
) {
    for (keyword, value) in node {
        match (holds(keyword), value) {
            (KeywordContent::Schema | KeywordContent::SchemaOrSchemas, Value::Object(_) | Value::Bool(_)) => {
                visit(keyword, SchemaStep::Itself, value);
            }
            (KeywordContent::Schemas | KeywordContent::SchemaOrSchemas, Value::Array(all)) => {
                all.iter().enumerate().for_each(|(at, one)| visit(keyword, SchemaStep::At(at), one));
            }
            (KeywordContent::Named | KeywordContent::Dependencies, Value::Object(all)) => {
                let schemas =
                    all.iter().filter(|(_, one)| is_schema(one) || holds(keyword) == KeywordContent::Named);
                schemas.for_each(|(name, one)| visit(keyword, SchemaStep::Named(name), one));
            }
            _ => {}
        }
    }
}

/// The step from a keyword's value to a schema in it.
#[derive(Debug, Clone, Copy)]
pub(super) enum SchemaStep<'a> {
    /// The value itself.
    Itself,
    /// A member of a list.
    At(usize),
    /// A member of an object.
    Named(&'a str),
}

/// A path to a schema, extended by a keyword and a step: a JSON pointer.
pub(super) fn extended(path: &str, keyword: &str, step: SchemaStep<'_>) -> String {
    match step {
        SchemaStep::Itself => format!("{path}/{keyword}"),
        SchemaStep::At(at) => format!("{path}/{keyword}/{at}"),
        SchemaStep::Named(name) => {
            format!("{path}/{keyword}/{}", name.replace('~', "~0").replace('/', "~1"))
        }
    }
}
