//! Stores sessions for the next process: decides when to write a session, and what to write. Also ends sessions for
//! good. This module must not know files.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use store::sessions::{OpenRow, SessionKey, SessionRow};

use super::context::SessionState;
use super::kept::{ClusterRow, RowSource, introduction_of, millis, now_ms};
use super::session::Session;

/// The maximum time between two writes of a session that is in use.
const REFRESHED: Duration = Duration::from_mins(10);

/// The maximum size, in bytes, of an introduction that is stored exactly as its client sent it. For a larger one,
/// only the client's class is stored.
const MOST_INTRODUCTION: usize = 4 << 10;

impl SessionState {
    /// Stores a session in its current state.
    pub(crate) fn note_change(&self, session: &Arc<Session>) {
        let Some(kept) = &session.kept else { return };
        if let Some(store) = &self.store {
            store.changed(kept.key, session.clone());
        }
        if let Some(cluster) = self.cluster.get() {
            cluster.session_changed(kept.key, Arc::new(ClusterRow(session.clone())));
        }
    }

    /// Stores the time of the last use of each session that has been used since it was stored, if it was stored
    /// some time ago. `lifetime` is the time after which an unused session is forgotten.
    pub(super) fn note_uses(&self, lifetime: Duration) {
        if self.store.is_none() && self.cluster.get().is_none() {
            return;
        }
        let refreshed = millis(REFRESHED.min(lifetime / 4));
        for session in self.sessions.all() {
            let Some(kept) = &session.kept else { continue };
            let since = now_ms() - kept.saved_ms.load(Ordering::Relaxed);
            if since >= refreshed && millis(session.usage.idle()) < since {
                self.note_change(&session);
            }
        }
    }

    /// Ends a session for good: its id becomes invalid.
    pub fn end_for_good(&self, session: &Session) {
        let Some(kept) = &session.kept else { return };
        self.ended.lock().insert(kept.key);
        if let Some(store) = &self.store {
            store.ended(kept.key);
        }
        if let Some(cluster) = self.cluster.get() {
            cluster.session_ended(kept.key);
        }
    }

    /// Records that sessions have ended at another replica. Of these sessions, returns those that this process has
    /// in memory.
    pub(crate) fn ended_elsewhere(&self, keys: &[SessionKey]) -> Vec<Arc<Session>> {
        let keys: HashSet<_> = keys.iter().copied().collect();
        let mut ended = self.ended.lock();
        for key in &keys {
            ended.insert(*key);
        }
        drop(ended);
        if let Some(store) = &self.store {
            for key in &keys {
                store.ended(*key);
            }
        }
        self.sessions.those(|session| session.kept.as_ref().is_some_and(|kept| keys.contains(&kept.key)))
    }

    /// Returns the keys of the sessions in memory that can be stored.
    pub(crate) fn kept_keys(&self) -> Vec<SessionKey> {
        self.sessions.all().iter().filter_map(|session| Some(session.kept.as_ref()?.key)).collect()
    }

    /// Sends all sessions in memory to the cluster again, and the keys of all sessions that are remembered as
    /// ended.
    pub(crate) fn share_again(&self) {
        let Some(cluster) = self.cluster.get() else { return };
        for key in self.ended.lock().all() {
            cluster.session_ended(key);
        }
        self.copy_events_again();
        for session in self.sessions.all() {
            if let Some(kept) = &session.kept {
                cluster.session_changed(kept.key, Arc::new(ClusterRow(session.clone())));
            }
        }
    }

    /// Returns true if this process remembers that a session has ended for good; does not ask the store.
    pub(super) fn has_ended(&self, key: &SessionKey) -> bool {
        self.ended.lock().has(key)
    }
}

impl RowSource for Session {
    fn row(&self) -> SessionRow {
        let now = now_ms();
        if let Some(kept) = &self.kept {
            kept.saved_ms.store(now, Ordering::Relaxed);
            kept.is_stored.store(true, Ordering::Relaxed);
        }
        SessionRow::Open(OpenRow {
            introduction: match self.client.params.len() {
                0..=MOST_INTRODUCTION => self.client.params.to_vec(),
                _ => introduction_of(self.era(), self.client.class().askable).into_bytes(),
            },
            level: self.level().map(|level| level.to_vec()),
            subscriptions: serde_json::to_string(&self.interests.subscriptions.all()).unwrap_or_default(),
            used_ms: now - millis(self.usage.idle()),
        })
    }

    fn is_stored(&self) -> bool {
        self.kept.as_ref().is_some_and(|kept| kept.is_stored.load(Ordering::Relaxed))
    }
}
