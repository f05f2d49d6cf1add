//! Each rule by an example: the form that a family gets.

use serde_json::json;

use super::*;

/// Wraps the schema of one argument.
fn with(argument: &Value) -> Value {
    json!({ "type": "object", "properties": { "a": argument } })
}

/// The schema of the argument in a family's form.
fn argument(name: &str, schema: &Value) -> Value {
    form(name, &with(schema))["properties"]["a"].clone()
}

fn gemini(schema: &Value) -> Value {
    argument("gemini", schema)
}

/// Schemas and their forms: types, alternatives, listed values.
fn kinds() -> Vec<(Value, Value)> {
    let text = json!({ "type": "string" });
    vec![
        (
            json!({ "type": ["string", "null"], "minLength": 1, "default": null }),
            json!({ "type": "string", "minLength": 1, "default": null, "nullable": true }),
        ),
        (
            json!({ "anyOf": [{ "type": "string" }, { "type": "null" }], "description": "d" }),
            json!({ "type": "string", "description": "d", "nullable": true }),
        ),
        (
            json!({ "type": ["string", "integer"], "minimum": 1 }),
            json!({ "anyOf": [text, { "type": "integer", "minimum": 1 }] }),
        ),
        (
            json!({ "oneOf": [{ "const": "a" }, { "const": "b" }] }),
            json!({ "type": "string", "enum": ["a", "b"] }),
        ),
        (json!({ "const": 1 }), json!({ "type": "integer", "description": "(always: 1)" })),
        (
            json!({ "enum": [1, 2, null] }),
            json!({ "type": "integer", "description": "(one of: 1, 2)", "nullable": true }),
        ),
        (
            json!({ "type": "string", "enum": ["", "x"] }),
            json!({ "type": "string", "description": "(one of: \"\", \"x\")" }),
        ),
    ]
}

/// Schemas and their forms: formats, bounds, objects and lists.
fn structures() -> Vec<(Value, Value)> {
    let text = json!({ "type": "string" });
    vec![
        (
            json!({ "type": "string", "format": "uri", "description": "A link." }),
            json!({ "type": "string", "description": "A link. (format: uri)" }),
        ),
        (
            json!({ "type": "integer", "exclusiveMinimum": 0, "maximum": 5 }),
            json!({ "type": "integer", "minimum": 1, "maximum": 5, "description": "(greater than 0)" }),
        ),
        (
            json!({ "allOf": [{ "type": "object", "properties": { "x": text } }, { "properties": { "y": text }, "required": ["y", "z"] }] }),
            json!({ "type": "object", "properties": { "x": text, "y": text }, "required": ["y"] }),
        ),
        (
            json!({ "type": "object", "additionalProperties": { "type": "string" } }),
            json!({ "type": "object", "description": "(free-form object)" }),
        ),
        (
            json!({ "type": "array", "items": [text, text], "maxItems": 2 }),
            json!({ "type": "array", "items": text, "maxItems": 2 }),
        ),
        (
            json!({ "type": "array", "prefixItems": [text, { "type": "number" }], "items": false }),
            json!({ "type": "array", "items": { "anyOf": [text, { "type": "number" }] } }),
        ),
        (json!({ "type": "null" }), json!({ "type": "string", "nullable": true })),
        (
            json!({ "type": "string", "minimum": 1, "examples": ["a"] }),
            json!({ "type": "string", "description": "(for example: \"a\")" }),
        ),
    ]
}

#[test]
fn fields_have_one_type_each() {
    for (schema, want) in kinds().into_iter().chain(structures()) {
        assert_eq!(gemini(&schema), want, "{schema}");
        assert_eq!(gemini(&want), want, "the form stays as it is");
    }
}

#[test]
fn what_can_be_anything_says_so() {
    for schema in [json!({}), json!(true), json!({ "description": "d", "not": {} })] {
        let kinds: Vec<Value> =
            gemini(&schema)["anyOf"].as_array().unwrap().iter().map(|one| one["type"].clone()).collect();
        assert_eq!(kinds, ["string", "number", "boolean", "object", "array"], "{schema}");
    }
    let list = gemini(&json!({ "type": "array" }));
    assert_eq!(list["items"]["anyOf"].as_array().unwrap().len(), 4);
    assert!(form("gemini", &with(&json!(false)))["properties"].as_object().unwrap().is_empty());
}

