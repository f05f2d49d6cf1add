//! API keys in the store: every replica has all keys in a file of its own, and compares it with the store. A replica can
//! therefore continue with its own keys while the store is unavailable. This module must not know what a key gives access to.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use store::keys::KeyRecord;
use transport::task::spawn_blocking;

use crate::families::StoreKeys;
use crate::member::SharedKeys;
use crate::notices::{self, Notice};
use crate::resp::{StoreCommand, StoreReply};
use crate::sealed::{SealedValues, StoredValue};

/// The number of keys that are written and announced in one batch.
const AT_ONCE: usize = 200;

/// The comparison of a replica's keys with those in the store.
pub(crate) struct KeyExchange {
    own: Arc<dyn SharedKeys>,
    /// The keys that this replica knows to be in the store, by their digests.
    shared: HashMap<String, KeyRecord>,
    /// The digests of keys that a newer version has written in a form that this version does not know. They stay as they are.
    newer: HashSet<String>,
    /// The version of the replica's own keys at the last comparison.
    seen: Option<i64>,
    /// The generation of the key ring under which the keys were written.
    generation: String,
}

/// Keys that the store lacks, with the version of the replica's own keys and the generation of the key ring at the time
/// of the comparison.
pub(crate) struct ChangedKeys {
    pub(crate) keys: Vec<KeyRecord>,
    version: i64,
    generation: String,
}

impl KeyExchange {
    pub(crate) fn new(own: Arc<dyn SharedKeys>) -> Self {
        Self { own, shared: HashMap::new(), newer: HashSet::new(), seen: None, generation: String::new() }
    }

    /// Returns the command that reads all keys.
    pub(crate) fn read_all(keys: &StoreKeys) -> StoreCommand {
        StoreCommand::new("HGETALL").arg(keys.api_keys())
    }

    /// Takes over all keys in the store, and replaces the record of the keys that the store contains.
    pub(crate) async fn take_all(&mut self, keys: &StoreKeys, values: &SealedValues, reply: &StoreReply) {
        let (fields, _) = reply.list().as_chunks::<2>();
        let mut records = Vec::new();
        self.newer.clear();
        for [digest, sealed] in fields {
            let (Some(digest), Some(sealed)) = (digest.text(), sealed.bytes()) else { continue };
            match values.value::<KeyRecord>(&place(keys, digest), sealed) {
                StoredValue::Known(record) if record.digest == digest => records.push(record),
                StoredValue::Newer => drop(self.newer.insert(digest.to_owned())),
                StoredValue::Known(_) | StoredValue::Foreign => {}
            }
        }
        self.shared.clear();
        self.seen = None;
        self.take(records).await;
    }

    /// Takes over keys that another replica has created or revoked.
    pub(crate) async fn take(&mut self, records: Vec<KeyRecord>) {
        let (own, merged) = (self.own.clone(), records.clone());
        match spawn_blocking(move || own.merge(&merged)).await {
            Ok(Ok(_)) => {
                self.shared.extend(records.into_iter().map(|record| (record.digest.clone(), record)));
            }
            Ok(Err(why)) => tracing::warn!("API keys of the cluster cannot be stored here: {why}"),
            Err(_) => {}
        }
    }

    /// Returns the keys that must be written to the store: new keys, and keys whose revocation the store does not
    /// contain. Returns `None` if the replica's own keys have not changed.
    pub(crate) async fn changed(&mut self, values: &SealedValues) -> Option<ChangedKeys> {
        let own = self.own.clone();
        // The version is read before the keys, so that a change in between is found by the next comparison.
        let version = spawn_blocking(move || own.version()).await.ok()?.ok()?;
        let generation = values.generation();
        if generation != self.generation {
            // Keys must be sealed again before the old key of the ring is removed.
            self.shared.clear();
        } else if self.seen == Some(version) {
            return None;
        }
        let own = self.own.clone();
        let mut keys = spawn_blocking(move || own.all()).await.ok()?.ok()?;
        keys.retain(|key| {
            let is_news = || self.shared.get(&key.digest).is_none_or(|known| is_news(key, known));
            // A newer version can read the notice of a revocation.
            (!self.newer.contains(&key.digest) || key.revoked_ms.is_some()) && is_news()
        });
        Some(ChangedKeys { keys, version, generation })
    }

