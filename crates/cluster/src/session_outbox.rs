//! Changes of sessions that wait to be written into the store. This module must not know how they are written.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use store::random_key::RandomKeyHash;
use store::sessions::{OpenRow, SessionKey};

/// The maximum number of changes that wait for the store, at most one for each session. Above this number, changes
/// of additional open sessions are not stored, and the oldest ends of sessions are forgotten.
const MOST_WAITING: usize = 100_000;

/// The number of sessions that are written in one batch.
const AT_ONCE: usize = 256;

/// An open session that can describe itself.
pub trait OpenSession: Send + Sync {
    /// Returns the session's current data; `None` if there is nothing to share.
    fn row(&self) -> Option<OpenRow>;
}

/// Changes that wait to be written: at most one for each session. A session that has ended stays ended.
#[derive(Default)]
pub(crate) struct SessionOutbox {
    open: HashMap<SessionKey, Arc<dyn OpenSession>, RandomKeyHash>,
    ended: HashSet<SessionKey, RandomKeyHash>,
}

/// Changes that are being written.
#[derive(Default)]
pub(crate) struct SessionBatch {
    pub(crate) open: Vec<(SessionKey, Arc<dyn OpenSession>)>,
    pub(crate) ended: Vec<SessionKey>,
}

impl SessionOutbox {
    /// Records a change to an open session.
    pub(crate) fn changed(&mut self, key: SessionKey, session: Arc<dyn OpenSession>) {
        let is_full = self.open.len() >= MOST_WAITING;
        if self.ended.contains(&key) {
            return;
        }
        match self.open.entry(key) {
            Entry::Occupied(mut known) => drop(known.insert(session)),
            Entry::Vacant(new) if !is_full => drop(new.insert(session)),
            Entry::Vacant(_) => {
                tracing::debug!("a session is not shared: too many sessions wait for the cluster's store");
            }
        }
    }

    /// Records the end of a session.
    pub(crate) fn ended(&mut self, key: SessionKey) {
        self.open.remove(&key);
        if self.ended.len() < MOST_WAITING {
            self.ended.insert(key);
        }
    }

    /// Takes the next changes; ends come first.
    pub(crate) fn take(&mut self) -> SessionBatch {
        let ended: Vec<_> = self.ended.iter().copied().take(AT_ONCE).collect();
        for key in &ended {
            self.ended.remove(key);
        }
        let keys: Vec<_> = self.open.keys().copied().take(AT_ONCE).collect();
        let open = keys.into_iter().filter_map(|key| self.open.remove_entry(&key)).collect();
        SessionBatch { open, ended }
    }

    /// Puts back changes that could not be written, unless there are newer ones for the same sessions.
    pub(crate) fn put_back(&mut self, batch: SessionBatch) {
        for key in batch.ended {
            self.ended(key);
        }
        for (key, session) in batch.open {
            if !self.open.contains_key(&key) {
                self.changed(key, session);
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty() && self.ended.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A session with this introduction.
    struct Introduced(&'static str);

    impl OpenSession for Introduced {
        fn row(&self) -> Option<OpenRow> {
            Some(OpenRow {
                introduction: self.0.into(),
                level: None,
                subscriptions: "[]".to_owned(),
                used_ms: 7,
            })
        }
    }

    fn session(introduction: &'static str) -> Arc<dyn OpenSession> {
        Arc::new(Introduced(introduction))
    }

    fn number(number: usize) -> SessionKey {
        u128::try_from(number).unwrap().to_be_bytes()
    }

    fn introductions(batch: &SessionBatch) -> Vec<Vec<u8>> {
        batch.open.iter().filter_map(|(_, session)| session.row()).map(|row| row.introduction).collect()
    }

    #[test]
    fn only_the_latest_change_of_a_session_waits() {
        let mut outbox = SessionOutbox::default();
        outbox.changed(number(1), session("old"));
        outbox.changed(number(1), session("new"));
        let batch = outbox.take();
        assert_eq!((introductions(&batch), outbox.is_empty()), (vec![b"new".to_vec()], true));
    }

    #[test]
    fn a_session_that_has_ended_stays_ended() {
        let mut outbox = SessionOutbox::default();
        outbox.changed(number(1), session("before"));
        outbox.ended(number(1));
        outbox.changed(number(1), session("after"));
        let batch = outbox.take();
        assert!(batch.open.is_empty());
        assert_eq!(batch.ended, [number(1)]);
        // The end could not be written, and meanwhile the session has changed.
        outbox.changed(number(1), session("meanwhile"));
        outbox.put_back(batch);
        let batch = outbox.take();
        assert_eq!((batch.open.len(), batch.ended), (0, vec![number(1)]));
    }

    #[test]
    fn changes_that_could_not_be_written_do_not_replace_newer_ones() {
        let mut outbox = SessionOutbox::default();
        outbox.changed(number(1), session("old"));
        outbox.changed(number(2), session("other"));
        let batch = outbox.take();
        outbox.changed(number(1), session("new"));
        outbox.put_back(batch);
        let mut waiting = introductions(&outbox.take());
        waiting.sort();
        assert_eq!(waiting, [b"new".to_vec(), b"other".to_vec()]);
    }

    #[test]
    fn changes_are_taken_in_parts_and_none_is_lost() {
        let mut outbox = SessionOutbox::default();
        for count in 0..3 * AT_ONCE {
            outbox.changed(number(count), session("open"));
            outbox.ended(number(10_000 + count));
        }
        let mut seen = HashSet::new();
        while !outbox.is_empty() {
            let batch = outbox.take();
            assert!(batch.open.len() <= AT_ONCE && batch.ended.len() <= AT_ONCE);
            seen.extend(batch.ended);
            seen.extend(batch.open.into_iter().map(|(key, _)| key));
        }
        assert_eq!(seen.len(), 6 * AT_ONCE);
    }

    #[test]
    fn a_store_that_is_away_for_long_costs_bounded_memory() {
        let mut outbox = SessionOutbox::default();
        let open = session("open");
        for count in 0..MOST_WAITING + 10 {
            outbox.changed(number(count), open.clone());
            outbox.ended(number(1_000_000 + count));
        }
        assert_eq!((outbox.open.len(), outbox.ended.len()), (MOST_WAITING, MOST_WAITING));
        outbox.changed(number(0), session("new"));
        assert_eq!(
            outbox.open[&number(0)].row().unwrap().introduction,
            b"new",
            "those that wait go on changing"
        );
    }
}
