//! Schemas in the language with a fixed set of fields: no references, one type for each node, alternatives only in `anyOf`. This
//! module must not know how a node of one type is written.

use serde_json::{Map, Value};

use super::SchemaFamily;
use super::alternatives::Alternatives;
use super::conjunction::{Combining, Conjunction};
use super::document::{Budget, MAX_DEPTH, SchemaDocument};
use super::phrases::{described, unnamed};
use super::root::Root;
use super::typed::{declared, inferred, phrases};

/// The number of nesting levels of the most complex schema without arguments: alternatives, a list, and
/// alternatives of its items.
const OUTLINE_DEPTH: usize = 4;

/// The writer of one schema.
pub(super) struct FieldsWriter<'d, 'a> {
    pub(super) family: &'static SchemaFamily,
    pub(super) document: &'d SchemaDocument<'a>,
    /// True if annotations for mirrored headers stay.
    pub(super) mirrors: bool,
    pub(super) budget: Budget,
    /// The schemas that are being written.
    open: Vec<&'a Value>,
    /// The maximum number of nested references to follow, and the number of references that are being followed.
    levels: usize,
    level: usize,
}

impl<'d, 'a> FieldsWriter<'d, 'a> {
    /// A writer that follows references nested up to `levels` deep.
    pub(super) fn new(
        family: &'static SchemaFamily,
        document: &'d SchemaDocument<'a>,
        mirrors: bool,
        levels: usize,
    ) -> Self {
        Self { family, document, mirrors, budget: Budget::new(), open: Vec::new(), levels, level: 0 }
    }

    /// The root: an object whose arguments are those of all alternatives.
    pub(super) fn root(&mut self) -> Value {
        let root = Root::of(self.document, &mut self.budget, true);
        self.open.push(self.document.root);
        self.open.extend(&root.entered);
        let mut out = Map::from_iter([("type".to_owned(), "object".into())]);
        for key in ["title", "description", "minProperties", "maxProperties"] {
            if let Some(value) =
                root.keywords.get(key).filter(|value| super::keywords::is_well_formed(key, value, false))
            {
                out.insert(key.to_owned(), self.budget.copy(value));
            }
        }
        let mut properties = Map::new();
        let (fine, refused): (Vec<_>, Vec<_>) =
            root.properties.iter().partition(|(name, _)| self.family.admits_argument(name));
        for (name, alternatives) in fine {
            let mut either = Alternatives::default();
            for schema in alternatives {
                either.join(self.alternatives(schema, 1));
            }
            if let Some(schema) = self.argument(either, root.required.contains(name)) {
                properties.insert((*name).to_owned(), schema);
            }
        }
        if let Some(phrase) = unnamed(refused.iter().map(|(name, _)| **name)) {
            let own = out.get("description").and_then(Value::as_str);
            let text = described(own, &[phrase]);
            out.extend(text.map(|text| ("description".to_owned(), text.into())));
        }
        let required = root.required.iter().filter(|name| properties.contains_key(**name));
        let required: Vec<Value> = required.map(|name| (*name).into()).collect();
        out.insert("properties".to_owned(), properties.into());
        if !required.is_empty() {
            out.insert("required".to_owned(), required.into());
        }
        out.into()
    }

    /// The schema of an argument; `None` if no value is accepted. For clients that ignore `nullable`, the
    /// description of a required argument states that the argument may be null.
    pub(super) fn argument(&self, mut either: Alternatives, is_required: bool) -> Option<Value> {
        if self.family.says_null && is_required && either.nullable {
            let first = either.branches.first();
            let own = first.and_then(|first| first.get("description")).and_then(Value::as_str);
            let text = described(own, &["may be null".to_owned()]);
            either.describe(text);
        }
        either.written()
    }

    /// The alternatives of a schema.
    pub(super) fn alternatives(&mut self, schema: &'a Value, depth: usize) -> Alternatives {
        if depth + OUTLINE_DEPTH > MAX_DEPTH || self.open.len() > 4 * MAX_DEPTH || !self.budget.takes_node() {
            return outline(schema, self.document);
        }
        let how = Combining { document: self.document, open: &self.open, merges_all_of: true };
        let all = Conjunction::of(schema, how);
        self.budget.spend(all.weight);
        if all.is_nothing {
            return Alternatives::default();
        }
        let (outer, level) = (self.open.len(), self.level);
        self.open.push(schema);
        self.open.extend(&all.entered);
        self.level += usize::from(!all.entered.is_empty());
        let too_deep = all.entered.first().copied().filter(|_| self.level > self.levels);
        let either = match all.cycle.or(too_deep) {
            Some(target) => {
                let mut either = outline(target, self.document);
                either.describe(described(all.get("description").and_then(Value::as_str), &[]));
                either
            }
            None => self.combined(&all, depth),
        };
        self.open.truncate(outer);
        self.level = level;
        either
    }

