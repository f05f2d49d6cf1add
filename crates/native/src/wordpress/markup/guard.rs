//! The check of the current content before a tool changes it. This module must not know which tool makes the change.

use serde_json::Value;

use super::loss::markup_loss;
use crate::rest::{Check, Field, KeptState, Step, fixed, get};
use crate::tools::{CallFailure, Condition, Literal, Values};

/// The argument with the new content.
const CONTENT: &str = "content";
/// The current content as editors see it, and nothing else.
const SOURCE: &[Field] = &[fixed("context", Literal::Text("edit")), fixed("_fields", Literal::Text(CONTENT))];
/// A refusal shows the current source up to this length, in characters, because the tools of presets never show the source
/// otherwise.
const SHOWN: usize = 2000;

/// Refuses new content that would lose markup of the current content at this route.
pub(in crate::wordpress) const fn keeps_markup(base: &'static str, route: &'static str) -> Step {
    let ask = get(base, route).alone().with(SOURCE);
    Step::Check(Check { ask, judged: &[CONTENT], keeping: KeptState::Content, judge: keeps })
}

/// Refuses a new value of the field with this name that would lose markup of the current value.
///
/// # Errors
/// Returns the refusal, which shows the current source.
pub(crate) fn keeps(name: &str, current: &Value, values: &Values) -> Result<(), CallFailure> {
    let content = &current[name];
    let source = content["raw"].as_str().or(content.as_str()).unwrap_or_default();
    let Some(loss) = markup_loss(source, content["rendered"].as_str(), values.text(name)) else {
        return Ok(());
    };
    let mut shown: String = source.chars().take(SHOWN).collect();
    if shown.len() < source.len() {
        shown.push('…');
    }
    let words = format!(
        "not saved: the new content would lose markup of the current content ({loss}). Change the source, with its \
         block comments and shortcodes, rather than the rendered HTML. To save the new content anyway, set the argument \
         allow_markup_loss to true if the tool has it, or set allowMarkupLoss in the site's configuration. The current \
         source:\n{shown}"
    );
    Err(CallFailure::new(Condition::ToolFailed, words).with("lost", loss.to_string()))
}
