//! Stores sessions for the next process: decides when to write a session, and what to write; and ends sessions for
//! good. This module must not know files.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use store::sessions::{OpenRow, SessionKey, SessionRow};

use super::context::SessionState;
use super::kept::{RowSource, introduction_of, millis, now_ms};
use super::session::Session;

/// The maximum time between two writes of a session that is in use.
const REFRESHED: Duration = Duration::from_mins(10);

/// The maximum size, in bytes, of an introduction that is stored exactly as its client sent it. If it is larger, only
/// the client's class is stored.
const MOST_INTRODUCTION: usize = 4 << 10;

impl SessionState {
    /// Stores a session in its current state.
    pub(crate) fn note_change(&self, session: &Arc<Session>) {
        if let (Some(store), Some(kept)) = (&self.store, &session.kept) {
            store.changed(kept.key, session.clone());
        }
    }

    /// Stores the times of last use, for sessions that were used some time after they were last stored. Ids that are
    /// not used for the time `lifetime` are forgotten.
    pub(super) fn note_uses(&self, lifetime: Duration) {
        if self.store.is_none() {
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

    /// Ends a session for good: its id becomes worthless.
    pub(crate) fn end_for_good(&self, session: &Session) {
        let Some(kept) = &session.kept else { return };
        self.ended.lock().insert(kept.key);
        if let Some(store) = &self.store {
            store.ended(kept.key);
        }
    }

    /// Returns true if a session is known to have ended for good, without asking the store.
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
