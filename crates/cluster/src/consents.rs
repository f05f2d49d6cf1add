//! Consents in the store: the tokens that users have allowed gateways to use, each as a document with a version, and a lock
//! for each consent, because a refresh token works only once. The version is the fencing number: who holds the lock replaces
//! only the tokens that it has read. This module must not know what is in a document.

use std::time::{Duration, Instant};

use crate::cluster::{Cluster, Membership, WRITE, now_ms};
use crate::documents::{self, StoredDocument, VersionedDocument};
use crate::families::StoreKeys;
use crate::notices::{self, Notice};
use crate::resp::{StoreCommand, StoreReply};
use crate::sealed::SealedValues;
use crate::valkey::StoreError;

/// The time for which the store keeps a consent after its last change.
const LIFE: Duration = Duration::from_hours(24 * 180);

/// The time after which a lock ends by itself.
const LOCKED: Duration = Duration::from_mins(1);

/// The time after a connection to the store was opened during which nothing is locked: gateways whose changes the store has
/// lost, or never got, write them first.
const SETTLING: Duration = Duration::from_secs(3);

/// Deletes a value only if it is the one in the argument.
const RELEASE: &str =
    "if redis.call('GET',KEYS[1])==ARGV[1] then return redis.call('DEL',KEYS[1]) end return 0";

/// A lock that this replica holds.
#[derive(Debug)]
pub struct ConsentLock {
    key: String,
    value: Vec<u8>,
    taken: Instant,
}

impl ConsentLock {
    /// Returns true if the lock will be held for at least this time.
    pub fn lasts(&self, time: Duration) -> bool {
        self.taken.elapsed().saturating_add(time) < LOCKED
    }
}

/// Returns the command that takes a lock, and the lock; `None` if it cannot be sealed.
pub(crate) fn lock(
    keys: &StoreKeys,
    values: &SealedValues,
    name: &str,
    me: &str,
) -> Option<(StoreCommand, ConsentLock)> {
    let key = keys.consent_lock(name);
    // The time makes each lock of a replica another one.
    let value = values.write(&key, &(me, now_ms()))?;
    let command =
        StoreCommand::new("SET").arg(&key).arg(&value).arg("NX").arg("PX").number(LOCKED.as_millis());
    Some((command, ConsentLock { key, value, taken: Instant::now() }))
}

/// Returns the command that releases a lock, unless another replica has it by now.
fn release(lock: &ConsentLock) -> StoreCommand {
    StoreCommand::new("EVAL").arg(RELEASE).arg("1").arg(&lock.key).arg(&lock.value)
}

impl Cluster {
    /// Reads the consent with this name.
    ///
    /// # Errors
    /// Fails if the store does not answer in time, or if a newer version of Dragoman has written the consent.
    pub async fn consent(&self, name: &str) -> Result<StoredDocument, StoreError> {
        let Membership { store, keys, values, .. } = &*self.membership;
        let key = keys.consent(name);
        let reply = store.one(documents::read(&key), WRITE).await?;
        documents::stored(&key, values, &reply)
    }

    /// Replaces the consent with this mark; returns false if another one is there by now.
    ///
    /// # Errors
    /// Fails if the store does not answer in time. The consent may have been replaced nevertheless.
    pub async fn replace_consent(
        &self,
        name: &str,
        mark: &str,
        document: &VersionedDocument,
    ) -> Result<bool, StoreError> {
        let Membership { store, keys, values, .. } = &*self.membership;
        let replace = documents::replace(&keys.consent(name), values, mark, (document, Some(LIFE)));
        let notice = notices::send(keys, values, &Notice::Consents(vec![name.to_owned()]));
        let (Some(replace), Some([add, publish])) = (replace, notice) else { return Err(no_random()) };
        let replies = store.run(vec![replace, add, publish], WRITE).await?;
        Ok(replies.first() == Some(&StoreReply::Integer(1)))
    }

    /// Takes the lock of a consent; `None` if another replica holds it.
    ///
    /// # Errors
    /// Fails if the store does not answer in time, or has become available only now.
    pub async fn lock_consent(&self, name: &str) -> Result<Option<ConsentLock>, StoreError> {
        let Membership { store, keys, values, me, settled, .. } = &*self.membership;
        if settled.lock().is_none_or(|settled| settled.elapsed() < SETTLING) {
            return Err(StoreError::Unreachable("it has become available only now".to_owned()));
        }
        let Some((take, lock)) = lock(keys, values, name, &me.id) else { return Err(no_random()) };
        Ok((store.one(take, WRITE).await? != StoreReply::Nil).then_some(lock))
    }

    /// Releases a lock. If the store does not answer, the lock ends by itself.
    pub async fn unlock_consent(&self, lock: &ConsentLock) {
        let _ = self.membership.store.one(release(lock), WRITE).await;
    }
}

fn no_random() -> StoreError {
    StoreError::Refused("the system's random number generator failed".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cluster, parts};

    #[test]
    fn one_replica_at_a_time_takes_a_lock_and_releases_only_its_own() {
        let (keys, values) = cluster();
        let (take, lock) = lock(&keys, &values, "ab", "me").unwrap();
        let take = parts(&take);
        assert_eq!(take[..2], ["SET", "test:consent-lock:ab"]);
        assert_eq!(take[3..], ["NX", "PX", "60000"]);
        let release = parts(&release(&lock));
        assert_eq!(release[2..], ["1", "test:consent-lock:ab", &take[2]]);
    }

    #[test]
    fn a_lock_is_used_only_as_long_as_it_surely_lasts() {
        let (keys, values) = cluster();
        let (_, mut lock) = lock(&keys, &values, "ab", "me").unwrap();
        assert!(lock.lasts(Duration::from_secs(30)) && !lock.lasts(LOCKED));
        lock.taken = Instant::now().checked_sub(Duration::from_secs(50)).unwrap();
        assert!(lock.lasts(Duration::from_secs(5)) && !lock.lasts(Duration::from_secs(30)));
    }
}
