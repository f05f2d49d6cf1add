//! Schemas that are designed to cost time or memory: each form stays within its bounds.

use serde_json::json;

use super::*;
use crate::schema_family::document::MAX_BYTES;

/// Brings a schema into all forms; each result is accepted by its family and within the bounds.
fn bounded(schema: &str) {
    for family in families() {
        let suited = suit(family, schema.as_bytes(), false);
        if let Some(written) = suited.schema() {
            assert!(written.len() <= MAX_BYTES, "{}: {} bytes", family.name, written.len());
            let found = lint(family, written.as_bytes(), false, 8);
            assert!(found.iter().all(|found| !found.rule.is_repairable()), "{}: {found:?}", family.name);
        }
    }
}

#[test]
fn references_that_double_at_each_step() {
    let mut defs = serde_json::Map::new();
    for at in 0..64 {
        let next = json!({ "$ref": format!("#/$defs/d{}", at + 1) });
        defs.insert(
            format!("d{at}"),
            json!({ "type": "object", "properties": { "a": next, "b": next }, "anyOf": [next, next] }),
        );
    }
    defs.insert("d64".to_owned(), json!({ "type": "string" }));
    bounded(
        &json!({ "type": "object", "properties": { "x": { "$ref": "#/$defs/d0" } }, "$defs": defs })
            .to_string(),
    );
}

#[test]
fn references_in_circles() {
    for reference in ["#", "#/properties/x", "#/$defs/a", "#/$defs/b"] {
        let schema = json!({
            "type": "object", "properties": { "x": { "$ref": reference }, "y": { "type": "array", "items": { "$ref": "#" } } },
            "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "allOf": [{ "$ref": "#/$defs/a" }, { "anyOf": [{ "$ref": "#/$defs/b" }] }] } },
            "anyOf": [{ "$ref": "#" }, { "$ref": "#/$defs/a" }],
        });
        bounded(&schema.to_string());
    }
}

#[test]
fn a_heavy_definition_that_is_used_often() {
    let names: Vec<String> = (0..3000).map(|at| format!("n{at}")).collect();
    let properties: serde_json::Map<_, _> =
        names.iter().map(|name| (name.clone(), json!({ "type": "string" }))).collect();
    let uses: serde_json::Map<_, _> =
        names.iter().map(|name| (name.clone(), json!({ "$ref": "#/$defs/a" }))).collect();
    let heavy = json!({ "type": "object", "properties": properties, "required": names, "description": "d".repeat(5000) });
    bounded(&json!({ "type": "object", "properties": uses, "$defs": { "a": heavy } }).to_string());
    let listed = json!({ "enum": names, "pattern": "p".repeat(5000) });
    bounded(&json!({ "type": "object", "properties": uses, "$defs": { "a": listed } }).to_string());
}

#[test]
fn deep_nesting() {
    for (open, close) in [
        (r#"{"type":"object","properties":{"a":"#, "}}"),
        (r#"{"type":["array","null"],"items":"#, "}"),
        (r#"{"anyOf":[{"type":"null"},"#, "]}"),
        (r#"{"allOf":["#, "]}"),
        (r#"{"not":"#, "}"),
        ("[", "]"),
    ] {
        for depth in [16, 40, 120, 5000] {
            bounded(&format!("{}{{}}{}", open.repeat(depth), close.repeat(depth)));
        }
    }
}

#[test]
fn long_lists() {
    let many: Vec<usize> = (0..40_000).collect();
    bounded(&json!({ "type": "object", "properties": { "a": { "enum": many } } }).to_string());
    let branches: Vec<_> = many.iter().take(9000).map(|at| json!({ "const": at.to_string() })).collect();
    bounded(&json!({ "type": "object", "properties": { "a": { "oneOf": branches } } }).to_string());
    let roots: Vec<_> = many
        .iter()
        .take(4000)
        .map(|at| json!({ "properties": { "a": { "minimum": at } }, "required": ["a"] }))
        .collect();
    bounded(&json!({ "type": "object", "oneOf": roots }).to_string());
    bounded(&format!(r#"{{"type":"object","description":"{}","$defs":1}}"#, "x".repeat(600_000)));
}

#[test]
fn text_that_is_no_schema() {
    for text in [
        "",
        "{",
        "[]",
        "null",
        "1e999",
        r#"{"a":1e999}"#,
        "\u{feff}{}",
        r#"{"type":"object"} {}"#,
        "\"\\ud800\"",
    ] {
        bounded(text);
    }
}
