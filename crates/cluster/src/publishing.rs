//! The task that writes a replica's changes to sessions into the store. This module must not know what a session means.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use crate::cluster::{Membership, WRITE};
use crate::notices::{self, Notice};
use crate::resp::StoreCommand;
use crate::valkey::StoreError;

/// The time between two writes: changes in between are written together.
const PAUSE: Duration = Duration::from_millis(20);

/// The time after a failure until the next attempt.
const AGAIN: Duration = Duration::from_millis(500);

/// Writes changes until the `Cluster` is dropped.
pub(crate) async fn publish(membership: Arc<Membership>) {
    loop {
        if membership.outbox.lock().is_empty() {
            membership.waiting.notified().await;
        }
        let pause = if membership.publish_once().await.is_ok() { PAUSE } else { AGAIN };
        sleep(pause).await;
    }
}

impl Membership {
    /// Writes some of the waiting changes. If that fails, the changes are queued again.
    pub(crate) async fn publish_once(&self) -> Result<(), StoreError> {
        let batch = self.outbox.lock().take();
        let life = *self.session_life.lock();
        let commands = batch.commands(&self.keys, &self.values, life);
        if commands.is_empty() {
            return Ok(());
        }
        match self.store.run(commands, WRITE).await {
            Ok(replies) => {
                if !batch.ended.is_empty() {
                    self.own_notices.lock().sent(&replies);
                }
                Ok(())
            }
            Err(error) => {
                self.outbox.lock().put_back(batch);
                Err(error)
            }
        }
    }

    /// Deletes the replica's description of itself from the store, and tells the other replicas.
    pub(crate) async fn sign_off(&self) {
        let mut gone = vec![
            StoreCommand::new("DEL").arg(self.keys.replica(&self.me.id)),
            StoreCommand::new("ZREM").arg(self.keys.replicas()).arg(&self.me.id),
        ];
        // Otherwise the other replicas find out with their next attempts to reach this one.
        let notice = notices::send(&self.keys, &self.values, &Notice::Left(self.me.id.clone()));
        gone.extend(notice.into_iter().flatten());
        // Otherwise the store forgets the replica a little later.
        let _ = self.store.run(gone, WRITE).await;
    }
}
