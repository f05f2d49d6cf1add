//! One tool, prompt, resource or template as its server described it.

use bytes::Bytes;
use proto::json::{Members, Span, unquote};
use proto::mcp::Method;

/// The kinds of things that servers list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ListKind {
    /// Tools, by name.
    Tools,
    /// Prompts, by name.
    Prompts,
    /// Resources, by URI.
    Resources,
    /// Resource templates, by URI template.
    Templates,
}

impl ListKind {
    /// All kinds, in the order in which they are fetched.
    pub const ALL: [Self; 4] = [Self::Tools, Self::Prompts, Self::Resources, Self::Templates];

    /// The request that lists them.
    pub fn method(self) -> Method {
        match self {
            Self::Tools => Method::ToolsList,
            Self::Prompts => Method::PromptsList,
            Self::Resources => Method::ResourcesList,
            Self::Templates => Method::TemplatesList,
        }
    }

    /// The kind that a request lists.
    pub fn of_method(method: Method) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.method() == method)
    }

    /// The member of the result that holds the list.
    pub fn member(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
        }
    }

    /// The member of an item by which it is told apart.
    pub fn key(self) -> &'static str {
        match self {
            Self::Tools | Self::Prompts => "name",
            Self::Resources => "uri",
            Self::Templates => "uriTemplate",
        }
    }

    /// The server capability that announces the list.
    pub fn capability(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources | Self::Templates => "resources",
        }
    }

    pub(super) fn index(self) -> usize {
        self as usize
    }
}

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
