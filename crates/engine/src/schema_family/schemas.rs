//! Schemas in JSON Schema for families that refuse some keywords: a keyword stays unless the family refuses it, or its value is
//! not well-formed. This module must not know which families exist.

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use super::SchemaFamily;
use super::conjunction::{Combining, Conjunction};
use super::document::{Budget, MAX_DEPTH, SchemaDocument};
use super::family::References;
use super::keywords::{KeywordContent, TYPES, holds, is_schema, is_well_formed, types};
use super::lint_keywords::{COMBINATORS, REFERENCES};
use super::one_type::{conjoined, merged_types};
use super::phrases::{described, unnamed};
use super::root::Root;
use super::tuples::untupled;
use super::well_formed::repaired;

/// The keywords that only references need.
const TARGETS: [&str; 4] = ["$defs", "definitions", "$anchor", "$id"];

/// The writer of one schema.
pub(super) struct SchemaWriter<'d, 'a> {
    family: &'static SchemaFamily,
    document: &'d SchemaDocument<'a>,
    /// True if references are replaced with the schemas that they refer to.
    inlines: bool,
    budget: Budget,
    /// The schemas that are being written.
    open: Vec<&'a Value>,
    /// The maximum number of nested references to follow, and the number of references that are being followed.
    levels: usize,
    level: usize,
}

impl<'d, 'a> SchemaWriter<'d, 'a> {
    /// A writer that follows references nested up to `levels` deep; without `levels`, references are kept.
    pub(super) fn new(
        family: &'static SchemaFamily,
        document: &'d SchemaDocument<'a>,
        levels: Option<usize>,
    ) -> Self {
        let (inlines, levels) = (levels.is_some(), levels.unwrap_or_default());
        Self { family, document, inlines, budget: Budget::new(), open: Vec::new(), levels, level: 0 }
    }

    /// The root: an object, without the keywords that the family refuses there.
    pub(super) fn root(&mut self) -> Value {
        let Some(node) = self.document.root.as_object() else {
            return json!({ "type": "object", "properties": {} });
        };
        let excludes = self.family.root_excludes;
        let is_refused = |key: &&str| excludes.contains(key) && COMBINATORS.contains(key);
        let merges = node.keys().any(|key| is_refused(&key.as_str())) || node.contains_key("$ref");
        if !merges {
            let mut out = self.node(node.iter().map(|(key, value)| (key.as_str(), value)), node, 0);
            out.retain(|key, _| !excludes.contains(&key.as_str()));
            return self.as_root(out);
        }
        let root = Root::of(self.document, &mut self.budget, merges);
        self.open.push(self.document.root);
        self.open.extend(&root.entered);
        let kept = root
            .keywords
            .iter()
            .filter(|(key, _)| !excludes.contains(key) && !key.starts_with("unevaluated"));
        let mut out = self.keywords(kept.map(|(key, value)| (*key, *value)), 0);
        if !root.required.is_empty() {
            out.insert("required".to_owned(), root.required.iter().map(|name| Value::from(*name)).collect());
        }
        if root.has_properties {
            let mut properties = Map::new();
            for (name, alternatives) in &root.properties {
                properties.insert((*name).to_owned(), self.argument(alternatives));
            }
            out.insert("properties".to_owned(), properties.into());
        }
        self.settle(&mut out, None);
        self.as_root(out)
    }

    fn as_root(&self, mut out: Map<String, Value>) -> Value {
        let is_object = out.get("type").is_some_and(|kind| kind == "object");
        if !is_object {
            out.insert("type".to_owned(), "object".into());
        }
        for property in
            out.get_mut("properties").and_then(Value::as_object_mut).into_iter().flat_map(Map::values_mut)
        {
            match property {
                Value::Bool(true) => *property = json!({}),
                Value::Bool(false) => *property = json!({ "not": {} }),
                _ => {}
            }
        }
        if self.family.needs_root_properties && !out.contains_key("properties") {
            out.insert("properties".to_owned(), json!({}));
        }
        out.into()
    }

