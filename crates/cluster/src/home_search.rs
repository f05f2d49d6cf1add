//! The search for the home of an owner. This module must not know what an owner is.

use std::time::Instant;

use crate::cluster::{Cluster, Membership, READ};
use crate::homes::{self, FoundHome, Home, HomeOwner};
use crate::peers::Peer;
use crate::resp::StoreReply;
use crate::valkey::StoreError;

impl Cluster {
    /// Returns the replica that has the process of an owner, if it is another one. If nobody has it, or if the replica that had it is
    /// gone, this replica becomes the owner's home. If the store does not answer in time, the last known home counts.
    pub async fn home(&self, owner: HomeOwner) -> Option<Peer> {
        let homes = &self.membership.homes;
        match homes.recent(&owner, Instant::now()) {
            Some(Home::Here) => return None,
            // If the replica is gone, the store decides who takes its place.
            Some(Home::At(id)) => {
                if let Some(peer) = self.peer(id).await {
                    return Some(peer);
                }
            }
            None => {}
        }
        let home = match self.ask_for_home(&owner).await {
            Ok(home) => {
                homes.learn(owner, home, Instant::now());
                home
            }
            Err(error) => {
                tracing::debug!("cannot ask the cluster's store which gateway has a process: {error}");
                homes.last(&owner)?
            }
        };
        match home {
            Home::Here => None,
            Home::At(id) => self.peer(id).await,
        }
    }

    /// Asks the store for the home of an owner.
    async fn ask_for_home(&self, owner: &HomeOwner) -> Result<Home, StoreError> {
        let Membership { store, keys, values, me, .. } = &*self.membership;
        // The second attempt is for the case that another replica replaces the same home at the same time.
        for _ in 0..2 {
            let Some(claim) = homes::claim(keys, values, owner, &me.id) else { return Ok(Home::Here) };
            // Keeping the home alive in the same exchange does no harm to the home of another replica.
            let replies = store.run(vec![claim, homes::keep(keys, owner)], READ).await?;
            let reply = replies.first().unwrap_or(&StoreReply::Nil);
            let (replica, sealed) = match homes::found(keys, values, owner, (reply, &me.id)) {
                FoundHome::Here => return Ok(Home::Here),
                FoundHome::Newer => return Err(StoreError::Newer),
                FoundHome::At(replica, sealed) => (replica, sealed),
            };
            if let Ok(id) = u64::from_str_radix(&replica, 16)
                && self.peer(id).await.is_some()
            {
                return Ok(Home::At(id));
            }
            let replace = homes::replace(keys, values, (owner, &sealed), &me.id);
            let Some(replace) = replace else { return Ok(Home::Here) };
            if store.one(replace, READ).await? == StoreReply::Integer(1) {
                return Ok(Home::Here);
            }
        }
        Err(StoreError::Refused("other gateways were faster twice".to_owned()))
    }
}
