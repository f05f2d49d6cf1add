//! Tests of forms: single rules by example, attacks, and properties of random schemas.

mod attacks;
mod examples;
mod mirrors;
mod properties;

use config::SchemaForm;
use serde_json::Value;

use super::*;

/// The family with this name.
fn family(name: &str) -> &'static SchemaFamily {
    let form = SchemaForm::ALL.iter().find(|(word, _)| *word == name).unwrap();
    SchemaFamily::of(form.1).unwrap()
}

/// All families, and the portable form.
fn families() -> impl Iterator<Item = &'static SchemaFamily> {
    SchemaForm::ALL.iter().filter_map(|(_, form)| SchemaFamily::of(*form))
}

/// A schema in the form of a family.
fn form(name: &str, schema: &Value) -> Value {
    let suited = suit(family(name), schema.to_string().as_bytes(), false);
    suited.schema().map_or_else(|| schema.clone(), |schema| serde_json::from_str(schema).unwrap())
}

/// The rules that a schema breaks.
fn broken(name: &str, schema: &Value) -> Vec<&'static str> {
    let mut rules: Vec<&str> = lint(family(name), schema.to_string().as_bytes(), false, 64)
        .iter()
        .map(|found| found.rule.id())
        .collect();
    rules.sort_unstable();
    rules.dedup();
    rules
}