    /// The schema of an argument with alternatives.
    fn argument(&mut self, alternatives: &[&'a Value]) -> Value {
        let mut written: Vec<Value> = alternatives.iter().map(|schema| self.schema(schema, 1)).collect();
        written.dedup();
        match written.len() {
            1 => written.pop().unwrap_or_default(),
            _ if self.family.excludes_combinators() => Value::Object(merged_types(written)),
            _ => json!({ "anyOf": written }),
        }
    }

    /// Writes a schema at any position.
    fn schema(&mut self, schema: &'a Value, depth: usize) -> Value {
        let node = match schema {
            Value::Object(node) => node,
            Value::Bool(truth) => return Value::Bool(*truth),
            _ => return json!({}),
        };
        if depth >= MAX_DEPTH || self.open.len() > 4 * MAX_DEPTH || !self.budget.takes_node() {
            return self.outline(node);
        }
        let inlines = self.inlines && node.contains_key("$ref");
        let has_combinator = inlines || COMBINATORS.iter().any(|key| node.contains_key(*key));
        let combines = self.family.excludes_combinators() && has_combinator;
        if !combines && !inlines {
            return self.node(node.iter().map(|(key, value)| (key.as_str(), value)), node, depth).into();
        }
        let how = Combining { document: self.document, open: &self.open, merges_all_of: combines };
        let mut all = Conjunction::of(schema, how);
        self.budget.spend(all.weight);
        if all.is_nothing {
            return Value::Bool(false);
        }
        let (outer, level) = (self.open.len(), self.level);
        self.level += usize::from(!all.entered.is_empty());
        let too_deep = all.entered.first().copied().filter(|_| self.inlines && self.level > self.levels);
        if let Some(target) = all.cycle.or(too_deep).and_then(Value::as_object) {
            self.level = level;
            return self.outline(target);
        }
        self.open.push(schema);
        self.open.extend(&all.entered);
        let alternatives = if combines { self.alternatives(&mut all, depth) } else { None };
        all.keywords.retain(|key, _| !key.starts_with("unevaluated"));
        let mut out = self.keywords(all.keywords.iter().map(|(key, value)| (*key, *value)), depth);
        self.members(&all, depth, &mut out);
        self.open.truncate(outer);
        self.level = level;
        if let Some(alternatives) = alternatives {
            out = conjoined(out, alternatives);
        }
        self.settle(&mut out, None);
        out.into()
    }

    /// Adds `properties` and `required` of combined schemas.
    fn members(&mut self, all: &Conjunction<'a>, depth: usize, out: &mut Map<String, Value>) {
        if let Some(properties) = &all.properties {
            let mut written = Map::new();
            for (name, property) in properties {
                written.insert((*name).to_owned(), self.schema(property, depth + 1));
            }
            out.insert("properties".to_owned(), written.into());
        }
        if !all.required.is_empty() {
            out.insert("required".to_owned(), all.required.iter().map(|name| Value::from(*name)).collect());
        }
    }

    /// The alternatives of a schema as one node, for families without combinators.
    fn alternatives(&mut self, all: &mut Conjunction<'a>, depth: usize) -> Option<Map<String, Value>> {
        let lists = ["anyOf", "oneOf"].map(|key| all.keywords.shift_remove(key));
        let list = lists.into_iter().flatten().find_map(Value::as_array)?;
        let written: Vec<Value> = list.iter().map(|schema| self.schema(schema, depth)).collect();
        Some(merged_types(written))
    }

    /// A node that is written keyword by keyword.
    fn node(
        &mut self,
        members: impl Iterator<Item = (&'a str, &'a Value)>,
        original: &'a Map<String, Value>,
        depth: usize,
    ) -> Map<String, Value> {
        let mut out = self.keywords(members, depth);
        self.settle(&mut out, Some(original));
        out
    }

    fn keywords(
        &mut self,
        members: impl Iterator<Item = (&'a str, &'a Value)>,
        depth: usize,
    ) -> Map<String, Value> {
        let members: IndexMap<&str, &'a Value> = members.collect();
        let mut out = Map::new();
        for (key, value) in &members {
            let is_target = self.inlines && TARGETS.contains(key);
            if !is_target && !self.loses(key, value) {
                self.keyword(key, value, depth, &mut out);
            }
        }
        out
    }

    /// Returns true for a reference that must be removed, because references are replaced with their targets, or
    /// because the family requires a target and there is none.
    fn loses(&self, key: &str, value: &Value) -> bool {
        let leads = || value.as_str().is_some_and(|reference| self.document.target(reference).is_some());
        let matters = self.family.references == References::Resolvable && key == "$ref";
        REFERENCES.contains(&key) && (self.inlines || (matters && !leads()))
    }

    fn keyword(&mut self, key: &'a str, value: &'a Value, depth: usize, out: &mut Map<String, Value>) {
        let written = match (holds(key), value) {
            (KeywordContent::Schema | KeywordContent::SchemaOrSchemas, schema) if is_schema(schema) => {
                self.schema(schema, depth + 1)
            }
            (KeywordContent::Schemas | KeywordContent::SchemaOrSchemas, Value::Array(list))
                if !list.is_empty() =>
            {
                list.iter().map(|schema| self.schema(schema, depth + 1)).collect()
            }
            (KeywordContent::Named, Value::Object(all)) => {
                let named = all.iter().map(|(name, schema)| (name.clone(), self.schema(schema, depth + 1)));
                Value::Object(named.collect())
            }
            (KeywordContent::Dependencies, Value::Object(all)) => {
                let named =
                    all.iter().filter(|(_, one)| is_well_formed("dependencies", &json!({ "a": one }), true));
                let named: Vec<(&'a String, &'a Value)> = named.collect();
                let one = |(name, one): (&'a String, &'a Value)| {
                    let written =
                        if is_schema(one) { self.schema(one, depth + 1) } else { self.budget.copy(one) };
                    (name.clone(), written)
                };
                Value::Object(named.into_iter().map(one).collect())
            }
            (KeywordContent::Nothing, _) => match repaired(key, value) {
                Some(written) => written,
                None if key == "default"
                    && self.family.references != References::Any
                    && super::keywords::contains_reference(value) =>
                {
                    return;
                }
                None if is_well_formed(key, value, true) || key.starts_with("exclusive") => {
                    self.budget.copy(value)
                }
                None => return,
            },
            _ => return,
        };
        out.insert(key.to_owned(), written);
    }

    /// Adjusts the parts that depend on several keywords: bounds of older drafts, lists, and keywords that accept
    /// less if a schema in them accepts more.
    fn settle(&self, out: &mut Map<String, Value>, original: Option<&'a Map<String, Value>>) {
        for (bound, excluded) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
            if out.get(excluded).is_some_and(|excluded| !excluded.is_number())
                && out.shift_remove(excluded) == Some(Value::Bool(true))
                && let Some(bound) = out.shift_remove(bound)
            {
                out.insert(excluded.to_owned(), bound);
            }
        }
        if !self.family.arrays.allows_tuples {
            untupled(out);
        }
        self.drop_refused_arguments(out);
        let lacks_items = matches!(out.get("items"), None | Some(Value::Bool(false)));
        if self.family.arrays.needs_items && lacks_items && types(out).contains(&"array") {
            out.insert("items".to_owned(), json!({}));
        }
        let is_same =
            |key: &str, out: &Map<String, Value>| original.and_then(|node| node.get(key)) == out.get(key);
        if !is_same("not", out) {
            out.shift_remove("not");
        }
        if !is_same("if", out) {
            out.retain(|key, _| !matches!(key.as_str(), "if" | "then" | "else"));
        }
        if !is_same("contains", out) {
            out.shift_remove("maxContains");
        }
        if !is_same("oneOf", out)
            && let Some(list) = out.shift_remove("oneOf")
        {
            out.entry("anyOf").or_insert(list);
        }
        let depends = |key: &str| key.starts_with("unevaluated");
        if out.keys().any(|key| depends(key)) {
            let keys = |node: &Map<String, Value>| {
                node.keys().filter(|key| !depends(key)).cloned().collect::<Vec<_>>()
            };
            let is_unchanged = |node| keys(node).iter().chain(&keys(out)).all(|key| is_same(key, out));
            if !original.is_some_and(is_unchanged) {
                out.retain(|key, _| !depends(key));
            }
        }
    }

