//! Counts of list changes. This module must not know to which view the counts belong.

use proto::mcp::Notice;

/// The number of times that each list of a view has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Revision {
    pub(crate) tools: u64,
    pub(crate) prompts: u64,
    pub(crate) resources: u64,
}

impl Revision {
    /// Returns the notifications for lists that have changed since an older revision.
    pub(crate) fn since(self, old: Self) -> impl Iterator<Item = Notice> {
        [
            (self.tools != old.tools, Notice::ToolsChanged),
            (self.prompts != old.prompts, Notice::PromptsChanged),
            (self.resources != old.resources, Notice::ResourcesChanged),
        ]
        .into_iter()
        .filter_map(|(changed, notice)| changed.then_some(notice))
    }

    /// Counts a change to the list to which a notification belongs.
    pub(crate) fn count(&mut self, notice: Notice) {
        match notice {
            Notice::ToolsChanged => self.tools += 1,
            Notice::PromptsChanged => self.prompts += 1,
            Notice::ResourcesChanged => self.resources += 1,
            _ => {}
        }
    }
}
