//! One tool, prompt, resource or template as its server described it.

use crate::list_kind::ListKind;
use bytes::Bytes;
use proto::json::{Members, Span, unquote};

/// One listed thing: its JSON as it came, and its key.
#[derive(Debug, Clone)]
pub struct Item {
    /// The whole object as it came.
    pub text: Bytes,
    /// Its name, URI or URI template.
    pub key: String,
    /// Where the key's value stands in `text`, quotes included.
    pub key_span: Span,
}

impl Item {
    /// Reads an item; `None` when it is no object or has no usable key.
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
