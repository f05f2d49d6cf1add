//! What `access` says, checked. What it means is decided in `crate::access`.

use indexmap::IndexMap;
use schemars::JsonSchema;

use super::path::ValuePath;
use crate::config::glob::Glob;
use crate::config::ip::IpRange;
use crate::principal::Scheme;

/// One rule: what it allows or denies, to whom, and when.
#[derive(Debug, Clone, PartialEq)]
pub struct AccessRule {
    /// Allow, or deny.
    pub effect: Effect,
    /// What: names of tools and prompts as clients see them, URIs of resources. Never empty.
    pub what: Vec<Glob>,
    /// Only in these profiles; in all when left out.
    pub profiles: Option<Vec<Glob>>,
    /// Only what these servers offer; all when left out.
    pub servers: Option<Vec<Glob>>,
    /// Only for these askers; for everybody when left out.
    pub who: Option<Who>,
    /// For everybody but these.
    pub unless: Option<Who>,
    /// Only under these conditions.
    pub when: When,
}

/// What a rule does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// What matches may be used. With one such rule anywhere, only what such rules allow may be.
    Allow,
    /// What matches may not be used, whatever allows it.
    Deny,
}

/// Askers. Of one kind of mark any counts; marks of several kinds must all be there.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Who {
    /// API keys, by prefix or name.
    pub key: Vec<Glob>,
    /// Users of `auth.users` or of a site, by name.
    pub user: Vec<Glob>,
    /// Scopes of a token.
    pub scope: Vec<Glob>,
    /// Claims of a token by their place, each with what its value may be.
    pub claim: IndexMap<ValuePath, Vec<Glob>>,
    /// Where the request comes from.
    pub ip: Vec<IpRange>,
    /// How they showed who they are.
    pub scheme: Vec<Scheme>,
}

/// Conditions on a call. All must hold.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct When {
    /// What arguments must be, by their place. Of several patterns any counts.
    pub arguments: IndexMap<ValuePath, Vec<Glob>>,
    /// What the server must say of the tool.
    pub annotations: IndexMap<AnnotationHint, bool>,
}

impl When {
    /// Is there no condition?
    pub fn is_empty(&self) -> bool {
        self.arguments.is_empty() && self.annotations.is_empty()
    }
}

/// What a server can say of a tool (MCP 2025-03-26 and later, `ToolAnnotations`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub enum AnnotationHint {
    /// It changes nothing.
    ReadOnlyHint,
    /// It may destroy something.
    DestructiveHint,
    /// Calling it twice is like calling it once.
    IdempotentHint,
    /// It reaches beyond the server.
    OpenWorldHint,
}

impl AnnotationHint {
    /// The hints with their names.
    pub const ALL: &[(&str, Self)] = &[
        ("readOnlyHint", Self::ReadOnlyHint),
        ("destructiveHint", Self::DestructiveHint),
        ("idempotentHint", Self::IdempotentHint),
        ("openWorldHint", Self::OpenWorldHint),
    ];
}
