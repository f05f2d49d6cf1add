//! The context for making sessions. This module must not know transports.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use cluster::Cluster;
use config::Limits;
use engine::catalogue::UpstreamId;
use parking_lot::Mutex;
use proto::mcp::Notice;
use transport::budget::KeptPart;
use upstream::Egress;

use super::changed::notify_changed;
use super::eviction::{EventAges, evict};
use super::kept::{EndedSessions, SessionStore};
use super::sealer::StateSealer;
use super::session::{ClientChannel, Session};
use super::sessions::Sessions;
use super::tidying::Tidying;
use super::turns::Turns;
use super::until::Holders;
use crate::view::context::ViewObserver;
use crate::view::{ViewCell, ViewContext};

/// The state that all threads share.
pub struct SessionState {
    /// All sessions.
    pub sessions: Sessions,
    /// The sealer of states that pass through clients.
    pub(crate) sealer: Arc<StateSealer>,
    /// The open event streams, with the credentials that opened them.
    pub holders: Arc<Holders>,
    /// Counts ended sessions; after many of them, memory is returned to the system.
    pub(crate) tidying: Tidying,
    /// The ages of the events that sessions keep for replay.
    pub(crate) ages: EventAges,
    /// The store of sessions for the next process; `None` if nothing is stored.
    pub(super) store: Option<Arc<dyn SessionStore>>,
    /// The cluster that shares sessions; empty if this gateway works alone.
    pub cluster: OnceLock<Arc<Cluster>>,
    /// The sessions that have ended for good.
    pub(super) ended: Mutex<EndedSessions>,
    /// The turns for restoring sessions: each session is restored by one request at a time.
    pub(super) turns: Turns,
}

impl SessionState {
    /// Creates the state with no sessions.
    pub(crate) fn new(limits: &Limits, sealer: StateSealer, store: Option<Arc<dyn SessionStore>>) -> Self {
        Self {
            sessions: Sessions::new(limits),
            sealer: Arc::new(sealer),
            holders: Arc::default(),
            tidying: Tidying::default(),
            ages: EventAges::default(),
            store,
            cluster: OnceLock::new(),
            ended: Mutex::default(),
            turns: Turns::default(),
        }
    }
}

impl SessionState {
    /// Evicts the oldest kept events until the events fit into their share of the memory budget.
    pub(crate) fn evict_events(&self, kept: &KeptPart, now: Instant) {
        let sessions = self.sessions.all();
        let streams = sessions.iter().filter_map(|session| match &session.channel {
            ClientChannel::Http(streams) => Some(streams),
            ClientChannel::Pipe(_) => None,
        });
        let gone = evict(streams, kept, self.ages.pinned_from(now));
        if gone > 0 {
            tracing::debug!(events = gone, "kept events were dropped to make room (`limits.memory`)");
        }
    }
}

impl ViewObserver for SessionState {
    fn changed(&self, view: &ViewCell, lists: &[Notice]) {
        for session in self.sessions.with_view(view) {
            for list in lists {
                notify_changed(&session, *list);
            }
        }
    }

    fn announced(&self, view: &ViewCell, server: UpstreamId, lists: &[Notice]) {
        // A session with a link of its own hears of changes over that link.
        let has_own = |session: &Session| session.own_cell(server).is_some_and(|cell| !cell.is_pooled());
        for session in self.sessions.with_view(view).iter().filter(|session| !has_own(session)) {
            for list in lists {
                notify_changed(session, *list);
            }
        }
    }

    fn sees(&self, view: &ViewCell) -> bool {
        !self.sessions.with_view(view).is_empty()
    }
}

/// A thread's context for making sessions.
pub struct SessionContext {
    /// The thread's access to servers.
    pub(crate) egress: Egress,
    /// The context for making views.
    pub(crate) view: Arc<ViewContext>,
    /// The state that all threads share.
    pub state: Arc<SessionState>,
}