#[test]
fn references_are_written_out_and_circles_end() {
    let schema = json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/N", "description": "outer" } }, "$defs": {
        "N": { "type": "object", "description": "inner", "properties": { "next": { "$ref": "#/$defs/N" }, "v": { "type": "string" } } },
    } });
    let inner = json!({ "type": "object", "properties": { "next": { "type": "object" }, "v": { "type": "string" } } });
    for name in ["gemini", "anthropic"] {
        let written = form(name, &schema);
        assert!(written.get("$defs").is_none());
        assert_eq!(written["properties"]["a"]["properties"], inner["properties"], "{name}");
        assert_eq!(written["properties"]["a"]["description"], "outer", "{name}");
    }
    assert_eq!(form("openai", &schema), schema, "references inside the schema are fine there");
    let lost = with(&json!({ "$ref": "https://example.com/x", "title": "t" }));
    assert_eq!(form("openai", &lost), with(&json!({ "title": "t" })));
}

#[test]
fn references_are_followed_less_deeply_if_the_form_would_become_long() {
    let names: Vec<String> = (0..40).map(|at| format!("argument_{at}")).collect();
    let level = |next: Option<&str>| {
        let one =
            next.map_or(json!({ "type": "string" }), |next| json!({ "$ref": format!("#/$defs/{next}") }));
        let properties: serde_json::Map<_, _> =
            names.iter().map(|name| (name.clone(), one.clone())).collect();
        json!({ "type": "object", "properties": properties })
    };
    let schema = json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/x" } },
        "$defs": { "x": level(Some("y")), "y": level(Some("z")), "z": level(None) } });
    for name in ["gemini", "anthropic"] {
        let written = form(name, &schema);
        assert!(written.to_string().len() <= 3 * schema.to_string().len(), "{name}");
        let inner = &written["properties"]["a"]["properties"]["argument_39"];
        assert_eq!(inner["type"], "object", "{name}: all arguments of the first level are there");
    }
}

#[test]
fn alternatives_at_the_root_are_merged() {
    let schema = json!({ "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"], "oneOf": [
        { "properties": { "b": { "type": "string" }, "c": { "type": "string" } }, "required": ["b", "c"] },
        { "properties": { "b": { "type": "integer" } }, "required": ["b"] },
    ] });
    for name in ["gemini", "openai", "anthropic", "cursor", "portable"] {
        let written = form(name, &schema);
        assert_eq!(written["required"], json!(["a", "b"]), "{name}");
        assert_eq!(
            written["properties"].as_object().unwrap().keys().collect::<Vec<_>>(),
            ["a", "b", "c"],
            "{name}"
        );
        assert_eq!(broken(name, &written), [""; 0], "{name}");
    }
    assert_eq!(form("vscode", &schema), schema);
    let either = json!({ "type": "object", "properties": { "a": {}, "b": {} }, "anyOf": [{ "required": ["a"] }, { "required": ["b"] }] });
    assert_eq!(form("openai", &either), json!({ "type": "object", "properties": { "a": {}, "b": {} } }));
}

#[test]
fn a_list_has_items_and_an_object_properties() {
    assert_eq!(argument("openai", &json!({ "type": "array" })), json!({ "type": "array", "items": {} }));
    assert_eq!(
        argument("vscode", &json!({ "type": ["array", "null"] })),
        json!({ "type": ["array", "null"], "items": {} })
    );
    assert_eq!(form("openai", &json!({ "type": "object" })), json!({ "type": "object", "properties": {} }));
    assert_eq!(
        form("anthropic", &json!({ "properties": {} })),
        json!({ "properties": {}, "type": "object" })
    );
    assert_eq!(form("cursor", &json!(true)), json!({ "type": "object", "properties": {} }));
    let pair = json!({ "type": "array", "items": [{ "type": "string" }] });
    assert_eq!(
        argument("anthropic", &pair),
        json!({ "type": "array", "prefixItems": [{ "type": "string" }], "items": {} })
    );
    assert_eq!(argument("vscode", &pair), pair);
}

#[test]
fn what_is_not_well_formed_is_left_out() {
    let schema = json!({ "type": "object", "required": null, "properties": {
        "a": { "type": "String", "required": true, "minLength": "3", "enum": [] },
        "b": { "type": "number", "minimum": 0, "exclusiveMinimum": true },
        "c": { "type": "any", "title": 3 }, "d": "string",
    } });
    let want = json!({ "type": "object", "properties": {
        "a": { "type": "string" }, "b": { "type": "number", "exclusiveMinimum": 0 }, "c": {}, "d": {},
    } });
    for name in ["openai", "anthropic", "vscode", "cursor"] {
        assert_eq!(form(name, &schema), want, "{name}");
    }
}

#[test]
fn a_constraint_that_would_accept_less_goes() {
    let list = json!({ "type": "array" });
    let schema = with(
        &json!({ "not": list, "if": list, "then": false, "oneOf": [list, { "type": "string" }], "unevaluatedProperties": false }),
    );
    let items = json!({ "type": "array", "items": {} });
    assert_eq!(form("openai", &schema), with(&json!({ "anyOf": [items, { "type": "string" }] })));
}

