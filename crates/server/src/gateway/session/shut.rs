//! Servers of which a session's client may use nothing: it is not introduced to them, nor are they told of it. It must not know
//! rules.

use std::sync::Arc;

use engine::Snapshot;
use engine::catalogue::UpstreamId;

use crate::gateway::session::session::Session;
use upstream::Upstream;
use upstream::link::OpenLink;
use upstream::pool::LinkCell;

impl Session {
    /// The link over which a server's lists are fetched for this session. Where rules may keep all of them from its client,
    /// that one shall not be introduced to the server before it is known.
    pub(crate) fn list_link(
        self: &Arc<Self>,
        snapshot: &Snapshot,
        upstream: &Arc<Upstream>,
    ) -> Arc<LinkCell> {
        let guard = snapshot.guard(self.profile, &self.identity.class(snapshot));
        if guard.is_some_and(|guard| guard.bounds(upstream.name())) {
            return upstream.shared_link(&self.kind);
        }
        self.cell(upstream)
    }

    /// Returns true if its client may use nothing of a server.
    pub(crate) fn shuts(&self, upstream: UpstreamId) -> bool {
        self.view().is_some_and(|cell| cell.view().shuts(upstream))
    }

    /// Its open links to servers of which its client may use anything.
    pub(crate) fn open_links(&self) -> Vec<Arc<OpenLink>> {
        let open: Vec<_> = self.links.lock().values().filter_map(|used| used.cell.current()).collect();
        open.into_iter().filter(|link| !self.shuts(link.server.spec.id)).collect()
    }
}
