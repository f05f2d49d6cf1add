//! The lists of a server in two forms: as the server sent them, and as clients get them, without the tools that
//! await approval. This module must not know when a definition counts as approved.

use std::collections::HashSet;
use std::sync::Arc;

use engine::catalogue::UpstreamCatalogue;
use engine::pinning::ListedDefinition;

/// The lists of a server: as the server sent them, and as clients get them.
#[derive(Clone)]
pub(super) struct ServedLists {
    pub(super) listed: Arc<UpstreamCatalogue>,
    pub(super) served: Arc<UpstreamCatalogue>,
    /// The definitions in these lists; `None` if the lists were not compared with the record.
    pub(super) sightings: Option<Arc<[ListedDefinition]>>,
}

impl ServedLists {
    /// Creates the lists; clients do not get the tools in `held`.
    pub(super) fn without(
        listed: Arc<UpstreamCatalogue>,
        sightings: Option<Arc<[ListedDefinition]>>,
        held: &HashSet<Arc<str>>,
    ) -> Self {
        let served = if held.is_empty() { listed.clone() } else { Arc::new(listed.holding(held)) };
        Self { listed, served, sightings }
    }

    /// Returns the same lists, but with the tools in `held` withheld instead of those withheld before.
    pub(super) fn again(&self, held: &HashSet<Arc<str>>) -> Self {
        if self.withholds(held) {
            return self.clone();
        }
        Self::without(self.listed.clone(), self.sightings.clone(), held)
    }

    /// Returns true if the set of withheld tools differs from that of `before`.
    pub(super) fn differs(&self, before: &Self) -> bool {
        let held: HashSet<Arc<str>> =
            before.served.held().iter().map(|tool| tool.key.as_str().into()).collect();
        !self.withholds(&held)
    }

    fn withholds(&self, held: &HashSet<Arc<str>>) -> bool {
        let now = self.served.held();
        now.len() == held.len() && now.iter().all(|tool| held.contains(&*tool.key))
    }
}
