//! The choice that the configuration makes among a server's tools, held against what the server lists. What is not served is
//! in no offer, so that no profile, dialect or era can list or call it. It must not know profiles.

use crate::config::{Glob, ServerTools};

/// Which of a server's tools are served, and which of the names that say so the server has.
#[derive(Debug, Default)]
pub(super) struct ToolSelection {
    tools: ServerTools,
    /// Of the names in `globs` those that a tool has.
    met: Vec<bool>,
}

impl ToolSelection {
    pub(super) fn new(tools: ServerTools) -> Self {
        let met = vec![false; globs(&tools).count()];
        Self { tools, met }
    }

    /// Returns true for a tool that is served.
    pub(super) fn admits(&mut self, name: &str) -> bool {
        for (met, glob) in self.met.iter_mut().zip(globs(&self.tools)) {
            *met |= glob.matches(name);
        }
        self.tools.admits(name)
    }

    /// A note on names that no tool has: a mistyped one excludes nothing.
    pub(super) fn note(&self) -> Option<String> {
        let is_name = |glob: &&Glob| !glob.as_str().contains(['*', '?']);
        let unmet = globs(&self.tools).zip(&self.met).filter(|(_, met)| !**met).map(|(glob, _)| glob);
        let names: Vec<String> =
            unmet.filter(is_name).map(|glob| format!("{:?}", glob.as_str())).take(8).collect();
        let text = || {
            format!(
                "the configuration includes or excludes tools that it does not list: {}",
                names.join(", ")
            )
        };
        (!names.is_empty()).then(text)
    }
}

fn globs(tools: &ServerTools) -> impl Iterator<Item = &Glob> {
    tools.never.iter().chain(tools.only.iter().flatten())
}