#[test]
fn no_combinators_for_cursor() {
    let want = |kind: Value| json!({ "type": kind, "description": "d" });
    let cursor = |schema: &Value| argument("cursor", schema);
    assert_eq!(
        cursor(&json!({ "anyOf": [{ "type": "string" }, { "type": "null" }], "description": "d" })),
        {
            let mut one = want(json!(["string", "null"]));
            one.as_object_mut().unwrap().sort_keys();
            one
        }
    );
    assert_eq!(
        cursor(&json!({ "oneOf": [{ "type": "string", "minLength": 1 }, { "type": "integer" }] })),
        json!({ "type": ["string", "integer"] })
    );
    assert_eq!(cursor(&json!({ "anyOf": [{ "type": "string" }, {}] })), json!({}));
}

#[test]
fn no_form_with_alternatives_suits_both_gemini_and_cursor() {
    for schema in [json!({ "type": ["string", "integer"] }), json!({ "description": "anything" })] {
        assert_eq!(broken("cursor", &with(&schema)), [""; 0], "{schema}");
        let portable = form("portable", &with(&schema));
        assert_eq!(broken("cursor", &portable), ["combinator"], "{portable}");
        for name in ["gemini", "openai", "anthropic", "vscode"] {
            assert_eq!(broken(name, &portable), [""; 0], "{name}: {portable}");
        }
        let cursor = form("cursor", &with(&schema));
        assert_eq!(broken("cursor", &cursor), [""; 0], "{cursor}");
        assert!(broken("gemini", &cursor).iter().any(|rule| rule.starts_with("type-")), "{cursor}");
    }
}

#[test]
fn a_required_argument_that_can_be_null_says_so_for_all_clients() {
    let schema = json!({ "type": "object", "properties": { "a": { "type": ["string", "null"] }, "b": { "type": ["string", "null"] } }, "required": ["a"] });
    let written = form("portable", &schema);
    assert_eq!(
        written["properties"]["a"],
        json!({ "type": "string", "description": "(may be null)", "nullable": true })
    );
    assert_eq!(written["properties"]["b"], json!({ "type": "string", "nullable": true }));
}

#[test]
fn keywords_as_names_of_arguments_are_names() {
    let schema = json!({ "type": "object", "properties": {
        "type": { "type": "string" }, "$ref": { "type": "string" }, "enum": { "type": "string" }, "items": { "type": "string" },
        "properties": { "type": "object", "properties": { "default": { "type": "string", "default": { "$ref": "#/x", "type": "array" } } } },
    }, "required": ["type"] });
    for name in ["vscode", "cursor"] {
        assert_eq!(form(name, &schema), schema, "{name}");
    }
    assert_eq!(broken("openai", &schema), ["default-ref"]);
    assert_eq!(broken("gemini", &schema), ["default-ref", "property-name"]);
    let mut without = schema.clone();
    without["properties"].as_object_mut().unwrap().shift_remove("$ref");
    without["description"] = json!("(also takes: \"$ref\")");
    let written = form("gemini", &schema);
    assert_eq!(written["properties"]["type"], without["properties"]["type"]);
    assert!(written["properties"].get("$ref").is_none() && written["description"] == without["description"]);
}

#[test]
fn arguments_with_refused_names_are_left_out() {
    let schema = with(
        &json!({ "type": "object", "properties": { "$and": { "type": "string" }, "b": { "type": "string" } }, "required": ["$and", "b"], "additionalProperties": false }),
    );
    for name in ["gemini", "anthropic"] {
        let written = argument(name, &schema["properties"]["a"]);
        let want = json!({ "type": "object", "properties": { "b": { "type": "string" } }, "required": ["b"], "description": "(also takes: \"$and\")" });
        assert_eq!(written, want, "{name}");
    }
    let reference = with(&json!({ "type": "object", "properties": {}, "default": { "$ref": "#/x" } }));
    assert!(argument("openai", &reference["properties"]["a"]).get("default").is_none());
}

#[test]
fn findings_name_the_place() {
    let schema = with(&json!({ "type": "array", "items": { "type": "string", "format": "uri" } }));
    let found = lint(family("gemini"), schema.to_string().as_bytes(), false, 9);
    assert_eq!(
        found,
        [SchemaFinding { path: "/properties/a/items/format".to_owned(), rule: SchemaRule::Format }]
    );
    assert_eq!(lint_name(family("openai"), &"x.y".repeat(30)).len(), 2);
    assert!(lint_name(family("openai"), "4x").is_empty() && !lint_name(family("gemini"), "4x").is_empty());
}
