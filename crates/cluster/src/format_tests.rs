//! Tests of the rule by which gateways of two versions work together, for each family of keys: what this version does with a value
//! that a newer version has written in a form that this version does not know.

use std::collections::BTreeSet;

use parking_lot::Mutex;
use store::keys::KeyRecord;

use super::event_chunks::{StreamCopy, StreamKey};
use super::families::StoreKeys;
use super::logins::LoginEnds;
use super::resp::{StoreCommand, StoreReply};
use super::sealed::SealedValues;
use super::sessions::SharedSession;
use super::testing::{cluster, parts, text};
use super::{
    JournalPosition, SharedKeys, StoreError, consents, counts, documents, homes, journal, notices, replicas,
    sessions, single_use,
};
use crate::api_keys::KeyExchange;
use std::sync::Arc;
use std::time::Duration;

/// Returns a value of a newer version under this name.
fn newer(values: &SealedValues, name: &str) -> StoreReply {
    text(values.write(name, &("a form of a later version", 2)).unwrap())
}

/// A document stays as it is: whoever wants to replace it gets an error.
fn document_stays(key: &str, values: &SealedValues) {
    let version = "3-0000000000000009";
    let stored = StoreReply::List(vec![text(version), newer(values, &format!("{key}/{version}"))]);
    assert_eq!(documents::stored(key, values, &stored).unwrap_err(), StoreError::Newer);
}

/// A command writes only if nothing is there.
fn writes_only_what_is_missing(command: &StoreCommand) {
    let command = parts(command);
    assert!(command[0] == "SET" && command.contains(&"NX".to_owned()), "{command:?}");
}

struct OneKey(Mutex<KeyRecord>);

impl SharedKeys for OneKey {
    fn version(&self) -> Result<i64, String> {
        Ok(1)
    }

    fn all(&self) -> Result<Vec<KeyRecord>, String> {
        Ok(vec![self.0.lock().clone()])
    }

    fn merge(&self, keys: &[KeyRecord]) -> Result<bool, String> {
        assert!(keys.is_empty());
        Ok(false)
    }
}

/// API keys: the key is not used, and not replaced.
fn api_key_stays(keys: &StoreKeys, values: &SealedValues) {
    let own = KeyRecord {
        digest: "a".to_owned(),
        prefix: String::new(),
        name: String::new(),
        profiles: None,
        created_ms: 1,
        expires_ms: None,
        revoked_ms: None,
    };
    let mut exchange = KeyExchange::new(Arc::new(OneKey(Mutex::new(own))));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let stored = newer(values, &format!("{}/a", keys.api_keys()));
        exchange.take_all(keys, values, &StoreReply::List(vec![text("a"), stored])).await;
        assert!(exchange.changed(values).await.unwrap().keys.is_empty());
    });
}

/// A family, and a check of what happens to a value of a newer version.
type Family = (&'static str, fn(&StoreKeys, &SealedValues));

const FAMILIES: &[Family] = &[
    // A text without a meaning.
    ("epoch", |_, _| {}),
    ("log", |keys, values| {
        let entry = StoreReply::List(vec![
            text("5-0"),
            StoreReply::List(vec![text("notice"), newer(values, &keys.log())]),
        ]);
        let read = notices::notices(keys, values, &StoreReply::List(vec![entry]), |_| false);
        assert_eq!(
            (read.notices.len(), read.last.as_deref()),
            (0, Some("5-0")),
            "skipped, and not read again"
        );
    }),
    // Ids and times.
    ("replicas", |_, _| {}),
    ("replica:ID", |keys, values| {
        let ids = ["00000000000000aa".to_owned()];
        let reply = StoreReply::List(vec![newer(values, &keys.replica(&ids[0]))]);
        assert!(replicas::alive(keys, values, &ids, &reply).is_empty());
    }),
    ("keys", api_key_stays),
    ("changes", |keys, values| document_stays(&keys.changes(), values)),
    ("definitions:NAME", |keys, values| document_stays(&keys.definitions("ab"), values)),
    ("consent:NAME", |keys, values| document_stays(&keys.consent("ab"), values)),
    ("consent-lock:NAME", |keys, values| {
        writes_only_what_is_missing(&consents::lock(keys, values, "ab", "me").unwrap().0);
    }),
    ("logins", |keys, values| {
        let name = "07070707070707070707070707070707";
        let stored = newer(values, &format!("{}/{name}", keys.logins()));
        let mut ends = LoginEnds::default();
        ends.compare(keys, values, &StoreReply::List(vec![text(name), stored]), 1);
        assert!(ends.take().is_none(), "neither replaced nor deleted");
    }),
    ("sign-in:NAME", |keys, values| document_stays(&keys.sign_in("ab"), values)),
    ("used:NAME", |keys, values| {
        writes_only_what_is_missing(&single_use::claim(keys, values, "a", Duration::from_secs(9)).unwrap());
    }),
    // The session continues with the data in its id.
    ("session:ID", |keys, values| {
        let open = newer(values, &keys.session(&sessions::id(&[7; 16])));
        assert_eq!(sessions::found(keys, values, &[7; 16], &[StoreReply::Nil, open]), None);
    }),
    ("home:OWNER", |keys, values| {
        let home = newer(values, &keys.home("07070707070707070707070707070707"));
        assert!(matches!(homes::found(keys, values, &[7; 16], (&home, "me")), homes::FoundHome::Newer));
    }),
    // Events in a new form are missing, so nobody is told that a stream is complete.
    ("events:STREAM", |keys, values| {
        let key = StreamKey { session: [7; 16], epoch: 1, stream: 2 };
        let name = key.name(keys);
        let stored = StoreReply::List(vec![newer(values, &name)]);
        let copy = StreamCopy::read((&key, &name), values, &stored);
        assert_eq!(copy, StreamCopy::default());
        assert!(!copy.has_ended() && !copy.has_last());
    }),
    // Counts are not sealed: another form needs another name. A value in another form does not count as a number.
    ("count:DIGEST", |keys, values| {
        assert!(parts(&counts::give_back(keys, values, b"a", 7).unwrap())[1].contains("^(%d+):(%d+)$"));
    }),
    // The reader of the entries skips those that it does not know.
    ("journal", |keys, values| {
        let fields = StoreReply::List(vec![text("entry"), newer(values, &keys.journal())]);
        let entry = StoreReply::List(vec![text("5-0"), fields]);
        let page = journal::page(keys, values, &StoreReply::List(vec![entry]));
        assert!(page.last.is_some());
        assert_eq!(parts(&journal::read(keys, &JournalPosition::Newest, 1))[0], "XREVRANGE");
    }),
    // An end in a new form is an end.
    ("ended:ID", |keys, values| {
        let end = newer(values, &keys.ended(&sessions::id(&[7; 16])));
        let found = sessions::found(keys, values, &[7; 16], &[end, StoreReply::Nil]);
        assert_eq!(found, Some(SharedSession::Ended));
    }),
];

#[test]
fn values_of_a_newer_version_are_neither_misread_nor_replaced() {
    let (keys, values) = cluster();
    for (name, holds) in FAMILIES {
        eprintln!("{name}");
        holds(&keys, &values);
    }
}

#[test]
fn each_family_is_checked() {
    let rows = include_str!("families.rs").lines().filter_map(|line| line.strip_prefix("//! | `"));
    let listed: BTreeSet<_> = rows.filter_map(|row| Some(row.split_once('`')?.0)).collect();
    let checked: BTreeSet<_> = FAMILIES.iter().map(|(name, _)| *name).collect();
    assert_eq!(listed, checked);
}
