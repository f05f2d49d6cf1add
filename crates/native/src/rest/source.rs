//! Content as editors see it. A call that reads content first asks for its source. A call that changes content can be
//! refused after a check of the current content. This module must not know the format of content.

use serde_json::Value;

use super::content_format::ContentFormat;
use super::environment::Run;
use super::restored::DRY_RUN;
use super::shape::AnswerStyle;
use super::step::{Check, EDITING, RestRequest};
use crate::tools::{CallFailure, ToolArgument, flag};

const CONTEXT: &str = "context";

/// Asks for content as visitors see it.
pub(crate) const RENDERED: ToolArgument =
    flag("rendered", "Return the HTML that visitors see instead of the source that editors work on.");

/// Saves content even if that loses markup.
pub(crate) const ALLOW_MARKUP_LOSS: ToolArgument = flag(
    "allow_markup_loss",
    "Save the content even if blocks or shortcodes of the current content would lose their markup.",
);

impl Run<'_> {
    /// The answer to a request for content: its source if the account may edit it, unless the call chooses another form.
    pub(super) async fn content(
        &mut self,
        ask: &RestRequest,
    ) -> Result<(Value, Option<ContentFormat>), CallFailure> {
        let rendered = self.values.flag(RENDERED.name);
        if rendered {
            self.values.0.remove(CONTEXT);
        }
        let mut format = ContentFormat::Rendered;
        if !rendered && !self.values.has(CONTEXT) {
            let editing = RestRequest { fields: EDITING, ..*ask };
            match self.asked(&editing).await {
                Ok(answer) => {
                    let format = format_of(&answer, format);
                    return Ok((answer, format));
                }
                Err(failure) if is_refusal(&failure) => format = ContentFormat::NotEditable,
                Err(failure) => return Err(failure),
            }
        }
        let answer = self.asked(ask).await?;
        let format = format_of(&answer, format);
        Ok((answer, format))
    }

    /// Checks the content that the call is about to change, and keeps it. Returns the changes if the call is a dry
    /// run.
    ///
    /// # Errors
    /// Fails if the change is refused, or the current content cannot be read. If the site hides the content from this account,
    /// the site refuses the change itself, with a better message.
    pub(super) async fn checked(&mut self, check: &Check) -> Result<Option<Value>, CallFailure> {
        let is_compact = self.environment.answers == AnswerStyle::Compact;
        let shows = is_compact && self.values.flag(DRY_RUN.name);
        let is_allowed = self.values.flag(ALLOW_MARKUP_LOSS.name);
        let judged: Vec<&str> =
            check.judged.iter().copied().filter(|name| !is_allowed && self.values.has(name)).collect();
        let sent = self.sent(check);
        let keeps = is_compact && !sent.is_empty();
        if !(shows || keeps || !judged.is_empty()) {
            return Ok(None);
        }
        let whole = RestRequest { fields: EDITING, ..check.ask };
        // The whole item is compared, not only the members that the tool shows.
        let fields = self.fields.take();
        let current = self.asked(if shows { &whole } else { &check.ask }).await;
        self.fields = fields;
        let current = match current {
            Ok(current) => current,
            Err(failure) if is_refusal(&failure) && !shows => return Ok(None),
            Err(failure) => return Err(failure),
        };
        for name in judged {
            (check.judge)(name, &current, &self.values)?;
        }
        if shows {
            return Ok(Some(self.changes(&current)));
        }
        if keeps {
            self.keep(check, &sent, &current)?;
        }
        Ok(None)
    }
}

/// The form of the content in an answer: `Source` if the answer contains the source, else `otherwise`; `None` if there is no
/// content.
fn format_of(answer: &Value, otherwise: ContentFormat) -> Option<ContentFormat> {
    let content = answer.get("content").or_else(|| answer.get("caption"))?;
    Some(if content.get("raw").is_some() { ContentFormat::Source } else { otherwise })
}

/// Returns true if a site refused the account or the request.
fn is_refusal(failure: &CallFailure) -> bool {
    let status =
        failure.detail.iter().find(|(name, _)| *name == "status").and_then(|(_, value)| value.as_u64());
    matches!(status, Some(400 | 401 | 403 | 404))
}