    /// Returns the commands that write keys and announce them, in batches.
    pub(crate) fn commands(
        &self,
        keys: &StoreKeys,
        values: &SealedValues,
        changed: &[KeyRecord],
    ) -> Vec<Vec<StoreCommand>> {
        let parts = changed.chunks(AT_ONCE).map(|part| {
            let known = part.iter().filter(|key| !self.newer.contains(&key.digest));
            let write = known.filter_map(|key| {
                let sealed = values.write(&place(keys, &key.digest), key)?;
                Some(StoreCommand::new("HSET").arg(keys.api_keys()).arg(&key.digest).arg(sealed))
            });
            let notice = notices::send(keys, values, &Notice::Keys(part.to_vec()));
            write.chain(notice.into_iter().flatten()).collect()
        });
        parts.collect()
    }

    /// Records that keys were written.
    pub(crate) fn written(&mut self, written: ChangedKeys) {
        let ChangedKeys { keys, version, generation } = written;
        self.shared.extend(keys.into_iter().map(|key| (key.digest.clone(), key)));
        (self.seen, self.generation) = (Some(version), generation);
    }
}

/// Returns true if the store lacks the key's revocation, or has a later time for it. Names are not compared, because
/// they may differ: a replica renames one of two keys with the same name.
fn is_news(own: &KeyRecord, shared: &KeyRecord) -> bool {
    own.revoked_ms.is_some_and(|own| shared.revoked_ms.is_none_or(|shared| own < shared))
}

/// The context of a sealed key.
fn place(keys: &StoreKeys, digest: &str) -> String {
    format!("{}/{digest}", keys.api_keys())
}

#[cfg(test)]
mod tests {
    use parking_lot::Mutex;

    use super::*;
    use crate::testing::{OpenSealer, cluster, parts, text};

    /// Keys in memory.
    #[derive(Default)]
    struct OwnKeys(Mutex<(i64, Vec<KeyRecord>)>);

    impl OwnKeys {
        /// Changes the keys, as another process does.
        fn change(&self, change: impl FnOnce(&mut Vec<KeyRecord>)) {
            let mut own = self.0.lock();
            own.0 += 1;
            change(&mut own.1);
        }
    }

    impl SharedKeys for OwnKeys {
        fn version(&self) -> Result<i64, String> {
            Ok(self.0.lock().0)
        }

        fn all(&self) -> Result<Vec<KeyRecord>, String> {
            Ok(self.0.lock().1.clone())
        }

        fn merge(&self, keys: &[KeyRecord]) -> Result<bool, String> {
            self.0.lock().1.extend_from_slice(keys);
            Ok(true)
        }
    }

    fn key(digest: &str) -> KeyRecord {
        KeyRecord {
            digest: digest.to_owned(),
            prefix: "dgm_00000000".to_owned(),
            name: digest.to_owned(),
            profiles: None,
            created_ms: 1,
            expires_ms: None,
            revoked_ms: None,
        }
    }

    fn digests(changed: &ChangedKeys) -> Vec<&str> {
        changed.keys.iter().map(|key| key.digest.as_str()).collect()
    }

    #[tokio::test]
    async fn a_key_is_written_once_and_again_when_it_is_revoked() {
        let (_, values) = cluster();
        let own = Arc::new(OwnKeys::default());
        let mut exchange = KeyExchange::new(own.clone());
        own.change(|keys| keys.push(key("a")));
        let changed = exchange.changed(&values).await.unwrap();
        assert_eq!(digests(&changed), ["a"]);
        // It could not be written.
        let changed = exchange.changed(&values).await.unwrap();
        assert_eq!(digests(&changed), ["a"]);
        exchange.written(changed);
        assert!(exchange.changed(&values).await.is_none(), "nothing has changed");
        own.change(|keys| keys[0].revoked_ms = Some(9));
        let changed = exchange.changed(&values).await.unwrap();
        assert_eq!(digests(&changed), ["a"]);
        exchange.written(changed);
        own.change(|keys| keys[0].name = "another".to_owned());
        assert!(digests(&exchange.changed(&values).await.unwrap()).is_empty(), "names are no news");
    }

