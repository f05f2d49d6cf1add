//! Properties of random schemas: the form is accepted by its family, does not change if it is rewritten again, and accepts
//! every argument that the original accepts.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, json};

use super::*;

/// Values for arguments, of all types.
fn value() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        (-3i64..6).prop_map(Value::from),
        select(vec![0.5, 1.0, 4.25]).prop_map(|number| json!(number)),
        select(vec!["", "a", "b", "abc"]).prop_map(|text| json!(text)),
    ];
    let inner = leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![vec(inner.clone(), 0..3).prop_map(Value::Array), object(inner)]
    });
    inner.boxed()
}

fn name() -> impl Strategy<Value = String> {
    select(vec!["a", "b", "c", "type", "enum"]).prop_map(str::to_owned)
}

fn object(inner: impl Strategy<Value = Value> + 'static) -> BoxedStrategy<Value> {
    vec((name(), inner), 0..4).prop_map(|members| Value::Object(members.into_iter().collect())).boxed()
}

/// Keywords that belong to a type, as schemas write them.
fn typed() -> BoxedStrategy<Value> {
    let text = (
        select(vec![
            json!({}),
            json!({ "minLength": 1 }),
            json!({ "format": "uri" }),
            json!({ "pattern": "^a" }),
        ]),
        any::<bool>(),
    );
    let text = text.prop_map(|(more, null)| {
        merged(json!({ "type": if null { json!(["string", "null"]) } else { json!("string") } }), more)
    });
    let number = (
        select(vec!["integer", "number"]),
        select(vec![
            json!({}),
            json!({ "exclusiveMinimum": 0 }),
            json!({ "maximum": 2, "exclusiveMaximum": 3 }),
            json!({ "multipleOf": 2 }),
        ]),
    );
    let number = number.prop_map(|(kind, more)| merged(json!({ "type": kind }), more));
    let listed = select(vec![
        json!({ "enum": ["a", "b"] }),
        json!({ "enum": ["", "a", null] }),
        json!({ "enum": [1, 2.5, "a", true] }),
        json!({ "const": "a" }),
        json!({ "const": 1 }),
        json!({ "const": null }),
        json!({ "type": "boolean" }),
        json!({ "type": ["string", "integer", "null"] }),
        json!({ "type": "array" }),
        json!({ "type": "object" }),
        json!({ "type": "null" }),
        json!({}),
        json!(true),
        json!(false),
        json!({ "$ref": "#/$defs/d" }),
        json!({ "$ref": "#/$defs/e", "description": "x" }),
        json!({ "$ref": "#" }),
    ]);
    prop_oneof![3 => text, 2 => number, 3 => listed].boxed()
}

fn merged(mut one: Value, other: Value) -> Value {
    if let (Value::Object(one), Value::Object(other)) = (&mut one, other) {
        one.extend(other);
    }
    one
}

/// Schemas, some of which contain other schemas.
fn schema() -> BoxedStrategy<Value> {
    let all = typed().prop_recursive(4, 24, 3, |inner| {
        let properties = vec((name(), inner.clone()), 0..4).prop_map(|all| Value::Object(all.into_iter().collect()));
        let object = (properties, vec(name(), 0..2), any::<bool>(), any::<bool>()).prop_map(|(properties, required, closed, null)| {
            let kind = if null { json!(["object", "null"]) } else { json!("object") };
            let mut out = json!({ "type": kind, "properties": properties });
            let mut required = required;
            required.dedup();
            out["required"] = required.into();
            if closed {
                out["additionalProperties"] = false.into();
            }
            out
        });
        let few = vec(inner.clone(), 1..4);
        let array = (inner.clone(), vec(inner.clone(), 1..3), 0..4usize).prop_map(|(item, first, how)| match how {
            0 => json!({ "type": "array", "items": item, "uniqueItems": true }),
            1 => json!({ "type": "array", "prefixItems": first }),
            2 => json!({ "type": "array", "prefixItems": first, "items": item }),
            _ => json!({ "type": "array", "prefixItems": first, "maxItems": 1 }),
        });
        let combined = (select(vec!["anyOf", "oneOf", "allOf"]), few, typed(), any::<bool>()).prop_map(|(key, few, beside, alone)| {
            let mut out = if alone { json!({}) } else { beside };
            if let Value::Object(out) = &mut out {
                out.insert(key.to_owned(), few.into());
            }
            out
        });
        let rest = (select(vec!["not", "if", "contains", "propertyNames"]), inner.clone(), inner).prop_map(|(key, one, other)| {
            json!({ key: one, "then": other, "maxContains": 1, "unevaluatedProperties": false, "type": ["object", "array", "string"] })
        });
        prop_oneof![4 => object, 2 => array, 3 => combined, 1 => rest]
    });
    all.boxed()
}

/// Input schemas: an object at the root, sometimes with alternatives.
fn input() -> BoxedStrategy<Value> {
    let arguments = vec((name(), schema()), 0..4).prop_map(|all| all.into_iter().collect::<Map<_, _>>());
    let branch = (vec((name(), schema()), 0..3), vec(name(), 0..2)).prop_map(|(all, mut required)| {
        required.dedup();
        json!({ "type": "object", "properties": all.into_iter().collect::<Map<_, _>>(), "required": required })
    });
    let rest = (select(vec!["", "anyOf", "oneOf", "allOf"]), vec(branch, 1..4), schema(), schema());
    (arguments, rest)
        .prop_map(|(arguments, (key, branches, d, e))| {
            let mut out = json!({ "type": "object", "properties": arguments, "$defs": { "d": d, "e": e } });
            if !key.is_empty() {
                out[key] = branches.into();
                // Arguments that no alternative defines are excluded.
                out["unevaluatedProperties"] = false.into();
            }
            out
        })
        .boxed()
}