    fn combined(&mut self, all: &Conjunction<'a>, depth: usize) -> Alternatives {
        let list = ["anyOf", "oneOf"]
            .iter()
            .find_map(|key| all.get(key)?.as_array().filter(|list| !list.is_empty()));
        let has_structure = all.properties.as_ref().is_some_and(|properties| !properties.is_empty())
            || ["items", "prefixItems", "enum", "const"].iter().any(|key| all.get(key).is_some());
        let kinds = declared(all);
        let Some(list) = list.filter(|_| !has_structure) else { return self.typed(all, depth, kinds) };
        let mut either = Alternatives::default();
        for branch in list {
            let branch = self.alternatives(branch, depth);
            either.join(branch);
        }
        if let Some(kinds) = &kinds {
            if either.is_free {
                return self.typed(all, depth, Some(kinds.clone()));
            }
            let was_nothing = either.is_nothing();
            either.restrict(kinds);
            if either.is_nothing() && !was_nothing {
                return self.typed(all, depth, Some(kinds.clone()));
            }
        }
        either.nullable |= all.get("nullable") == Some(&Value::Bool(true));
        either.describe(described(all.get("description").and_then(Value::as_str), &phrases(all, None)));
        self.annotate(&mut either, all);
        either
    }

    /// The alternatives of a schema without alternatives of its own: one for each type.
    fn typed(&mut self, all: &Conjunction<'a>, depth: usize, kinds: Option<Vec<&'a str>>) -> Alternatives {
        let Some(kinds) = kinds.or_else(|| inferred(all)) else {
            return Alternatives::free(described(
                all.get("description").and_then(Value::as_str),
                &phrases(all, None),
            ));
        };
        let mut either = Alternatives {
            nullable: all.get("nullable") == Some(&Value::Bool(true)),
            ..Alternatives::default()
        };
        let mut said = Vec::new();
        for kind in &kinds {
            match *kind {
                "null" => either.nullable = true,
                kind => {
                    if let Some((branch, phrases)) = self.branch(all, kind, depth) {
                        either.join(Alternatives::one(branch));
                        said.extend(phrases);
                    }
                }
            }
        }
        said.extend(phrases(all, kinds.first().copied()));
        said.dedup();
        either.describe(described(all.get("description").and_then(Value::as_str), &said));
        self.annotate(&mut either, all);
        either
    }

    /// Adds the keywords that describe a value as a whole, if it has one type.
    fn annotate(&mut self, either: &mut Alternatives, all: &Conjunction<'a>) {
        let [only] = either.branches.as_mut_slice() else { return };
        for key in ["title", "default", "example"] {
            let Some(value) = all.get(key) else { continue };
            let is_fine = match key {
                "title" => value.is_string(),
                "default" => !super::keywords::contains_reference(value),
                _ => true,
            };
            if is_fine {
                only.insert(key.to_owned(), self.budget.copy(value));
            }
        }
        let header = all.get("x-mcp-header").filter(|header| self.mirrors && header.is_string());
        if let Some(header) = header {
            only.insert("x-mcp-header".to_owned(), self.budget.copy(header));
        }
    }
}

/// The type of a schema, without its properties or items.
fn outline<'a>(schema: &'a Value, document: &SchemaDocument<'a>) -> Alternatives {
    let mut schema = schema;
    for _ in 0..8 {
        let Some(node) = schema.as_object() else { break };
        match document.referred(node) {
            Some(target) if !node.contains_key("type") => schema = target,
            _ => break,
        }
    }
    let kind = schema.get("type").and_then(Value::as_str);
    match kind.filter(|kind| matches!(*kind, "string" | "number" | "integer" | "boolean" | "object")) {
        Some(kind) => Alternatives::one(Map::from_iter([("type".to_owned(), kind.into())])),
        None if schema.get("properties").is_some_and(Value::is_object) => {
            Alternatives::one(Map::from_iter([("type".to_owned(), "object".into())]))
        }
        None => Alternatives::free(None),
    }
}
