//! The records that store sessions for the next process, and the sessions that have ended for good. This module must
//! not know files, or what a session is.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cluster::OpenSession;
use proto::bridge::input::Askable;
use proto::era::Era;
use proto::json::quote;
use store::random_key::RandomKeyHash;
use store::sessions::{OpenRow, SessionKey, SessionRow};

/// The maximum number of ended sessions that are remembered in memory. A store can remember more.
const MOST_ENDED: usize = 1 << 16;

/// A session that can be stored.
pub(crate) trait RowSource: Send + Sync {
    /// Returns the row to store.
    fn row(&self) -> SessionRow;

    /// Returns true if a row of the session may have been stored.
    fn is_stored(&self) -> bool;
}

/// A store of sessions. Changes are written a little later.
pub(crate) trait SessionStore: Send + Sync {
    /// Records that a session has changed.
    fn changed(&self, key: SessionKey, session: Arc<dyn RowSource>);

    /// Records that a session has ended for good.
    fn ended(&self, key: SessionKey);

    /// Returns the latest stored state of a session. This blocks.
    fn load(&self, key: &SessionKey) -> Option<SessionRow>;
}

/// The state of a session that is stored for the next process.
pub(crate) struct KeptState {
    pub(super) key: SessionKey,
    pub(super) saved_ms: AtomicI64,
    /// True once the session's row may be in the store.
    pub(super) is_stored: AtomicBool,
    /// True after the session was restored, until its client has been notified of changes that it may have missed.
    pub(super) returned: AtomicBool,
}

/// A session in the form that the cluster uses.
pub(super) struct ClusterRow(pub(super) Arc<dyn RowSource>);

impl OpenSession for ClusterRow {
    fn row(&self) -> Option<OpenRow> {
        match self.0.row() {
            SessionRow::Open(row) => Some(row),
            SessionRow::Ended(_) => None,
        }
    }
}

impl KeptState {
    pub(super) fn new(key: SessionKey) -> Self {
        let no = || AtomicBool::new(false);
        Self { key, saved_ms: AtomicI64::new(now_ms()), is_stored: no(), returned: no() }
    }
}

/// The sessions that ended for good most recently.
#[derive(Default)]
pub(crate) struct EndedSessions {
    order: VecDeque<SessionKey>,
    all: HashSet<SessionKey, RandomKeyHash>,
}

impl EndedSessions {
    pub(super) fn has(&self, key: &SessionKey) -> bool {
        self.all.contains(key)
    }

    /// Returns the keys of all sessions.
    pub(super) fn all(&self) -> impl Iterator<Item = SessionKey> {
        self.order.iter().copied()
    }

    pub(super) fn insert(&mut self, key: SessionKey) {
        if !self.all.insert(key) {
            return;
        }
        self.order.push_back(key);
        while self.order.len() > MOST_ENDED
            && let Some(oldest) = self.order.pop_front()
        {
            self.all.remove(&oldest);
        }
    }
}

/// Returns an introduction for a client, if only its version and class are known.
pub(super) fn introduction_of(era: &Era, askable: Askable) -> String {
    format!("{{\"protocolVersion\":{},\"capabilities\":{}}}", quote(era.version), askable.capabilities())
}

/// Returns the current time, in milliseconds since 1970.
pub(crate) fn now_ms() -> i64 {
    millis(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

/// Returns a duration in milliseconds.
pub(crate) fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ended_sessions_are_remembered_up_to_a_number() {
        let mut ended = EndedSessions::default();
        let key = |number: usize| u128::try_from(number).unwrap().to_be_bytes();
        for number in 0..MOST_ENDED + 10 {
            ended.insert(key(number));
            ended.insert(key(number));
        }
        assert_eq!((ended.all.len(), ended.order.len()), (MOST_ENDED, MOST_ENDED));
        assert!(!ended.all.contains(&key(9)) && ended.all.contains(&key(10)));
    }
}
