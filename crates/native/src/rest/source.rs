//! Content as those who edit it see it: a call that reads asks for its source first, and a call that changes it can be refused
//! after a look at what is there. It must not know what content looks like.

use serde_json::Value;

use super::step::{Ask, Field, fixed};
use super::world::Run;
use crate::tools::{Argument, Literal, Trouble, Values, flag};

/// What a site shows those who edit (WordPress REST API, `context`).
const EDITING: &[Field] = &[fixed(CONTEXT, Literal::Text("edit"))];
const CONTEXT: &str = "context";

/// Asks for content as visitors see it.
pub(crate) const RENDERED: Argument =
    flag("rendered", "Returns the HTML that visitors see instead of the source that editors work on.");

/// Saves content whatever markup it loses.
pub(crate) const ALLOW_MARKUP_LOSS: Argument = flag(
    "allow_markup_loss",
    "Saves the content even if blocks or shortcodes of the current content would become plain HTML.",
);

/// A look at what a call is about to change, which may refuse the change.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Check {
    /// The request that shows what is there.
    pub(crate) ask: Ask,
    /// The argument that makes the look necessary.
    pub(crate) given: &'static str,
    /// Refuses the change, with the reason.
    pub(crate) judge: fn(&Value, &Values) -> Result<(), Trouble>,
}

/// In which form an answer shows content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ContentFormat {
    /// As editors see it: safe to change and to write back.
    Source,
    /// As visitors see it, because the call asks for that.
    Rendered,
    /// As visitors see it, because the account may not edit it.
    NotEditable,
}

/// The members that say in which form content is shown.
pub(crate) const CONTENT_FORMAT: &str = "content_format";
pub(crate) const CONTENT_NOTE: &str = "content_note";

impl ContentFormat {
    /// The members that tell a caller.
    pub(super) fn members(self) -> Vec<(&'static str, Value)> {
        let format = if self == Self::Source { "source" } else { "rendered" };
        let mut members = vec![(CONTENT_FORMAT, Value::from(format))];
        if self == Self::NotEditable {
            let note = "This account may not edit this, so the content is the rendered HTML. Writing it back would lose its blocks \
                        and shortcodes.";
            members.push((CONTENT_NOTE, Value::from(note)));
        }
        members
    }
}

impl Run<'_> {
    /// The answer to a request for content: its source where the account may edit it, unless the call says in which form it
    /// wants it.
    pub(super) async fn content(&mut self, ask: &Ask) -> Result<(Value, Option<ContentFormat>), Trouble> {
        let rendered = self.values.flag(RENDERED.name);
        if rendered {
            self.values.0.remove(CONTEXT);
        }
        let mut format = ContentFormat::Rendered;
        if !rendered && !self.values.has(CONTEXT) {
            let editing = Ask { fields: EDITING, ..*ask };
            match self.asked(&editing).await {
                Ok(answer) => {
                    let format = format_of(&answer, format);
                    return Ok((answer, format));
                }
                Err(trouble) if is_refusal(&trouble) => format = ContentFormat::NotEditable,
                Err(trouble) => return Err(trouble),
            }
        }
        let answer = self.asked(ask).await?;
        let format = format_of(&answer, format);
        Ok((answer, format))
    }

    /// Looks at what the call is about to change.
    ///
    /// # Errors
    /// When the change is refused, or nobody can look. Where the site shows nothing to this account it refuses the change
    /// itself, in better words.
    pub(super) async fn checked(&mut self, check: &Check) -> Result<(), Trouble> {
        if !self.values.has(check.given) || self.values.flag(ALLOW_MARKUP_LOSS.name) {
            return Ok(());
        }
        match self.asked(&check.ask).await {
            Ok(answer) => (check.judge)(&answer, &self.values),
            Err(trouble) if is_refusal(&trouble) => Ok(()),
            Err(trouble) => Err(trouble),
        }
    }
}

/// The form of the content in an answer: its source where that is there, else `otherwise`; `None` where there is no content.
fn format_of(answer: &Value, otherwise: ContentFormat) -> Option<ContentFormat> {
    let content = answer.get("content").or_else(|| answer.get("caption"))?;
    Some(if content.get("raw").is_some() { ContentFormat::Source } else { otherwise })
}

/// Returns true for an answer by which a site refuses an account or a request.
fn is_refusal(trouble: &Trouble) -> bool {
    let status =
        trouble.detail.iter().find(|(name, _)| *name == "status").and_then(|(_, value)| value.as_u64());
    matches!(status, Some(400 | 401 | 403 | 404))
}