/// A schema with the meaning that its family gives it: `nullable` adds null, and the schema for any value accepts any value.
fn meaning(schema: &Value) -> Value {
    match schema {
        Value::Array(all) => all.iter().map(meaning).collect(),
        Value::Object(node) => {
            let kinds: Vec<&Value> = node
                .get("anyOf")
                .and_then(Value::as_array)
                .map(|all| all.iter().map(|one| &one["type"]).collect())
                .unwrap_or_default();
            if kinds.len() >= 4
                && ["string", "number", "boolean", "object"].iter().all(|kind| kinds.contains(&&json!(kind)))
            {
                return json!({});
            }
            let mut out: Map<String, Value> = node
                .iter()
                .map(|(key, value)| {
                    let written = match (key.as_str(), value) {
                        ("enum" | "default" | "const", _) => value.clone(),
                        ("properties", Value::Object(all)) => Value::Object(
                            all.iter().map(|(name, one)| (name.clone(), meaning(one))).collect(),
                        ),
                        _ => meaning(value),
                    };
                    (key.clone(), written)
                })
                .collect();
            if out.remove("nullable") == Some(json!(true)) {
                return json!({ "anyOf": [out, { "type": "null" }] });
            }
            out.into()
        }
        other => other.clone(),
    }
}

fn validator(schema: &Value) -> Option<jsonschema::Validator> {
    jsonschema::options().build(schema).ok()
}

proptest! {
    #[test]
    fn the_form_is_accepted_and_accepts_what_the_original_accepts(schema in input(), arguments in vec(object(value()), 1..12)) {
        let original = validator(&schema);
        for family in families() {
            let suited = suit(family, schema.to_string().as_bytes(), false);
            prop_assert!(!matches!(suited, FamilySchema::Widened(_)), "{}: {schema}", family.name);
            let written = form(family.name, &schema);
            let found = lint(family, written.to_string().as_bytes(), false, 9);
            prop_assert!(found.iter().all(|found| !found.rule.is_repairable()), "{}: {found:?}\n{schema}\n{written}", family.name);
            prop_assert_eq!(suit(family, written.to_string().as_bytes(), false), FamilySchema::AsReceived);
            let wider = validator(&meaning(&written));
            prop_assert!(wider.is_some(), "{}: {written}", family.name);
            let (Some(original), Some(wider)) = (&original, wider) else { continue };
            for arguments in arguments.iter().filter(|arguments| original.is_valid(arguments)) {
                prop_assert!(wider.is_valid(arguments), "{}: {arguments}\n{schema}\n{written}", family.name);
            }
        }
    }

    #[test]
    fn every_family_accepts_the_portable_form_but_cursor_refuses_alternatives(schema in input()) {
        let written = form("portable", &schema);
        for family in SchemaFamily::ALL {
            let found = lint(family, written.to_string().as_bytes(), false, 64);
            let is_known = |rule: SchemaRule| family.name == "cursor" && rule == SchemaRule::Combinator;
            let refused = found.iter().find(|found| found.rule.is_repairable() && !is_known(found.rule));
            prop_assert!(refused.is_none(), "{}: {refused:?}\n{schema}\n{written}", family.name);
        }
    }

    #[test]
    fn nothing_panics_and_everything_is_accepted_in_the_end(text in any_json()) {
        for family in families() {
            let suited = suit(family, text.to_string().as_bytes(), true);
            let written = suited.schema().map_or_else(|| text.to_string(), str::to_owned);
            let found = lint(family, written.as_bytes(), true, 9);
            prop_assert!(found.iter().all(|found| !found.rule.is_repairable()), "{}: {found:?}\n{text}\n{written}", family.name);
        }
    }
}

/// Keywords, and names that are not keywords.
const KEYS: [&str; 34] = [
    "type",
    "properties",
    "required",
    "items",
    "prefixItems",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "if",
    "then",
    "enum",
    "const",
    "$ref",
    "$defs",
    "definitions",
    "$anchor",
    "$id",
    "$schema",
    "minimum",
    "exclusiveMinimum",
    "minLength",
    "format",
    "description",
    "title",
    "additionalProperties",
    "patternProperties",
    "nullable",
    "x-mcp-header",
    "dependencies",
    "dependentRequired",
    "unevaluatedItems",
    "a",
    "",
];

/// JSON that looks like schemas, but is mostly wrong.
fn any_json() -> BoxedStrategy<Value> {
    let key = select(KEYS.to_vec());
    let leaf = select(vec![
        json!("object"),
        json!("array"),
        json!("string"),
        json!("null"),
        json!("#"),
        json!("#/a"),
        json!("#/properties/a"),
        json!("https://x/"),
        json!(null),
        json!(true),
        json!(false),
        json!(0),
        json!(-1),
        json!(1.5),
        json!(""),
        json!([]),
        json!({}),
        json!(["a", "a"]),
        json!(["string", "null"]),
        json!("http://json-schema.org/draft-07/schema#"),
    ]);
    leaf.prop_recursive(6, 48, 5, move |inner| {
        prop_oneof![
            1 => vec(inner.clone(), 0..4).prop_map(Value::Array),
            4 => vec((key.clone(), inner), 0..6).prop_map(|all| Value::Object(all.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())),
        ]
    })
    .boxed()
}
