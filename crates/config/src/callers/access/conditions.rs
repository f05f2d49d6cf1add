//! The conditions of a rule: the arguments of a call, and the server's hints about a tool.

use indexmap::IndexMap;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use super::path::ValuePath;
use crate::reading::reader::Reader;
use crate::reading::rows::section;
use crate::reading::spellings::{Flag, Spelling, refuse_empty, shown_mapping};
use crate::syntax::parse::{Entry, NodeKind};
use crate::values::check::Flaw;
use crate::values::glob::Glob;
use crate::values::wording::clip;
use crate::values::words::words;

section! {
    /// The conditions of a rule, which must all hold.
    pub struct RuleConditions: "a mapping with `arguments` or `annotations`" {
        /// Rejects a condition on a value that lies inside the value of another condition: the inner condition can only
        /// contradict the outer one.
        fn check(&mut self, reader: &mut Reader<'_>, entry: &Entry, _: bool) {
            let Some(arguments) = entry.value.entry("arguments") else { return };
            for path in self.arguments.keys() {
                if let Some(outer) = self.arguments.keys().find(|outer| outer.leads_to(path)) {
                    let message = format!("{path} is part of {outer}, which is also a condition of this rule");
                    let help = "keep one of the two, or write two rules";
                    reader.within("arguments", |reader| reader.fault(&arguments.value.at, message, help));
                }
            }
        }
    } [
        /// Arguments of the call, each given by its path (`path` or `/owner/name`) and its permitted values (patterns).
        "arguments" arguments: IndexMap<ValuePath, Vec<Glob>> = PlacedValues("arguments");
        /// Hints that the server gives about the tool. A missing hint has the default from the specification.
        "annotations" annotations: IndexMap<AnnotationHint, bool> = HintValues;
    ]
}

impl RuleConditions {
    /// Returns true if there is no condition.
    pub fn is_empty(&self) -> bool {
        self.arguments.is_empty() && self.annotations.is_empty()
    }
}

/// A mapping from paths to patterns; the value at each path must match one of its patterns. The field is the name of the values in
/// messages.
pub(super) struct PlacedValues(pub(super) &'static str);

type Patterns = IndexMap<ValuePath, Vec<Glob>>;

impl Spelling<Patterns> for PlacedValues {
    fn read(&self, reader: &mut Reader<'_>, entry: &Entry, _: Option<&Patterns>) -> Option<Patterns> {
        let mut values = Patterns::new();
        let what = format!("a mapping of {} and their values", self.0);
        for entry in reader.fields(&entry.value, &what)?.rest() {
            reader.within(&entry.key, |reader| {
                let refused = |reason| Flaw::new(reason, "write it like owner.name or /owner/name");
                let path = reader.sound(&entry.key_at, ValuePath::parse(&entry.key).map_err(refused));
                refuse_empty(reader, &entry.value);
                let mut globs = Vec::new();
                for item in reader.items(&entry.value, "a value, or a list of values", true)? {
                    let text = reader.text(item, "a value or a pattern")?;
                    let refused = |reason| Flaw::new(reason, "write a value, with `*` for any characters");
                    globs.extend(reader.sound(&item.at, Glob::parse(text.expose()).map_err(refused)));
                }
                let path = path?;
                if values.keys().any(|other| other.is_like(&path) || other.parts_in_case(&path)) {
                    let message = "this path occurs twice; case does not matter";
                    reader.fault(&entry.key_at, message, "keep one of the two");
                }
                values.insert(path, globs)
            });
        }
        Some(values)
    }

    fn schema(&self, _: &mut SchemaGenerator) -> Schema {
        let value = json!({ "type": ["string", "number", "boolean"] });
        json_schema!({
            "type": "object",
            "additionalProperties": { "anyOf": [value, { "type": "array", "items": value, "minItems": 1 }] },
        })
    }

    fn shown(&self, patterns: &Patterns) -> Value {
        shown_mapping(patterns, ToString::to_string, |globs| globs.iter().map(Glob::as_str).collect())
    }
}

words! {
    /// Hints that a server can give for a tool (MCP 2025-03-26 and later, `ToolAnnotations`).
    pub enum AnnotationHint {
        /// The tool changes nothing.
        ReadOnlyHint = "readOnlyHint",
        /// The tool may destroy something.
        DestructiveHint = "destructiveHint",
        /// Calling the tool twice has the same effect as calling it once.
        IdempotentHint = "idempotentHint",
        /// The tool interacts with systems outside the server.
        OpenWorldHint = "openWorldHint",
    }
}

/// Hints with their required values. A hint without a value is rejected, because a rule that ignored the hint would match more
/// tools.
pub(crate) struct HintValues;

type Hints = IndexMap<AnnotationHint, bool>;

impl Spelling<Hints> for HintValues {
    fn read(&self, reader: &mut Reader<'_>, entry: &Entry, _: Option<&Hints>) -> Option<Hints> {
        let mut hints = Hints::new();
        for entry in reader.fields(&entry.value, "a mapping such as { readOnlyHint: true }")?.rest() {
            reader.within(&entry.key, |reader| {
                let message = format!("tools have no annotation `{}`", clip(&entry.key));
                let hint = reader.key_word(entry, message)?;
                if matches!(entry.value.kind, NodeKind::Null) {
                    reader.wrong_kind(&entry.value, "true or false");
                    return None;
                }
                hints.insert(hint, reader.flag(&entry.value)?)
            });
        }
        Some(hints)
    }

    fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        let flag = Flag.schema(generator);
        let mut properties = Map::new();
        let words = AnnotationHint::json_schema(generator);
        for word in words.get("oneOf").and_then(Value::as_array).into_iter().flatten() {
            let mut property = json!({ "anyOf": [flag, { "type": "null" }] });
            property["description"] = word["description"].clone();
            properties.insert(word["const"].as_str().unwrap_or_default().to_owned(), property);
        }
        json_schema!({ "type": "object", "properties": properties, "additionalProperties": false })
    }

    fn shown(&self, hints: &Hints) -> Value {
        shown_mapping(hints, |hint| hint.name().to_owned(), |wanted| json!(wanted))
    }
}
