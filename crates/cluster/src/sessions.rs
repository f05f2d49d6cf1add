//! Sessions in the store: what a client has sent in an open session, and the ends of sessions. This module must not
//! know what the data of a session means.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use store::sessions::{OpenRow, SessionKey};

use crate::families::StoreKeys;
use crate::notices::{self, Notice};
use crate::resp::{StoreCommand, StoreReply};
use crate::sealed::SealedValues;

/// The maximum number of changes that wait for the store, at most one for each session. Above this number, changes
/// of additional open sessions are not stored, and the oldest ends of sessions are forgotten.
const MOST_WAITING: usize = 100_000;

/// The number of sessions that are written in one batch.
const AT_ONCE: usize = 256;

/// The time for which the end of a session stays in the store after the session would have expired.
const LONGER: Duration = Duration::from_hours(1);

/// An open session that can describe itself.
pub trait OpenSession: Send + Sync {
    /// Returns the session's current data; `None` if there is nothing to share.
    fn row(&self) -> Option<OpenRow>;
}

/// A session in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SharedSession {
    /// The session can continue.
    Open(OpenRow),
    /// The session has ended permanently.
    Ended,
}

/// The data of an open session.
#[derive(Serialize, Deserialize)]
struct SharedRow {
    introduction: String,
    level: Option<String>,
    subscriptions: String,
    used_ms: i64,
}

impl SharedRow {
    fn of(row: OpenRow) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap_or_default();
        Self {
            introduction: text(row.introduction),
            level: row.level.map(text),
            subscriptions: row.subscriptions,
            used_ms: row.used_ms,
        }
    }

    fn row(self) -> OpenRow {
        OpenRow {
            introduction: self.introduction.into_bytes(),
            level: self.level.map(String::into_bytes),
            subscriptions: self.subscriptions,
            used_ms: self.used_ms,
        }
    }
}

/// Returns the id of a session as text, for the names in the store.
pub(crate) fn id(key: &SessionKey) -> String {
    format!("{:032x}", u128::from_be_bytes(*key))
}

/// Reads an id; `None` for any other text.
pub(crate) fn key(id: &str) -> Option<SessionKey> {
    let fits = id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    u128::from_str_radix(id, 16).ok().filter(|_| fits).map(u128::to_be_bytes)
}

