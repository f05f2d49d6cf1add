//! Tools whose arguments are passed on unchecked: each is named in the log once. It must not know why that is so.

use std::collections::HashSet;
use std::sync::Arc;

use engine::catalogue::{ToolEntry, UpstreamId};
use parking_lot::Mutex;

/// How many are remembered; further ones are not named.
const MOST: usize = 4096;

/// Those that were named.
#[derive(Debug, Default)]
pub(crate) struct Unchecked(Mutex<HashSet<(UpstreamId, Arc<str>)>>);

impl Unchecked {
    /// Names a tool that has just been called, if there is something to say.
    pub(crate) fn note(&self, server: &str, tool: Option<&ToolEntry>) {
        let Some((tool, why)) = tool.and_then(|tool| Some((tool, tool.unchecked()?))) else { return };
        let mut named = self.0.lock();
        // Several views may show the same tool.
        if named.len() < MOST && named.insert((tool.upstream, tool.name.clone())) {
            let tool = &*tool.name;
            tracing::warn!(
                server,
                tool,
                why,
                "arguments go to the server unchecked: the tool's schema cannot be used"
            );
        }
    }
}
