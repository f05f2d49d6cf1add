//! The rules of a family, applied to a tool: findings with their positions. This module must not know how a finding
//! is repaired.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::document::{MAX_DEPTH, SchemaDocument};
use super::family::Language;
use super::keywords::{each_child, extended};
use super::{SchemaFamily, SchemaRule, lint_fields, lint_keywords};

/// The maximum length of a tool's name that the families accept, in characters.
const LONGEST_NAME: usize = 64;

/// A rule that a tool breaks, and the position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaFinding {
    /// A JSON pointer into the input schema; `name` for the tool's name.
    pub path: String,
    /// The rule.
    pub rule: SchemaRule,
}

/// The findings for one schema, up to a maximum number.
pub(super) struct Findings {
    list: Vec<SchemaFinding>,
    most: usize,
    /// Returns true for the rules whose findings are collected.
    counts: fn(SchemaRule) -> bool,
}

impl Findings {
    pub(super) fn add(&mut self, path: &str, rule: SchemaRule) {
        let is_known = |known: &SchemaFinding| known.rule == rule && known.path == path;
        if (self.counts)(rule) && !self.are_enough() && !self.list.iter().any(is_known) {
            self.list.push(SchemaFinding { path: path.to_owned(), rule });
        }
    }

    /// Adds a finding for a keyword of the node at `path`.
    pub(super) fn add_at(&mut self, path: &str, keyword: &str, rule: SchemaRule) {
        if !self.are_enough() {
            self.add(&format!("{path}/{}", keyword.replace('~', "~0").replace('/', "~1")), rule);
        }
    }

    /// Returns true once the maximum number of findings is reached.
    fn are_enough(&self) -> bool {
        self.list.len() >= self.most
    }
}

/// A node of a schema in the order of the text, and its path.
pub(super) struct SchemaNode<'a> {
    pub(super) node: &'a Value,
    pub(super) path: String,
    depth: usize,
}

/// The reasons why a family refuses the name of a tool. Clients that put a prefix before the name may also refuse shorter names.
pub fn lint_name(family: &SchemaFamily, name: &str) -> Vec<SchemaFinding> {
    let finding = |rule| SchemaFinding { path: "name".to_owned(), rule };
    let plain = name.replace(|c| family.further_name_chars.contains(c), "_");
    let chars = (!family.admits_name(&plain)).then(|| finding(SchemaRule::NameChars));
    let length = (name.chars().count() > LONGEST_NAME).then(|| finding(SchemaRule::NameLength));
    chars.into_iter().chain(length).collect()
}

/// The reasons why a family refuses an input schema (JSON text), at most `most` of them. With `mirrors`, annotations for
/// mirrored headers are accepted, because the protocol requires them.
pub fn lint(family: &SchemaFamily, schema: &[u8], mirrors: bool, most: usize) -> Vec<SchemaFinding> {
    let size = vec![SchemaFinding { path: String::new(), rule: SchemaRule::Size }];
    if schema.len() > super::document::MAX_BYTES {
        return size;
    }
    let all = |schema: Value| {
        linted(family, &schema, mirrors, Findings { list: Vec::new(), most, counts: SchemaRule::is_refused })
    };
    serde_json::from_slice(schema).map_or(size, all)
}

/// Returns true if a family accepts a schema, apart from rules that no other form of the schema could satisfy.
pub(super) fn suits(family: &SchemaFamily, schema: &Value, mirrors: bool) -> bool {
    let first = Findings { list: Vec::new(), most: 1, counts: SchemaRule::is_repairable };
    linted(family, schema, mirrors, first).is_empty()
}

fn linted(
    family: &SchemaFamily,
    schema: &Value,
    mirrors: bool,
    mut findings: Findings,
) -> Vec<SchemaFinding> {
    let document = SchemaDocument::new(schema);
    if document.is_too_large() {
        findings.add("", SchemaRule::Size);
        return findings.list;
    }
    let root = lint_root(family, schema, &mut findings);
    if root.is_none() {
        return findings.list;
    }
    let mut open = vec![SchemaNode { node: schema, path: String::new(), depth: 0 }];
    while let Some(place) = open.pop() {
        if findings.are_enough() {
            break;
        }
        if place.depth > MAX_DEPTH {
            findings.add(&place.path, SchemaRule::Size);
            continue;
        }
        match family.language {
            Language::Fields => lint_fields::lint_node(&place, mirrors, &mut findings),
            Language::JsonSchema => lint_keywords::lint_node(family, &document, &place, &mut findings),
        }
        below(family, &place, &mut open, &mut findings);
    }
    findings.list
}

/// Checks the root, and returns it if it is an object.
fn lint_root<'a>(
    family: &SchemaFamily,
    schema: &'a Value,
    findings: &mut Findings,
) -> Option<&'a Map<String, Value>> {
    let root = schema.as_object();
    let is_typed = root.is_some_and(|root| root.get("type").is_some_and(|kind| kind == "object"));
    if !is_typed {
        findings.add("", SchemaRule::RootObject);
    }
    let root = root?;
    // Fields that the language does not have are found when the root is checked like any other node.
    for keyword in family.root_excludes.iter().filter(|keyword| root.contains_key(**keyword)) {
        findings.add_at("", keyword, SchemaRule::RootCombinator);
    }
    // Clients of the TypeScript SDK refuse a list in which a property's schema is not an object.
    let properties = root.get("properties").and_then(Value::as_object);
    for (name, _) in properties.into_iter().flatten().filter(|(_, schema)| schema.is_boolean()) {
        findings.add(
            &extended("", "properties", super::keywords::SchemaStep::Named(name)),
            SchemaRule::BooleanSchema,
        );
    }
    if family.needs_root_properties && !root.get("properties").is_some_and(Value::is_object) {
        findings.add("", SchemaRule::RootProperties);
    }
    Some(root)
}

/// Adds the nodes below a node, and checks the names of its arguments.
fn below<'a>(
    family: &SchemaFamily,
    place: &SchemaNode<'a>,
    open: &mut Vec<SchemaNode<'a>>,
    findings: &mut Findings,
) {
    let Some(node) = place.node.as_object() else { return };
    let first = open.len();
    let followed: Option<HashSet<&str>> =
        (family.language == Language::Fields).then(|| lint_fields::FOLLOWED.into_iter().collect());
    each_child(node, |keyword, step, child| {
        if followed.as_ref().is_none_or(|followed| followed.contains(keyword)) {
            let path = extended(&place.path, keyword, step);
            open.push(SchemaNode { node: child, path, depth: place.depth + 1 });
        }
    });
    open[first..].reverse();
    let names = node.get("properties").and_then(Value::as_object);
    for name in names.into_iter().flatten().map(|(name, _)| name) {
        if !family.admits_argument(name) {
            let path = extended(&place.path, "properties", super::keywords::SchemaStep::Named(name));
            findings.add(&path, SchemaRule::ArgumentName);
        }
    }
}
