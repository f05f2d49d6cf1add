//! The changes that a profile makes to individual tools and prompts: what clients are shown, which arguments they can set,
//! and how calls run. This module must not know how a view applies them.

use std::rc::Rc;
use std::time::Duration;

use indexmap::IndexMap;
use proto::json::quote;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use super::name_rules::new_name;
use super::server_info::{Icon, icons};
use crate::callers::access::{AnnotationHint, HintValues};
use crate::reading::reader::Reader;
use crate::reading::rows::section;
use crate::reading::spellings::{Flag, Mapping, Number, Optional, ReplacedSection, Spelling, Time, any_text};
use crate::servers::server::Timeout;
use crate::syntax::parse::{Entry, Node, NodeKind};
use crate::values::check::Flaw;
use crate::values::text::Text;

section! {
    /// A profile's changes to one tool.
    pub struct ToolOverride: "a mapping with `name`, `title`, `description`, `icons`, `annotations`, `arguments`, `timeout`, `atOnce` or `cache`" [
        /// The name that clients see, instead of the name from `names` and `rename`.
        "name" name: Option<String> = Optional(new_name()), absent "the name from `names` and `rename`";
        /// The title that clients display instead of the name.
        "title" title: Option<Text> = Optional(any_text("a string")), absent "the server's";
        /// The description, from which models learn what the tool does.
        "description" description: Option<Text> = Optional(any_text("a string")), absent "the server's";
        /// The icons that clients display.
        "icons" icons: Vec<Icon> = icons(), absent "the server's", see "[an icon](#icons)";
        /// Hints for clients, such as `readOnlyHint`. Access rules still use the server's own hints.
        "annotations" annotations: IndexMap<AnnotationHint, bool> = HintValues, absent "the server's";
        /// Changes to the tool's arguments, by their names.
        "arguments" arguments: IndexMap<String, ArgumentOverride> = Mapping {
            what: "a mapping from names of arguments to changes",
            key: |name| Ok::<_, Flaw>(name.to_owned()),
            value: ReplacedSection,
        }, absent "no changes", see "[an argument](#changes-to-arguments)";
        /// The total time that a call in this profile may take. If the server's own limit is shorter, the server's limit
        /// applies.
        "timeout" timeout: Option<Duration> = Optional(Timeout::WHOLE), absent "the server's";
        /// The maximum number of calls that run at the same time in this profile. Calls above this number are refused, and
        /// clients may send refused calls again.
        "atOnce" at_once: Option<usize> = Optional(Number { least: 1, most: 1_000_000 }), absent "no limit";
        /// Keeps results for later calls of the same caller with the same arguments. Only for tools that the server itself
        /// marks as read-only and idempotent.
        "cache" cache: Option<ToolCache> = Optional(ReplacedSection), absent "nothing is kept", see "[results that are kept](#results-that-are-kept)";
    ]
}

section! {
    /// The cache of a tool's results.
    pub struct ToolCache: "a mapping with `for`" [
        /// The time for which a result is kept.
        "for" keep_for: Duration = Time { least: Duration::from_secs(1), most: Duration::from_hours(24) }, needed "for: 5m";
    ]
}

section! {
    /// A profile's changes to one prompt.
    pub struct PromptOverride: "a mapping with `title`, `description` or `icons`" [
        /// The title that clients display instead of the name.
        "title" title: Option<Text> = Optional(any_text("a string")), absent "the server's";
        /// The description of the prompt's purpose.
        "description" description: Option<Text> = Optional(any_text("a string")), absent "the server's";
        /// The icons that clients display.
        "icons" icons: Vec<Icon> = icons(), absent "the server's", see "[an icon](#icons)";
    ]
}

section! {
    /// A profile's changes to one argument of a tool.
    pub struct ArgumentOverride: "a mapping with `value`, `hidden` or `description`" [
        /// The value that every call gets. Clients can neither see nor set the argument.
        "value" value: Option<Text> = Optional(AnyJson), absent "set by the client";
        /// Removes the argument from the tool's input schema. Clients cannot set the argument, so the server uses its
        /// default.
        "hidden" hidden: bool = Flag;
        /// The description of the argument.
        "description" description: Option<Text> = Optional(any_text("a string")), absent "the server's";
    ]
}

/// Any value, as JSON text. Texts can contain `${…}`.
struct AnyJson;

impl Spelling<Text> for AnyJson {
    fn read(&self, reader: &mut Reader<'_>, entry: &Entry, _: Option<&Text>) -> Option<Text> {
        let (value, shown) = json_of(reader, &entry.value)?;
        Some(Text::hidden(&value, &shown))
    }

    fn schema(&self, _: &mut SchemaGenerator) -> Schema {
        json_schema!(true)
    }

    fn shown(&self, value: &Text) -> Value {
        serde_json::from_str(value.shown()).unwrap_or_else(|_| json!(value.shown()))
    }
}

/// A value as JSON text, and the same text without secrets, which may be shown.
fn json_of(reader: &mut Reader<'_>, node: &Rc<Node>) -> Option<(String, String)> {
    let joined = |parts: Vec<(String, String)>, [open, close]: [char; 2]| {
        let (values, shown): (Vec<String>, Vec<String>) = parts.into_iter().unzip();
        (format!("{open}{}{close}", values.join(",")), format!("{open}{}{close}", shown.join(",")))
    };
    match &node.kind {
        NodeKind::Null => Some(("null".to_owned(), "null".to_owned())),
        NodeKind::Scalar { text, quoted: false } if is_literal(text) => Some((text.clone(), text.clone())),
        NodeKind::Scalar { .. } => {
            let text = reader.text(node, "a value")?;
            Some((quote(text.expose()), quote(text.shown())))
        }
        NodeKind::List(items) => {
            let items = items.iter().map(|item| json_of(reader, item)).collect::<Option<_>>()?;
            Some(joined(items, ['[', ']']))
        }
        NodeKind::Map(entries) => {
            let member = |entry: &Entry| {
                let (value, shown) = json_of(reader, &entry.value)?;
                let key = quote(&entry.key);
                Some((format!("{key}:{value}"), format!("{key}:{shown}")))
            };
            Some(joined(entries.iter().map(member).collect::<Option<_>>()?, ['{', '}']))
        }
    }
}

/// Returns true if an unquoted text is a JSON number, `true` or `false`.
fn is_literal(text: &str) -> bool {
    matches!(serde_json::from_str(text), Ok(Value::Number(_) | Value::Bool(_)))
}
