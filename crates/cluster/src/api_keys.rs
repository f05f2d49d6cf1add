//! API keys in the store: every replica has all keys in a file of its own, and compares it with the store. So a replica
//! goes on with the keys that it knows when the store is away. This module must not know what a key gives access to.

use std::collections::HashMap;
use std::sync::Arc;

use store::keys::KeyRecord;
use transport::task::spawn_blocking;

use crate::families::StoreKeys;
use crate::member::SharedKeys;
use crate::notices::{self, Notice};
use crate::resp::{Command, Reply};
use crate::sealed::SealedValues;

/// The number of keys that are written, or announced, at once.
const AT_ONCE: usize = 200;

/// The comparison of a replica's keys with those in the store.
pub(crate) struct KeyExchange {
    own: Arc<dyn SharedKeys>,
    /// The keys in the store, by their digests, as far as this replica knows.
    shared: HashMap<String, KeyRecord>,
    /// The version of the replica's own keys at the last comparison.
    seen: Option<i64>,
    /// The generation of the key ring under which the keys were written.
    generation: String,
}

/// Keys that the store lacks, and the state of the replica's own keys in which they were found.
pub(crate) struct ChangedKeys {
    pub(crate) keys: Vec<KeyRecord>,
    version: i64,
    generation: String,
}

impl KeyExchange {
    pub(crate) fn new(own: Arc<dyn SharedKeys>) -> Self {
        Self { own, shared: HashMap::new(), seen: None, generation: String::new() }
    }

    /// Returns the command that reads all keys.
    pub(crate) fn read_all(keys: &StoreKeys) -> Command {
        Command::new("HGETALL").arg(keys.api_keys())
    }

    /// Takes over all keys in the store, and forgets what it knew about the store.
    pub(crate) async fn take_all(&mut self, keys: &StoreKeys, values: &SealedValues, reply: &Reply) {
        let (fields, _) = reply.list().as_chunks::<2>();
        let read = fields.iter().filter_map(|[digest, sealed]| {
            let digest = digest.text()?;
            let record: KeyRecord = values.read(&place(keys, digest), sealed.bytes()?)?;
            (record.digest == digest).then_some(record)
        });
        let records: Vec<_> = read.collect();
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

    /// Returns the keys that the store lacks, or does not know to be revoked; `None` if the replica's own keys have not
    /// changed.
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
        keys.retain(|key| self.shared.get(&key.digest).is_none_or(|known| is_news(key, known)));
        Some(ChangedKeys { keys, version, generation })
    }

    /// Returns the commands that write keys and announce them, in parts.
    pub(crate) fn commands(
        keys: &StoreKeys,
        values: &SealedValues,
        changed: &[KeyRecord],
    ) -> Vec<Vec<Command>> {
        let parts = changed.chunks(AT_ONCE).map(|part| {
            let write = part.iter().filter_map(|key| {
                let sealed = values.write(&place(keys, &key.digest), key)?;
                Some(Command::new("HSET").arg(keys.api_keys()).arg(&key.digest).arg(sealed))
            });
            let notice = notices::send(keys, values, &Notice::Keys(part.to_vec()));
            write.chain(notice.into_iter().flatten()).collect()
        });
        parts.collect()
    }

    /// Notes that keys were written.
    pub(crate) fn written(&mut self, written: ChangedKeys) {
        let ChangedKeys { keys, version, generation } = written;
        self.shared.extend(keys.into_iter().map(|key| (key.digest.clone(), key)));
        (self.seen, self.generation) = (Some(version), generation);
    }
}

/// Returns true if the store does not know a revocation. Names are not compared, because replicas may have to tell keys
/// with the same name apart.
fn is_news(own: &KeyRecord, shared: &KeyRecord) -> bool {
    own.revoked_ms.is_some_and(|own| shared.revoked_ms.is_none_or(|shared| own < shared))
}

/// The context of a sealed key.
fn place(keys: &StoreKeys, digest: &str) -> String {
    format!("{}/{digest}", keys.api_keys())
}
