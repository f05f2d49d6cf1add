//! Lists as the server sent them, and as they are served to clients: everything, or everything but the tools that await
//! approval. This module must not know when a definition counts as approved.

use std::collections::HashSet;
use std::sync::Arc;

use engine::catalogue::UpstreamCatalogue;

/// Lists as the server sent them, and as they are served to clients.
#[derive(Clone)]
pub(super) struct ServedLists {
    pub(super) listed: Arc<UpstreamCatalogue>,
    pub(super) served: Arc<UpstreamCatalogue>,
}

impl ServedLists {
    /// Creates the lists with these tools withheld.
    pub(super) fn without(listed: Arc<UpstreamCatalogue>, held: &HashSet<Arc<str>>) -> Self {
        let served = if held.is_empty() { listed.clone() } else { Arc::new(listed.holding(held)) };
        Self { listed, served }
    }

    /// Returns the same lists with exactly these tools withheld; `None` if exactly these tools are withheld already.
    pub(super) fn again(&self, held: &HashSet<Arc<str>>) -> Option<Self> {
        let now = self.served.held();
        let is_same = now.len() == held.len() && now.iter().all(|tool| held.contains(&*tool.key));
        (!is_same).then(|| Self::without(self.listed.clone(), held))
    }
}
