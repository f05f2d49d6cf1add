//! Properties of text from servers and callers that the gateway checks: challenges, URI templates, arguments with secrets,
//! schemas. The properties themselves are in the fuzz targets.

extern crate dragoman_engine as engine;

#[path = "../../../fuzz/src/content/mod.rs"]
#[allow(dead_code, unreachable_pub, clippy::pedantic)]
mod properties;

use properties::{challenge, redaction, schema_cost, template};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

/// A template and a URI made of the same few characters.
fn templates() -> impl Strategy<Value = (String, String)> {
    let part = select(vec!["{a}", "{+a}", "{?a,b}", "{/a}", "{", "}", "/", "a", "b", "é", "*", "-"]);
    let uri = select(vec!["/", "a", "b", "é", "*", "-", "?a=1"]);
    (vec(part, 0..9), vec(uri, 0..12)).prop_map(|(parts, uri)| (parts.concat(), uri.concat()))
}

fn name() -> impl Strategy<Value = String> {
    let known = select(vec![
        "password",
        "passWord",
        "ｐass-word",
        "p_a_s_s",
        "api key",
        "APIKEY",
        "_",
        "x-auth",
        "a",
    ]);
    prop_oneof![4 => known.prop_map(str::to_owned), 1 => ".{0,4}"]
}

fn arguments() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|truth| json!(truth)),
        any::<f64>().prop_map(|number| json!(number)),
        "[\\[{\"]?.{0,8}".prop_map(|text| json!(text)),
    ];
    leaf.prop_recursive(5, 30, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::Array),
            vec((name(), inner.clone()), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
            inner.clone().prop_map(|value| json!(value.to_string())),
            inner.prop_map(|value| json!(format!("\u{feff} {value:#} "))),
        ]
    })
}

/// Schemas with keywords that refer to others, some in circles.
fn schema() -> impl Strategy<Value = Value> {
    let leaf = select(vec![
        json!(true),
        json!(false),
        json!({}),
        json!({ "type": "string", "minLength": 1, "maxLength": 9 }),
        json!({ "type": ["integer", "null"] }),
        json!({ "$ref": "#" }),
        json!({ "$ref": "#/$defs/a" }),
        json!({ "$ref": "#/properties/a" }),
        json!({ "pattern": "^(a|b)*$" }),
        json!({ "pattern": "(?=a)a" }),
        json!({ "enum": [1, "a", null, [1, 2], { "a": 1 }] }),
        json!({ "const": { "a": [1, 2, 3] } }),
        json!({ "format": "date-time" }),
        json!({ "uniqueItems": true, "minItems": 1 }),
        json!({ "required": ["a", "b", "c"], "minProperties": 1 }),
        json!({ "minimum": 0, "multipleOf": 2 }),
    ]);
    let schema = leaf.prop_recursive(4, 40, 5, |inner| {
        let list = vec(inner.clone(), 1..4);
        let one = select(vec![
            "not",
            "if",
            "then",
            "else",
            "items",
            "contains",
            "additionalProperties",
            "propertyNames",
            "unevaluatedProperties",
            "unevaluatedItems",
            "additionalItems",
        ]);
        let many = select(vec!["allOf", "anyOf", "oneOf", "prefixItems"]);
        let named = select(vec!["properties", "patternProperties", "dependentSchemas", "$defs"]);
        let keyword = prop_oneof![
            (one, inner.clone()).prop_map(|(keyword, schema)| (keyword, schema)),
            (many, list.clone()).prop_map(|(keyword, list)| (keyword, Value::Array(list))),
            (named, list).prop_map(|(keyword, list)| {
                (keyword, Value::Object(["a", "b", "c"].map(str::to_owned).into_iter().zip(list).collect()))
            }),
        ];
        vec(keyword, 1..4).prop_map(|members| {
            Value::Object(members.into_iter().map(|(keyword, value)| (keyword.to_owned(), value)).collect())
        })
    });
    (schema.clone(), schema).prop_map(|(mut schema, def)| {
        if let Some(members) = schema.as_object_mut() {
            members.insert("$defs".to_owned(), json!({ "a": def }));
        }
        schema
    })
}

/// Arguments with names that the schemas define.
fn instance() -> impl Strategy<Value = Value> {
    let leaf =
        select(vec![json!(null), json!(1), json!(-2.5), json!("a"), json!("abab"), json!(true), json!([])]);
    leaf.prop_recursive(5, 40, 5, |inner| {
        let names = select(vec!["a", "b", "c", "d"]);
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::Array),
            vec((names, inner), 0..5).prop_map(|members| {
                Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn challenges_are_found_and_nothing_else(
        value in "([Bb]earer |Basic |[a-z_]{1,6}=|\"|\\\\|, |.{0,4}){0,12}",
        parts in vec("[ -~é]{0,12}", 3),
    ) {
        challenge::any(&value);
        challenge::hidden(&parts[0]);
        challenge::written(&parts[0], &parts[1], &parts[2]);
    }

    #[test]
    fn templates_cover_what_a_naive_matching_does((template, uri) in templates(), values in vec(".{0,6}", 0..4)) {
        template::check(&template, &uri);
        template::expanded(&template, &values.iter().map(String::as_str).collect::<Vec<_>>());
    }

    #[test]
    fn what_rules_cover_is_covered_and_nothing_else(
        rules in vec(prop_oneof![name(), Just("x-*".to_owned()), Just("p?ss*".to_owned())], 0..4),
        value in arguments(),
    ) {
        redaction::check(&rules, &value.to_string());
        redaction::check(&rules, &format!("{value:#}"));
    }

    #[test]
    fn a_check_costs_no_more_than_was_counted(schema in schema(), mut value in instance()) {
        schema_cost::check(&schema, &value.to_string());
        schema_cost::lengthen(&mut value, &mut 80_000);
        schema_cost::check(&schema, &value.to_string());
    }
}