/// Changes that wait to be written: at most one for each session. A session that has ended stays ended.
#[derive(Default)]
pub(crate) struct SessionOutbox {
    open: HashMap<SessionKey, Arc<dyn OpenSession>>,
    ended: HashSet<SessionKey>,
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

impl SessionBatch {
    /// Returns the commands that write the changes. A session expires after the time `life` without use.
    pub(crate) fn commands(
        &self,
        keys: &StoreKeys,
        values: &SealedValues,
        life: Duration,
    ) -> Vec<StoreCommand> {
        let mut commands = Vec::new();
        for (key, session) in &self.open {
            let name = keys.session(&id(key));
            let row = session.row().map(SharedRow::of);
            if let Some(sealed) = row.and_then(|row| values.write(&name, &row)) {
                commands
                    .push(StoreCommand::new("SET").arg(&name).arg(sealed).arg("PX").number(life.as_millis()));
            }
        }
        for key in &self.ended {
            let (name, id) = (keys.ended(&id(key)), id(key));
            if let Some(sealed) = values.write(&name, &true) {
                let longer = life.saturating_add(LONGER).as_millis();
                commands.push(StoreCommand::new("SET").arg(&name).arg(sealed).arg("PX").number(longer));
                commands.push(StoreCommand::new("DEL").arg(keys.session(&id)));
            }
        }
        let ids: Vec<_> = self.ended.iter().map(id).collect();
        if !ids.is_empty() {
            commands.extend(notices::send(keys, values, &Notice::SessionsEnded(ids)).into_iter().flatten());
        }
        commands
    }
}

/// Returns the commands that look up a session.
pub(crate) fn look_up(keys: &StoreKeys, key: &SessionKey) -> [StoreCommand; 2] {
    let id = id(key);
    [StoreCommand::new("GET").arg(keys.ended(&id)), StoreCommand::new("GET").arg(keys.session(&id))]
}

/// Reads a session from the replies to [`look_up`]; `None` if the store does not contain the session.
pub(crate) fn found(
    keys: &StoreKeys,
    values: &SealedValues,
    key: &SessionKey,
    replies: &[StoreReply],
) -> Option<SharedSession> {
    let [ended, open] = replies else { return None };
    let id = id(key);
    let has_ended = |sealed| values.read::<bool>(&keys.ended(&id), sealed);
    if ended.bytes().and_then(|sealed| has_ended(sealed)) == Some(true) {
        return Some(SharedSession::Ended);
    }
    let row: SharedRow = values.read(&keys.session(&id), open.bytes()?)?;
    Some(SharedSession::Open(row.row()))
}

/// Returns the commands that look up the ends of sessions.
pub(crate) fn look_up_ends(keys: &StoreKeys, all: &[SessionKey]) -> Vec<StoreCommand> {
    all.iter().map(|key| StoreCommand::new("GET").arg(keys.ended(&id(key)))).collect()
}

/// Returns the sessions of [`look_up_ends`] that have ended.
pub(crate) fn ends(
    keys: &StoreKeys,
    values: &SealedValues,
    all: &[SessionKey],
    replies: &[StoreReply],
) -> Vec<SessionKey> {
    let has_ended = |(key, reply): &(&SessionKey, &StoreReply)| {
        reply.bytes().and_then(|sealed| values.read::<bool>(&keys.ended(&id(key)), sealed)) == Some(true)
    };
    all.iter().zip(replies).filter(has_ended).map(|(key, _)| *key).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{cluster, parts, text};

    /// A session with this introduction; without one, it has nothing to share.
    struct Introduced(Option<&'static str>);

    impl OpenSession for Introduced {
        fn row(&self) -> Option<OpenRow> {
            self.0.map(row)
        }
    }

    fn row(introduction: &str) -> OpenRow {
        OpenRow {
            introduction: introduction.into(),
            level: Some(b"error".to_vec()),
            subscriptions: "[]".to_owned(),
            used_ms: 7,
        }
    }

    fn session(introduction: &'static str) -> Arc<dyn OpenSession> {
        Arc::new(Introduced(Some(introduction)))
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

    #[test]
    fn open_sessions_expire_and_ends_outlive_them() {
        let (keys, values) = cluster();
        let open = vec![(number(1), session("hi")), (number(2), Arc::new(Introduced(None)) as _)];
        let batch = SessionBatch { open, ended: vec![number(3)] };
        let commands = batch.commands(&keys, &values, Duration::from_secs(10));
        let commands: Vec<_> = commands.iter().map(parts).collect();
        let named = |count: usize, family: &str| format!("test:{family}:{}", id(&number(count)));
        assert_eq!(
            (commands[0][1].as_str(), &commands[0][3..]),
            (named(1, "session").as_str(), &["PX".to_owned(), "10000".to_owned()][..])
        );
        assert_eq!(
            (commands[1][1].as_str(), commands[1][4].as_str()),
            (named(3, "ended").as_str(), "3610000")
        );
        assert_eq!(commands[2], ["DEL".to_owned(), named(3, "session")]);
        let order: Vec<_> = commands.iter().map(|command| command[0].as_str()).collect();
        assert_eq!(order, ["SET", "SET", "DEL", "XADD", "PUBLISH"]);
    }

    #[test]
    fn a_session_is_found_as_it_was_written_unless_it_has_ended() {
        let (keys, values) = cluster();
        let (one, other) = (id(&number(1)), id(&number(2)));
        let sealed = |name: &str| text(values.write(name, &SharedRow::of(row("hi"))).unwrap());
        let end = |name: &str| text(values.write(name, &true).unwrap());
        let found = |ended: StoreReply, open: StoreReply| found(&keys, &values, &number(1), &[ended, open]);
        let open = sealed(&keys.session(&one));
        assert_eq!(found(StoreReply::Nil, open.clone()), Some(SharedSession::Open(row("hi"))));
        assert_eq!(found(end(&keys.ended(&one)), open.clone()), Some(SharedSession::Ended));
        assert_eq!(found(StoreReply::Nil, StoreReply::Nil), None);
        // Whoever can write to the store can neither end nor change a session.
        assert_eq!(found(end(&keys.ended(&other)), open.clone()), Some(SharedSession::Open(row("hi"))));
        assert_eq!(found(text("true"), open), Some(SharedSession::Open(row("hi"))));
        assert_eq!(found(StoreReply::Nil, sealed(&keys.session(&other))), None);
        assert_eq!(found(StoreReply::Nil, text("garbage")), None);
    }

    #[test]
    fn only_true_ends_end_sessions() {
        let (keys, values) = cluster();
        let all = [number(1), number(2), number(3), number(4)];
        assert_eq!(parts(&look_up_ends(&keys, &all)[1]), ["GET".to_owned(), keys.ended(&id(&number(2)))]);
        let end = |name: String, value: bool| text(values.write(&name, &value).unwrap());
        let replies = [
            end(keys.ended(&id(&number(1))), true),
            end(keys.ended(&id(&number(1))), true),
            end(keys.ended(&id(&number(3))), false),
            StoreReply::Nil,
        ];
        assert_eq!(ends(&keys, &values, &all, &replies), [number(1)]);
        assert_eq!(ends(&keys, &values, &all, &[]), [[0; 16]; 0]);
    }

    proptest! {
        #[test]
        fn ids_are_read_as_they_were_written(bytes: [u8; 16]) {
            prop_assert_eq!(key(&id(&bytes)), Some(bytes));
        }

        #[test]
        fn no_other_text_is_an_id(text in ".{0,40}") {
            if let Some(read) = key(&text) {
                prop_assert_eq!(id(&read), text.to_ascii_lowercase());
            }
        }
    }
}
