//! Compact answers, which show a part of what a site returns: the arguments by which a call gets more, and the schema
//! of such answers. This module must not know any tool.

use serde_json::{Value, json};

use super::row::{ToolAction, ToolRow};
use crate::arguments::argument::{ToolArgument, flag, list};
use crate::port::Verb;
use crate::rest::{
    ALLOW_MARKUP_LOSS, CONTENT_FORMAT, CONTENT_NAMES, CONTENT_NOTE, DRY_RUN, FIELDS, FULL, KeptState,
    NOT_KEPT, NOT_STORED, PreviousNames, RENDERED, STORED, Shape, Step, VALUE_NAMES, may_tell,
};

/// The additional arguments of tools whose answers are shown in part. The next constant is for tools that list.
const WHOLE: &[ToolArgument] = &[AS_GIVEN];
const LISTS: &[ToolArgument] = &[SELECTED, AS_GIVEN];
/// The additional arguments of tools that read editable content. The next constants are for tools that change something, and
/// for tools that change content.
const READS_CONTENT: &[ToolArgument] = &[AS_GIVEN, RENDERED];
const CHANGES: &[ToolArgument] = &[AS_GIVEN, DRY_RUN];
const CHANGES_CONTENT: &[ToolArgument] = &[AS_GIVEN, DRY_RUN, ALLOW_MARKUP_LOSS];
const AS_GIVEN: ToolArgument = flag(FULL, "Return the site's answer unchanged, with all of its fields.");
const SELECTED: ToolArgument = list(
    FIELDS,
    "Return these fields of each entry instead, named as in the full answer, such as `title.rendered`.",
);

/// The arguments that a tool takes in addition to its own.
pub(super) fn more_of(tool: &ToolRow, compact: bool) -> &'static [ToolArgument] {
    match tool.action {
        ToolAction::Rest(_, Shape::Told(_) | Shape::Made(_) | Shape::File) | ToolAction::Local(_) => &[],
        ToolAction::Rest(steps, _) if compact && steps.iter().any(Step::shows_content) => READS_CONTENT,
        ToolAction::Rest(steps, _) if compact && steps.iter().any(|step| step.check().is_some()) => {
            let is_judged = steps.iter().filter_map(Step::check).any(|check| !check.judged.is_empty());
            if is_judged { CHANGES_CONTENT } else { CHANGES }
        }
        ToolAction::Rest(_, shape) if compact && shape.is_list() => LISTS,
        ToolAction::Rest(..) if compact => WHOLE,
        ToolAction::Rest(..) => &[],
    }
}

/// The names under which the steps present what they replace, and true if they keep values rather than content.
fn previous_of(steps: &[Step]) -> Option<(&'static PreviousNames, bool)> {
    let keeps_values = steps.iter().find_map(|step| match step {
        Step::Check(check) => Some(matches!(check.keeping, KeptState::Values(_))),
        Step::Restore(restoring) => Some(restoring.argument == VALUE_NAMES.member),
        _ => None,
    })?;
    Some((if keeps_values { &VALUE_NAMES } else { &CONTENT_NAMES }, keeps_values))
}

/// The schema of a tool's answers, if they are structured.
pub(super) fn output_of(tool: &ToolRow, compact: bool) -> Option<Value> {
    match &tool.action {
        ToolAction::Rest(steps, shape) if compact => {
            let mut schema = shape.schema()?;
            if steps.iter().any(Step::shows_content) {
                schema["properties"][CONTENT_FORMAT] =
                    json!({"type": "string", "enum": ["source", "rendered"]});
                schema["properties"][CONTENT_NOTE] = json!({"type": "string"});
                for member in ["meta", "acf", "seo"] {
                    schema["properties"][member] = json!({"type": "object"});
                }
            }
            if may_tell(tool.arguments, steps) && steps.iter().rev().find_map(Step::verb) != Some(Verb::Get) {
                schema["properties"][STORED] = json!({"type": "object"});
                schema["properties"][NOT_STORED] = json!({"type": "array", "items": {"type": "string"}});
            }
            if let Some((names, keeps_values)) = previous_of(steps) {
                let about = format!("Address for {}.", names.tool);
                schema["properties"][names.member] = json!({"type": "string", "description": about});
                if keeps_values {
                    let about = "Replaced values that cannot be restored.";
                    schema["properties"][NOT_KEPT] =
                        json!({"type": "array", "items": {"type": "string"}, "description": about});
                }
                for (member, kind) in [("dry_run", "boolean"), ("saved", "boolean"), ("changes", "object")] {
                    schema["properties"][member] = json!({"type": kind});
                }
            }
            Some(schema)
        }
        _ => None,
    }
}
