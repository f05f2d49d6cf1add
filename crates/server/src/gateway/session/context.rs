//! What sessions are made with. It must not know transports.

use std::sync::Arc;

use engine::Snapshot;
use engine::config::Limits;
use proto::mcp::Notice;
use upstream::pool::LinkCell;
use upstream::{Egress, Upstream};

use super::changed::tell_changed;
use super::sealer::StateSealer;
use super::sessions::Sessions;
use super::tidying::Tidying;
use super::until::Holders;
use crate::gateway::view::context::ViewObserver;
use crate::gateway::view::{ViewCell, ViewContext};

/// What all threads share.
pub(crate) struct SessionState {
    /// All sessions.
    pub(crate) sessions: Sessions,
    /// What seals states that go through clients.
    pub(crate) sealer: Arc<StateSealer>,
    /// Event streams that are held open.
    pub(crate) holders: Arc<Holders>,
    /// Counts endings, after which memory is given back.
    pub(crate) tidying: Tidying,
}

impl SessionState {
    /// No session yet.
    pub(crate) fn new(limits: &Limits, sealer: StateSealer) -> Self {
        Self {
            sessions: Sessions::new(limits),
            sealer: Arc::new(sealer),
            holders: Arc::default(),
            tidying: Tidying::default(),
        }
    }
}

impl ViewObserver for SessionState {
    fn changed(&self, view: &ViewCell, lists: &[Notice]) {
        for session in self.sessions.with_view(view) {
            for list in lists {
                tell_changed(&session, *list);
            }
        }
    }

    fn sees(&self, view: &ViewCell) -> bool {
        !self.sessions.with_view(view).is_empty()
    }

    fn list_link(
        &self,
        snapshot: &Snapshot,
        view: &ViewCell,
        upstream: &Arc<Upstream>,
    ) -> Option<Arc<LinkCell>> {
        let session = self.sessions.with_view(view).into_iter().next()?;
        Some(session.list_link(snapshot, upstream))
    }
}

/// What a thread makes sessions with.
pub(crate) struct SessionContext {
    /// The thread's way to servers.
    pub(crate) egress: Egress,
    /// What it makes views with.
    pub(crate) view: Arc<ViewContext>,
    /// What all threads share.
    pub(crate) state: Arc<SessionState>,
}
