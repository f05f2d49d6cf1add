//! Servers that are entirely denied to a session's client: they receive neither the client's introduction nor its
//! state. This module must not know rules.

use std::sync::Arc;

use engine::catalogue::UpstreamId;

use crate::session::session::Session;
use upstream::link::OpenLink;

impl Session {
    /// Returns true if the session's client may use nothing from this server.
    pub(crate) fn denies_server(&self, upstream: UpstreamId) -> bool {
        self.view().is_some_and(|cell| cell.view().denies_server(upstream))
    }

    /// Returns the session's open links, except links to servers that are entirely denied to its client.
    pub(crate) fn open_links(&self) -> Vec<Arc<OpenLink>> {
        let open: Vec<_> = self.links.used.lock().values().filter_map(|used| used.cell.current()).collect();
        open.into_iter().filter(|link| !self.denies_server(link.server.spec.id)).collect()
    }
}
