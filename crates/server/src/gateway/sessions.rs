//! The table of all sessions: found by id, swept when idle, capped.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use engine::config::Limits;
use parking_lot::RwLock;

use super::Shard;
use super::session::{Face, Session};
use super::streams::STANDING;
use super::views::ViewCell;

/// All sessions.
pub(crate) struct Sessions {
    max: usize,
    idle: Duration,
    open: RwLock<HashMap<Box<str>, Arc<Session>>>,
}

impl Sessions {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self { max: limits.sessions, idle: limits.session_idle, open: RwLock::default() }
    }

    pub(crate) fn get(&self, id: &str) -> Option<Arc<Session>> {
        self.open.read().get(id).cloned()
    }

    /// Adds a session; `false` when there are too many.
    pub(crate) fn add(&self, session: &Arc<Session>) -> bool {
        let mut open = self.open.write();
        open.len() < self.max && {
            open.insert(session.id.clone(), session.clone());
            true
        }
    }

    pub(crate) fn remove(&self, id: &str) -> Option<Arc<Session>> {
        let mut open = self.open.write();
        let removed = open.remove(id);
        // What a rush of sessions took is given back.
        if open.capacity() > 64 && open.len() * 4 < open.capacity() {
            open.shrink_to_fit();
        }
        removed
    }

    pub(crate) fn is_full(&self) -> bool {
        self.open.read().len() >= self.max
    }

    /// The sessions that see a view.
    pub(crate) fn with_view(&self, view: &ViewCell) -> Vec<Arc<Session>> {
        let sees = |s: &&Arc<Session>| s.view().is_some_and(|own| std::ptr::eq(Arc::as_ptr(own), view));
        self.open.read().values().filter(sees).cloned().collect()
    }

    /// Whether another session that shares links with this one is subscribed to the same resource.
    pub(crate) fn shares_subscription(&self, session: &Session, uri: &str) -> bool {
        let Some((upstream, link)) = session.shared_owner(uri) else { return false };
        let shares = |s: &&Arc<Session>| s.id != session.id && s.joined(upstream) == Some(link.id);
        self.open.read().values().filter(shares).any(|s| s.is_subscribed(uri))
    }

    pub(crate) fn all(&self) -> Vec<Arc<Session>> {
        self.open.read().values().cloned().collect()
    }

    /// Ends the streams that belong to no call, as nothing will come on them any more.
    pub(crate) fn hang_up(&self) {
        for session in self.all() {
            if let Face::Http(streams) = &session.face {
                streams.finish(STANDING);
            }
        }
    }

    /// Keeps streams alive and ends the sessions that nobody uses.
    pub(crate) async fn sweep(&self, shard: &Shard) {
        for session in self.all() {
            if let Face::Http(streams) = &session.face
                && streams.keep_alive()
            {
                session.touch();
            }
            let busy = session.is_busy();
            if !busy && session.idle() > self.idle && matches!(session.face, Face::Http(_)) {
                tracing::info!("a session ends: nobody used it for {:?}", self.idle);
                if let Some(session) = self.remove(&session.id) {
                    session.end(shard).await;
                }
            }
        }
    }
}
