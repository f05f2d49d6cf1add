//! The form in which content is shown. This module must not know the format of content.

use serde_json::Value;

/// The form in which an answer shows content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ContentFormat {
    /// Content as editors see it, which is safe to change and to save again.
    Source,
    /// Content as visitors see it, because the call asks for this form.
    Rendered,
    /// Content as visitors see it, because the account may not edit the content.
    NotEditable,
}

/// The member that names the form in which content is shown.
pub(crate) const CONTENT_FORMAT: &str = "content_format";
pub(crate) const CONTENT_NOTE: &str = "content_note";

impl ContentFormat {
    /// The members by which an answer reports the form.
    pub(super) fn members(self) -> Vec<(&'static str, Value)> {
        let format = if self == Self::Source { "source" } else { "rendered" };
        let mut members = vec![(CONTENT_FORMAT, Value::from(format))];
        if self == Self::NotEditable {
            let note = "This account may not edit this content, so this is the rendered HTML. Writing \
             the HTML back would lose the blocks and shortcodes.";
            members.push((CONTENT_NOTE, Value::from(note)));
        }
        members
    }
}
