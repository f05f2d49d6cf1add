//! Tools whose arguments are not validated: each is logged once. This module must not know the reason.

use std::collections::HashSet;
use std::sync::Arc;

use engine::catalogue::{ToolEntry, UpstreamId};
use parking_lot::Mutex;

/// The maximum number of remembered tools; further tools are not logged.
const MOST: usize = 4096;

/// The tools that have already been logged.
#[derive(Debug, Default)]
pub(crate) struct UncheckedTools(Mutex<HashSet<(UpstreamId, Arc<str>)>>);

impl UncheckedTools {
    /// Logs a tool that has just been called, if its arguments are not validated.
    pub(crate) fn note(&self, server: &str, tool: Option<&ToolEntry>) {
        let Some((tool, why)) = tool.and_then(|tool| Some((tool, tool.unchecked()?))) else { return };
        let mut named = self.0.lock();
        // Several views may contain the same tool.
        if named.len() < MOST && named.insert((tool.upstream, tool.name.clone())) {
            let tool = &*tool.name;
            tracing::warn!(
                server,
                tool,
                why,
                "arguments are sent to the server without validation: the tool's schema is unusable"
            );
        }
    }
}