    /// Leaves out the arguments whose names the family refuses, and lists these names in the description.
    fn drop_refused_arguments(&self, out: &mut Map<String, Value>) {
        let Some(properties) = out.get_mut("properties").and_then(Value::as_object_mut) else { return };
        let refused: Vec<String> =
            properties.keys().filter(|name| !self.family.admits_argument(name)).cloned().collect();
        if refused.is_empty() {
            return;
        }
        properties.retain(|name, _| !refused.contains(name));
        out.retain(|key, _| key != "additionalProperties" && !key.starts_with("unevaluated"));
        if let Some(Value::Array(required)) = out.get_mut("required") {
            required
                .retain(|name| !name.as_str().is_some_and(|name| refused.iter().any(|other| other == name)));
        }
        let phrase = unnamed(refused.iter().map(String::as_str));
        let own = out.get("description").and_then(Value::as_str);
        let text = described(own, phrase.as_slice());
        out.extend(text.map(|text| ("description".to_owned(), text.into())));
    }

    /// The type and description of a node, without its structure.
    fn outline(&self, node: &'a Map<String, Value>) -> Value {
        let mut node = node;
        for _ in 0..8 {
            match self.document.referred(node).and_then(Value::as_object) {
                Some(target) if !node.contains_key("type") => node = target,
                _ => break,
            }
        }
        match node.get("type").and_then(Value::as_str).filter(|kind| TYPES.contains(kind)) {
            Some("array") => json!({ "type": "array", "items": {} }),
            Some(kind) => json!({ "type": kind }),
            None => json!({}),
        }
    }
}
