//! The functions of a replica for counts that all replicas share. This module must not know who is counted, or why.

use std::sync::atomic::Ordering;

use crate::cluster::{Cluster, Membership, READ};
use crate::counts::{self, CountTake, Counted};
use crate::valkey::StoreError;

impl Cluster {
    /// Counts requests: of each group, all or none. Takes no longer than a request may wait for the store.
    ///
    /// # Errors
    /// Fails if the store does not answer in time.
    pub async fn count(&self, groups: &[&[CountTake]]) -> Result<Vec<Vec<Counted>>, StoreError> {
        let Membership { store, keys, values, .. } = &*self.membership;
        let no_key = || StoreError::Refused("the key ring has no key for names".to_owned());
        let commands = groups.iter().map(|takes| counts::count(keys, values, takes).ok_or_else(no_key));
        let replies = store.run(commands.collect::<Result<_, _>>()?, READ).await?;
        let counted = groups.iter().zip(&replies).map(|(takes, reply)| counts::counted(takes, reply));
        let unreadable = || StoreError::Refused("the reply to a count has another form".to_owned());
        counted.collect::<Option<Vec<_>>>().filter(|all| all.len() == groups.len()).ok_or_else(unreadable)
    }

    /// Takes back one counted request. The store does so before it counts anything that is asked for later. If the store cannot be
    /// used, nothing happens.
    pub fn give_back(&self, name: &[u8], interval: u64) {
        let Membership { store, keys, values, .. } = &*self.membership;
        if let Some(command) = counts::give_back(keys, values, name, interval) {
            store.send(command);
        }
    }

    /// Returns true if the store can be asked now.
    pub fn has_store(&self) -> bool {
        self.membership.store.is_usable()
    }

    /// Returns the number of replicas that were alive when the store could be read last; 1 if it could never be read.
    pub fn last_replica_count(&self) -> u32 {
        self.membership.last_replica_count.load(Ordering::Relaxed)
    }
}
