//! The selection of a server's tools by the configuration, compared with the tools that the server lists. An excluded
//! tool is not part of any catalogue, so no profile, dialect or era can list or call it. This module must not know
//! profiles.

use config::{Glob, ServerTools};

/// The selection of a server's tools, with a record of which configured patterns have matched a tool.
#[derive(Debug, Default)]
pub(super) struct ToolSelection {
    tools: ServerTools,
    /// True for each pattern in `globs` that matches a tool.
    met: Vec<bool>,
}

impl ToolSelection {
    pub(super) fn new(tools: ServerTools) -> Self {
        let met = vec![false; globs(&tools).count()];
        Self { tools, met }
    }

    /// Returns true if a tool is served.
    pub(super) fn admits(&mut self, name: &str) -> bool {
        for (met, glob) in self.met.iter_mut().zip(globs(&self.tools)) {
            *met |= glob.matches(name);
        }
        self.tools.admits(name)
    }

    /// A note about configured names that match no tool. Without the note, nobody would notice that a mistyped name excludes
    /// nothing.
    pub(super) fn note(&self) -> Option<String> {
        let is_name = |glob: &&Glob| !glob.as_str().contains(['*', '?']);
        let unmet = globs(&self.tools).zip(&self.met).filter(|(_, met)| !**met).map(|(glob, _)| glob);
        let names: Vec<String> =
            unmet.filter(is_name).map(|glob| format!("{:?}", glob.as_str())).take(8).collect();
        let text =
            || format!("the configuration selects tools that the server does not list: {}", names.join(", "));
        (!names.is_empty()).then(text)
    }
}

fn globs(tools: &ServerTools) -> impl Iterator<Item = &Glob> {
    tools.never.iter().chain(tools.only.iter().flatten())
}
