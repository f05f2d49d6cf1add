//! Nodes of one type in the language with a fixed set of fields. This module must not know how alternatives are combined.

use serde_json::{Map, Number, Value};

use super::alternatives::free_item;
use super::conjunction::Conjunction;
use super::fields::FieldsWriter;
use super::keywords::is_well_formed;
use super::lint_fields::has_format;
use super::phrases::{labelled, unnamed, values};

/// A node and the constraints that it cannot express.
type Branch = (Map<String, Value>, Vec<String>);

/// The types that a schema names; `None` if it names none that exist.
pub(super) fn declared<'a>(all: &Conjunction<'a>) -> Option<Vec<&'a str>> {
    let named: Vec<&str> = match all.get("type")? {
        Value::String(one) => vec![one],
        Value::Array(many) => many.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let mut kinds: Vec<&str> = Vec::new();
    for kind in super::keywords::TYPES {
        if named.iter().any(|name| name.eq_ignore_ascii_case(kind)) {
            kinds.push(kind);
        }
    }
    // Types keep the order in which the schema names them, as far as it uses their usual spelling.
    kinds.sort_by_key(|kind| named.iter().position(|name| name == kind));
    (!kinds.is_empty()).then_some(kinds)
}

/// The types that follow from the other keywords of a schema; `None` if nothing follows.
pub(super) fn inferred(all: &Conjunction<'_>) -> Option<Vec<&'static str>> {
    let has = |keys: &[&str]| keys.iter().any(|key| all.get(key).is_some());
    if let Some(value) = all.get("const") {
        return Some(vec![kind_of(value)]);
    }
    if let Some(Value::Array(listed)) = all.get("enum") {
        let mut kinds: Vec<&str> = listed.iter().map(kind_of).collect();
        kinds.sort_unstable();
        kinds.dedup();
        return (!kinds.is_empty()).then_some(kinds);
    }
    if all.properties.is_some() || !all.required.is_empty() || has(&["patternProperties", "propertyNames"]) {
        return Some(vec!["object"]);
    }
    if has(&["items", "prefixItems", "minItems", "maxItems", "uniqueItems"]) {
        return Some(vec!["array"]);
    }
    if has(&["pattern", "minLength", "maxLength"]) {
        return Some(vec!["string"]);
    }
    has(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]).then(|| vec!["number"])
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_i64() || number.is_u64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The constraints that no node of this language can express.
pub(super) fn phrases(all: &Conjunction<'_>, kind: Option<&str>) -> Vec<String> {
    let mut phrases = Vec::new();
    if let Some(format) = all.get("format")
        && !kind.is_some_and(|kind| format.as_str().is_some_and(|format| has_format(kind, format)))
    {
        phrases.extend(labelled("format:", format));
    }
    for (key, label) in [
        ("exclusiveMinimum", "greater than"),
        ("exclusiveMaximum", "less than"),
        ("multipleOf", "a multiple of"),
        ("contentEncoding", "encoding:"),
    ] {
        phrases.extend(
            all.get(key).filter(|value| !value.is_boolean()).and_then(|value| labelled(label, value)),
        );
    }
    if all.get("uniqueItems") == Some(&Value::Bool(true)) {
        phrases.push("without duplicates".to_owned());
    }
    if let Some(Value::Array(examples)) = all.get("examples") {
        phrases.extend(values("for example", &examples[..examples.len().min(3)]));
    }
    if all.get("deprecated") == Some(&Value::Bool(true)) {
        phrases.push("deprecated".to_owned());
    }
    phrases
}

impl<'a> FieldsWriter<'_, 'a> {
    /// A node for one type of a schema, with the constraints that it cannot express; `None` if no value has this type.
    pub(super) fn branch(&mut self, all: &Conjunction<'a>, kind: &str, depth: usize) -> Option<Branch> {
        let mut out = Map::from_iter([("type".to_owned(), kind.into())]);
        let mut phrases = Vec::new();
        if let Some(Value::String(format)) = all.get("format")
            && has_format(kind, format)
        {
            out.insert("format".to_owned(), format.as_str().into());
        }
        self.list_values(all, kind, &mut out, &mut phrases)?;
        match kind {
            "string" => self.keep(all, &["pattern", "minLength", "maxLength"], &mut out),
            "number" | "integer" => {
                bound(all, kind, ("minimum", "exclusiveMinimum", 1), &mut out);
                bound(all, kind, ("maximum", "exclusiveMaximum", -1), &mut out);
            }
            "array" => {
                let items = self.items(all, depth);
                out.insert("items".to_owned(), items);
                self.keep(all, &["minItems", "maxItems"], &mut out);
            }
            "object" => self.object(all, depth, &mut out, &mut phrases),
            _ => {}
        }
        Some((out, phrases))
    }

    fn keep(&mut self, all: &Conjunction<'a>, keys: &[&str], out: &mut Map<String, Value>) {
        for key in keys {
            if let Some(value) = all.get(key).filter(|value| is_well_formed(key, value, false)) {
                out.insert((*key).to_owned(), self.budget.copy(value));
            }
        }
    }

    /// Adds the listed values of this type; `None` if there are values, but none of this type. Only texts can be listed, and an
    /// empty text cannot.
    fn list_values(
        &mut self,
        all: &Conjunction<'a>,
        kind: &str,
        out: &mut Map<String, Value>,
        phrases: &mut Vec<String>,
    ) -> Option<()> {
        let listed: Vec<&Value> = match (all.get("const"), all.get("enum")) {
            (Some(only), _) => vec![only],
            (None, Some(Value::Array(listed))) if !listed.is_empty() => listed.iter().collect(),
            _ => return Some(()),
        };
        self.budget.spend(listed.len());
        let is_of = |value: &&Value| match kind_of(value) {
            "integer" => matches!(kind, "integer" | "number"),
            // `1.0` is an integer.
            "number" => matches!(kind, "integer" | "number"),
            other => other == kind,
        };
        let own: Vec<&Value> = listed.into_iter().filter(is_of).collect();
        if own.is_empty() {
            return None;
        }
        if kind == "string" && own.iter().all(|value| value.as_str() != Some("")) {
            let own = own.into_iter().map(|value| self.budget.copy(value)).filter(Value::is_string);
            let mut texts: Vec<Value> = own.collect();
            let mut seen = std::collections::HashSet::new();
            texts.retain(|text| seen.insert(text.to_string()));
            if !texts.is_empty() {
                out.insert("enum".to_owned(), texts.into());
            }
        } else if matches!(kind, "string" | "number" | "integer" | "boolean") {
            let few: Vec<Value> = own.into_iter().take(32).map(|value| self.budget.copy(value)).collect();
            phrases.extend(values(if few.len() == 1 { "always" } else { "one of" }, &few));
        }
        Some(())
    }

    /// The schema of a list's items. If the first items of the list have schemas of their own, the result accepts items of all
    /// these schemas.
    fn items(&mut self, all: &Conjunction<'a>, depth: usize) -> Value {
        let (first, rest) = match (all.get("prefixItems"), all.get("items")) {
            (Some(Value::Array(first)), rest) => (first.as_slice(), rest),
            (_, Some(Value::Array(first))) => (first.as_slice(), all.get("additionalItems")),
            (_, only) => (&[][..], only),
        };
        let most = all.get("maxItems").and_then(Value::as_u64);
        let is_closed = rest == Some(&Value::Bool(false))
            || most.is_some_and(|most| most <= first.len() as u64 && !first.is_empty());
        let rest = rest.filter(|_| !is_closed);
        if rest.is_none() && (!is_closed || first.is_empty()) {
            return free_item();
        }
        let mut either = super::alternatives::Alternatives::default();
        for schema in first.iter().chain(rest) {
            let item = self.alternatives(schema, depth + 1);
            either.join(item);
        }
        if either.is_free {
            return free_item();
        }
        either.written().unwrap_or_else(free_item)
    }

    fn object(
        &mut self,
        all: &Conjunction<'a>,
        depth: usize,
        out: &mut Map<String, Value>,
        phrases: &mut Vec<String>,
    ) {
        let mut properties = Map::new();
        let family = self.family;
        let refused = all.properties.iter().flatten().map(|(name, _)| *name);
        phrases.extend(unnamed(refused.filter(|name| !family.admits_argument(name))));
        let fine = all.properties.iter().flatten().filter(|(name, _)| family.admits_argument(name));
        for (name, schema) in fine {
            let either = self.alternatives(schema, depth + 1);
            if let Some(schema) = self.argument(either, all.required.contains(name)) {
                properties.insert((*name).to_owned(), schema);
            }
        }
        let required = all.required.iter().filter(|name| properties.contains_key(**name));
        let required: Vec<Value> = required.map(|name| (*name).into()).collect();
        if properties.is_empty() {
            phrases.push("free-form object".to_owned());
        } else {
            out.insert("properties".to_owned(), properties.into());
        }
        if !required.is_empty() {
            out.insert("required".to_owned(), required.into());
        }
        self.keep(all, &["minProperties", "maxProperties"], out);
    }
}

/// Adds a bound of a number. A bound that is excluded becomes the next integer, or is included.
fn bound(
    all: &Conjunction<'_>,
    kind: &str,
    (included, excluded, step): (&str, &str, i64),
    out: &mut Map<String, Value>,
) {
    let bound = all.get(included).and_then(Value::as_number);
    let next = |bound: &Number| match bound.as_i64().filter(|_| kind == "integer") {
        Some(whole) => whole.checked_add(step).map_or_else(|| bound.clone(), Number::from),
        None => bound.clone(),
    };
    let excluded = match all.get(excluded) {
        Some(Value::Number(excluded)) => Some(next(excluded)),
        // Older drafts: the other keyword's bound is excluded.
        Some(Value::Bool(true)) => bound.map(next),
        _ => None,
    };
    let of = |bound: &Number| bound.as_f64().unwrap_or_default();
    let sharper = match (bound, &excluded) {
        (Some(bound), Some(excluded)) if (step > 0) == (of(excluded) < of(bound)) => Some(bound.clone()),
        (_, Some(excluded)) => Some(excluded.clone()),
        (bound, None) => bound.cloned(),
    };
    if let Some(sharper) = sharper {
        out.insert(included.to_owned(), sharper.into());
    }
}
