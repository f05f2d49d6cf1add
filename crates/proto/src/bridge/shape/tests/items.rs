//! Listed items.

use super::*;
use crate::bridge::shape::{Listed, item};

fn check_item(kind: Listed, from: &[&str], input: &Value, rows: &[Row<'_>]) {
    check(from, &|_| input.clone(), &|given, from, to| item(kind, given, from, to), rows);
}

#[test]
fn tools_lose_what_an_era_cannot_take() {
    let tool = json!({
        "name": "t", "title": "T", "icons": [{"src": "x"}], "_meta": {"a": 1}, "description": "d",
        "annotations": {"readOnlyHint": true}, "execution": {"taskSupport": "optional"},
        "inputSchema": {"type": "object", "x": 1}, "outputSchema": {"type": "object"}, "odd": [1.50],
    });
    let without = |keys: &[&str]| {
        let mut tool = tool.clone();
        for key in keys {
            tool.as_object_mut().unwrap().remove(*key);
        }
        Some(tool)
    };
    let strict = without(&["title", "icons", "_meta", "annotations", "execution", "outputSchema"]);
    check_item(
        Listed::Tool,
        ALL,
        &tool,
        &[
            (span("1", "2024-11-05"), strict),
            (vec!["2025-03-26"], without(&["execution", "outputSchema"])),
            (vec!["2025-06-18", "2026-07-28"], without(&["execution"])),
            (vec!["2025-11-25"], without(&[])),
        ],
    );
}

#[test]
fn output_schemas_follow_what_results_may_hold() {
    for schema in [
        json!({"type": "array"}),
        json!({"anyOf": [{"type": "object"}]}),
        json!({"type": ["object", "null"]}),
        json!({}),
    ] {
        let bare = json!({"name": "t", "inputSchema": {"type": "object"}});
        let mut tool = bare.clone();
        tool["outputSchema"] = schema;
        check_item(
            Listed::Tool,
            ALL,
            &tool,
            &[(span("1", "2025-11-25"), Some(bare)), (vec!["2026-07-28"], Some(tool.clone()))],
        );
    }
    let bare = json!({"name": "t", "inputSchema": {"type": "object"}});
    let no_schema = json!({"name": "t", "inputSchema": {"type": "object"}, "outputSchema": true});
    check_item(Listed::Tool, ALL, &no_schema, &[(ALL.to_vec(), Some(bare))]);
}

#[test]
fn input_schemas_say_that_they_are_objects() {
    let tool = |schema: Value| json!({"name": "t", "inputSchema": schema});
    let good = tool(json!({"type": "object", "properties": {"a": true}}));
    for (given, expected) in [
        (good.clone(), Some(good.clone())),
        (tool(json!({"properties": {"a": true}})), Some(good.clone())),
        (tool(json!({"type": ["null", "object"], "properties": {"a": true}})), Some(good)),
        (tool(json!({})), Some(tool(json!({"type": "object"})))),
        (json!({"name": "t"}), Some(tool(json!({"type": "object"})))),
        (tool(json!({"type": "string"})), None),
        (tool(json!({"type": ["string"]})), None),
        (tool(json!({"type": 1})), None),
        (tool(json!(true)), None),
        (tool(Value::Null), None),
        (json!([]), None),
    ] {
        check_item(Listed::Tool, ALL, &given, &[(ALL.to_vec(), expected)]);
    }
}

#[test]
fn a_type_may_be_spelled_with_escapes() {
    let text = Bytes::from_static(br#"{"name":"t","input\u0053chema":{"typ\u0065":"obj\u0065ct"}}"#);
    for from in ERAS {
        for to in ERAS {
            assert_eq!(item(Listed::Tool, &text, from, to).unwrap().as_ptr(), text.as_ptr());
        }
    }
}

#[test]
fn prompts_keep_what_they_are_asked_by() {
    let prompt = json!({
        "name": "p", "title": "P", "icons": [], "_meta": {}, "description": "d", "odd": 1,
        "arguments": [{"name": "a", "title": "A", "required": true}, {"name": "b"}, 7],
    });
    let strict = json!({
        "name": "p", "description": "d", "odd": 1,
        "arguments": [{"name": "a", "required": true}, {"name": "b"}, 7],
    });
    check_item(
        Listed::Prompt,
        ALL,
        &prompt,
        &[(span("1", "2024-11-05"), Some(strict)), (span("2025-03-26", "2026-07-28"), Some(prompt.clone()))],
    );
}

#[test]
fn resources_keep_annotations_where_there_are_some() {
    for (kind, key) in [(Listed::Resource, "uri"), (Listed::Template, "uriTemplate")] {
        let full = json!({
            key: "a:b", "name": "n", "title": "N", "icons": [], "_meta": {}, "mimeType": "text/plain", "size": 3,
            "annotations": {"priority": 0.5, "lastModified": "x"}, "odd": null,
        });
        let bare = json!({key: "a:b", "name": "n", "mimeType": "text/plain", "odd": null});
        let mut some = bare.clone();
        some["size"] = json!(3);
        some["annotations"] = json!({"priority": 0.5});
        check_item(
            kind,
            ALL,
            &full,
            &[
                (vec!["1", "2024-10-07"], Some(bare)),
                (vec!["2024-11-05"], Some(some)),
                (span("2025-03-26", "2026-07-28"), Some(full.clone())),
            ],
        );
    }
    let only_new = json!({"uri": "a:b", "name": "n", "annotations": {"lastModified": "x"}});
    let bare = json!({"uri": "a:b", "name": "n"});
    check_item(
        Listed::Resource,
        ALL,
        &only_new,
        &[(span("1", "2024-11-05"), Some(bare)), (span("2025-03-26", "2026-07-28"), Some(only_new.clone()))],
    );
}