    #[tokio::test]
    async fn keys_of_others_are_taken_over_and_not_written_back() {
        let (keys, values) = cluster();
        let own = Arc::new(OwnKeys::default());
        let mut exchange = KeyExchange::new(own.clone());
        let sealed = |digest: &str, at: &str| text(values.write(&place(&keys, at), &key(digest)).unwrap());
        let reply = StoreReply::List(vec![
            text("a"),
            sealed("a", "a"),
            text("b"),
            text("garbage"),
            text("c"),
            sealed("a", "a"),
            text("d"),
            sealed("a", "d"),
            text("alone"),
        ]);
        exchange.take_all(&keys, &values, &reply).await;
        assert_eq!(own.all().unwrap(), [key("a")]);
        own.change(|keys| keys.push(key("own")));
        assert_eq!(digests(&exchange.changed(&values).await.unwrap()), ["own"]);
    }

    #[tokio::test]
    async fn all_keys_are_written_again_when_the_store_has_lost_them_or_the_ring_has_a_new_key() {
        let keys = StoreKeys::new("test");
        let sealer = Arc::new(OpenSealer::default());
        let values = SealedValues::new(sealer.clone());
        let own = Arc::new(OwnKeys::default());
        let mut exchange = KeyExchange::new(own.clone());
        own.change(|keys| keys.extend([key("a"), key("b")]));
        let changed = exchange.changed(&values).await.unwrap();
        exchange.written(changed);
        exchange.take_all(&keys, &values, &StoreReply::List(Vec::new())).await;
        let changed = exchange.changed(&values).await.unwrap();
        assert_eq!(digests(&changed), ["a", "b"]);
        exchange.written(changed);
        *sealer.generation.lock() = "2".to_owned();
        let changed = exchange.changed(&values).await.unwrap();
        assert_eq!(digests(&changed), ["a", "b"]);
        exchange.written(changed);
        assert!(exchange.changed(&values).await.is_none());
    }

    #[tokio::test]
    async fn a_key_of_a_newer_version_stays_in_the_store() {
        let (keys, values) = cluster();
        let own = Arc::new(OwnKeys::default());
        let mut exchange = KeyExchange::new(own.clone());
        own.change(|keys| keys.extend([key("a"), key("b")]));
        let newer = |at: &str| text(values.write(&place(&keys, at), &("format 2",)).unwrap());
        let reply = StoreReply::List(vec![text("a"), newer("a"), text("b"), newer("a")]);
        exchange.take_all(&keys, &values, &reply).await;
        let changed = exchange.changed(&values).await.unwrap();
        assert_eq!(digests(&changed), ["b"], "an attacker has copied its value");
        own.change(|keys| keys[0].revoked_ms = Some(9));
        let changed = exchange.changed(&values).await.unwrap();
        assert_eq!(digests(&changed), ["a", "b"]);
        let commands: Vec<_> =
            exchange.commands(&keys, &values, &changed.keys)[0].iter().map(parts).collect();
        assert_eq!((commands[0][2].as_str(), commands[1][0].as_str()), ("b", "XADD"));
        assert_eq!(commands.len(), 3, "a revocation is announced, and the value stays");
    }

    #[test]
    fn many_keys_are_written_in_parts_with_a_notice_each() {
        let (keys, values) = cluster();
        let all: Vec<_> = (0..=AT_ONCE).map(|number| key(&number.to_string())).collect();
        let exchange = KeyExchange::new(Arc::new(OwnKeys::default()));
        let written = exchange.commands(&keys, &values, &all);
        assert_eq!(written.iter().map(Vec::len).collect::<Vec<_>>(), [AT_ONCE + 2, 3]);
        let last: Vec<_> = written[1].iter().map(parts).collect();
        assert_eq!(last[0][..3], ["HSET".to_owned(), "test:keys".to_owned(), AT_ONCE.to_string()]);
        let read: KeyRecord = values.read(&place(&keys, &last[0][2]), last[0][3].as_bytes()).unwrap();
        assert_eq!((read.digest, last[1][0].as_str()), (AT_ONCE.to_string(), "XADD"));
        assert!(exchange.commands(&keys, &values, &[]).is_empty());
    }

    #[test]
    fn only_an_earlier_revocation_is_news() {
        let revoked = |revoked_ms| KeyRecord { revoked_ms, ..key("a") };
        for (own, shared, expected) in [
            (None, None, false),
            (None, Some(1), false),
            (Some(1), None, true),
            (Some(1), Some(2), true),
            (Some(2), Some(1), false),
            (Some(1), Some(1), false),
        ] {
            assert_eq!(is_news(&revoked(own), &revoked(shared)), expected, "{own:?} {shared:?}");
        }
    }
}
