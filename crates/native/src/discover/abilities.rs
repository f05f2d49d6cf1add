//! The abilities of a site as tools of their own (`wp-abilities/v1`). Calling such a tool calls the tool that runs
//! abilities.

use serde_json::{Map, Value, json};

use super::RUN;
use super::schema::regular;
use crate::rest::{Shape, Step, get};
use crate::tools::{ToolArgument, ToolFinder, int};

/// The prefix of the names of these tools.
const BEFORE: &str = "ability-";

/// The finder that turns abilities into tools: the request that lists the abilities, and the translation of calls to these tools.
pub(super) const FOUND: ToolFinder = ToolFinder {
    arguments: ARGUMENTS,
    steps: STEPS,
    shape: Shape::Made(|answer, _| json!({"items": answer})),
    described,
    called,
};

const ARGUMENTS: &[ToolArgument] =
    &[int("page", "Page number."), int("per_page", "Number of items per page.")];
const STEPS: &[Step] = &[get("index", "/wp-abilities/v1/abilities").step()];

/// Translates an ability into a tool; the flag is true if the ability only reads. Returns `None` if the ability's
/// input is not an object.
fn described(ability: &Value) -> Option<(Value, bool)> {
    let name = ability.get("name").and_then(Value::as_str)?;
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '/');
    if name.is_empty() || name.len() > 100 || !name.chars().all(fits) {
        return None;
    }
    let input = match ability.get("input_schema") {
        Some(Value::Object(schema)) if !schema.is_empty() => {
            let schema = regular(schema.clone());
            (schema.get("type") == Some(&json!("object"))).then_some(Value::Object(schema))?
        }
        _ => json!({"type": "object", "properties": {}}),
    };
    let said = |key: &str| {
        let at = format!("/meta/annotations/{key}");
        ability.pointer(&at).and_then(Value::as_bool)
    };
    let (reads, again) = (said("readonly") == Some(true), said("idempotent") == Some(true));
    let destroys = said("destructive");
    let text = |key: &str| ability.get(key).and_then(Value::as_str).unwrap_or_default();
    let tool = json!({
        "name": format!("{BEFORE}{}", name.replace('/', "_")),
        "title": text("label"),
        "description": text("description"),
        "inputSchema": input,
        "annotations": {
            "readOnlyHint": reads,
            // A tool without the annotation counts as destructive (MCP, `ToolAnnotations`).
            "destructiveHint": !reads && destroys != Some(false),
            "idempotentHint": again || reads,
            "openWorldHint": true,
        },
    });
    Some((tool, reads))
}

/// Translates a call to an ability's own tool into a call to the tool that runs abilities.
fn called(name: &str, arguments: &Map<String, Value>) -> Option<(&'static str, Map<String, Value>)> {
    let ability = name.strip_prefix(BEFORE)?.replace('_', "/");
    let mut call = Map::new();
    call.insert("name".to_owned(), Value::from(ability));
    if !arguments.is_empty() {
        call.insert("input".to_owned(), Value::Object(arguments.clone()));
    }
    Some((RUN, call))
}
