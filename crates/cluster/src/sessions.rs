//! Sessions in the store: what a client has sent in an open session, and the ends of sessions. This module must not
//! know what the data of a session means.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use store::sessions::{OpenRow, SessionKey};

use crate::families::StoreKeys;
use crate::notices::{self, Notice};
use crate::resp::{StoreCommand, StoreReply};
use crate::sealed::{SealedValues, StoredValue};
use crate::session_outbox::SessionBatch;

/// The time for which the end of a session stays in the store after the session would have expired.
const LONGER: Duration = Duration::from_hours(1);

/// Writes a value under each key. The first argument is the time in milliseconds after which they expire; the others are the values.
const END: &str =
    "for at,key in ipairs(KEYS) do redis.call('SET',key,ARGV[at+1],'PX',ARGV[1]) end return #KEYS";

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
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut id = vec![0; 32];
    for (digits, byte) in id.as_chunks_mut::<2>().0.iter_mut().zip(key) {
        *digits = [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]];
    }
    String::from_utf8(id).unwrap_or_default()
}

/// Returns the value of a hexadecimal digit.
fn digit(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

/// Reads an id; `None` for any other text.
pub(crate) fn key(id: &str) -> Option<SessionKey> {
    let (digits, rest) = id.as_bytes().as_chunks::<2>();
    let mut key = [0; 16];
    if digits.len() != key.len() || !rest.is_empty() {
        return None;
    }
    for (byte, [high, low]) in key.iter_mut().zip(digits) {
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    Some(key)
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
        let expires = life.as_millis().to_string();
        for (key, session) in &self.open {
            let name = keys.session(&id(key));
            let row = session.row().map(SharedRow::of);
            if let Some(sealed) = row.and_then(|row| values.write(&name, &row)) {
                commands.push(StoreCommand::new("SET").arg(&name).arg(sealed).arg("PX").arg(&expires));
            }
        }
        let ids: Vec<_> = self.ended.iter().map(id).collect();
        if !ids.is_empty() {
            commands.extend(end(keys, values, &ids, life.saturating_add(LONGER)));
            commands.extend(notices::send(keys, values, &Notice::SessionsEnded(ids)).into_iter().flatten());
        }
        commands
    }
}

/// Returns the commands that record the ends of sessions for the time `life`. There are two for all sessions, because commands and
/// their replies would cost more than the ends.
fn end(keys: &StoreKeys, values: &SealedValues, ids: &[String], life: Duration) -> [StoreCommand; 2] {
    let sealed = ids.iter().filter_map(|id| {
        let name = keys.ended(id);
        // The JSON text of `true`.
        values.write_bytes(&name, b"true").map(|sealed| (name, sealed))
    });
    let sealed: Vec<_> = sealed.collect();
    let mut end = StoreCommand::new("EVAL").arg(END).number(sealed.len());
    for (name, _) in &sealed {
        end.add(name.as_bytes());
    }
    let mut end = end.number(life.as_millis());
    for (_, sealed) in &sealed {
        end.add(sealed);
    }
    let mut delete = StoreCommand::new("DEL");
    for id in ids {
        delete.add(keys.session(id).as_bytes());
    }
    [end, delete]
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
    if has_ended(keys, values, &id, ended) {
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
    let ended = all.iter().zip(replies).filter(|(key, reply)| has_ended(keys, values, &id(key), reply));
    ended.map(|(key, _)| *key).collect()
}

/// Returns true if a value records the end of a session, even if a newer version has written it.
fn has_ended(keys: &StoreKeys, values: &SealedValues, id: &str, reply: &StoreReply) -> bool {
    let end = reply.bytes().map(|sealed| values.value::<bool>(&keys.ended(id), sealed));
    matches!(end, Some(StoredValue::Known(true) | StoredValue::Newer))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::session_outbox::OpenSession;
    use crate::testing::{cluster, parts, stays_readable, text};

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

    #[test]
    fn open_sessions_expire_and_ends_outlive_them() {
        let (keys, values) = cluster();
        let open = vec![(number(1), session("hi")), (number(2), Arc::new(Introduced(None)) as _)];
        let batch = SessionBatch { open, ended: vec![number(3), number(4)] };
        let commands = batch.commands(&keys, &values, Duration::from_secs(10));
        let commands: Vec<_> = commands.iter().map(parts).collect();
        let named = |count: usize, family: &str| format!("test:{family}:{}", id(&number(count)));
        assert_eq!(
            (commands[0][1].as_str(), &commands[0][3..]),
            (named(1, "session").as_str(), &["PX".to_owned(), "10000".to_owned()][..])
        );
        let sealed = |number| {
            let end = values.write(&named(number, "ended"), &true).unwrap();
            String::from_utf8(end).unwrap()
        };
        let ended = [
            "2".to_owned(),
            named(3, "ended"),
            named(4, "ended"),
            "3610000".to_owned(),
            sealed(3),
            sealed(4),
        ];
        assert_eq!(commands[1][2..], ended);
        assert_eq!(commands[2], ["DEL".to_owned(), named(3, "session"), named(4, "session")]);
        let order: Vec<_> = commands.iter().map(|command| command[0].as_str()).collect();
        assert_eq!(order, ["SET", "EVAL", "DEL", "XADD", "PUBLISH"]);
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
        let newer = text(values.write(&keys.ended(&one), &[2]).unwrap());
        assert_eq!(found(newer, open.clone()), Some(SharedSession::Ended), "of a newer version");
        assert_eq!(found(text("true"), open), Some(SharedSession::Open(row("hi"))));
        assert_eq!(found(StoreReply::Nil, sealed(&keys.session(&other))), None);
        assert_eq!(found(StoreReply::Nil, text("garbage")), None);
    }

    #[test]
    fn sessions_of_released_versions_stay_readable() {
        stays_readable::<SharedRow>(
            r#"{"introduction":"{}","level":"error","subscriptions":"[]","used_ms":7}"#,
        );
        stays_readable::<SharedRow>(r#"{"introduction":"{}","level":null,"subscriptions":"[]","used_ms":7}"#);
        stays_readable::<bool>("true");
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
