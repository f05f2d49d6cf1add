//! One tool, prompt, resource or template, as described by its server.

use crate::list_kind::ListKind;
use bytes::Bytes;
use proto::bridge::shape::Listed;
use proto::json::{Members, Span, unquote};

/// One listed item: its JSON as received, and its key.
#[derive(Debug, Clone)]
pub struct Item {
    /// The whole object as received.
    pub text: Bytes,
    /// The item's name, URI or URI template, depending on its kind.
    pub key: String,
    /// The span of the key's value in `text`, quotes included.
    pub key_span: Span,
}

impl Item {
    /// Reads an item; `None` if it is not an object or has no usable key.
    pub fn read(kind: ListKind, text: Bytes) -> Option<Self> {
        let members = Members::of_document(&text, proto::json::MAX_DEPTH).ok()?;
        let key_span = members.unique(&text, kind.key()).ok()??;
        let inner = key_span.of(&text).strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        let key = unquote(inner)?.into_owned();
        (!key.is_empty()).then_some(Self { text, key, key_span })
    }

    /// A member of the item, as written.
    pub fn member(&self, key: &str) -> Option<Bytes> {
        let members = Members::of_value(&self.text, Span::new(0, self.text.len()))?;
        members.get(&self.text, key).map(|span| span.share(&self.text))
    }
}

/// The kind of a list, as translations between versions name it.
pub(super) fn listed(kind: ListKind) -> Listed {
    match kind {
        ListKind::Tools => Listed::Tool,
        ListKind::Prompts => Listed::Prompt,
        ListKind::Resources => Listed::Resource,
        ListKind::Templates => Listed::Template,
    }
}
