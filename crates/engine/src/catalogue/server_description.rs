//! A view's description of itself, as one server: for `initialize` and `server/discover`. This module must not know
//! items.

use proto::era::{CacheHint, CacheableResult, discover_result};

use super::assemble::{capabilities, instructions};
use super::capabilities::{declared, declares};
use super::part::Part;
use super::{ViewSource, ViewSpec};

/// The merged capabilities and instructions of a view.
#[derive(Debug, Clone)]
pub(super) struct ServerDescription {
    capabilities: String,
    /// The names of the declared capabilities, against which every request is checked.
    declared: Vec<String>,
    instructions: Option<String>,
    discover: CacheableResult,
}

impl ServerDescription {
    /// Describes the servers that clients may use; `open` contains the available servers, and `seen` contains all of them.
    pub(super) fn new(
        spec: &ViewSpec<'_>,
        open: &[&Part<'_>],
        seen: &[ViewSource],
        cache: CacheHint,
    ) -> Self {
        let capabilities = capabilities(spec, open, seen);
        let instructions = instructions(spec.profile, open, seen.len());
        Self {
            declared: declared(&capabilities, spec.era, open.iter().any(|part| part.may_complete())),
            discover: discover_result(
                spec.era,
                &capabilities,
                &spec.profile.server_info.whole(spec.server_info),
                instructions.as_deref(),
                cache,
            ),
            capabilities,
            instructions,
        }
    }

    /// The merged capabilities, a JSON object.
    pub(super) fn capabilities(&self) -> &str {
        &self.capabilities
    }

    /// Returns true if a capability, or a flag of it, is declared, or may be supported without a declaration.
    pub(super) fn declares(&self, name: &str, flag: Option<&str>) -> bool {
        self.declared.iter().any(|declared| declared == name)
            && (flag.is_none() || declares(self.capabilities.as_bytes(), name, flag))
    }

    /// The merged instructions.
    pub(super) fn instructions(&self) -> Option<&str> {
        self.instructions.as_deref()
    }

    /// The prepared result of `server/discover`.
    pub(super) fn discover(&self) -> &CacheableResult {
        &self.discover
    }
}
