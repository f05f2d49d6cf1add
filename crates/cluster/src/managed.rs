//! The managed configuration in the store: the changes that operators have made to the configuration while gateways run,
//! as one document with a version. This module must not know what a change means.

use std::time::Duration;

use crate::cluster::{Cluster, Membership, WRITE};
use crate::documents::{self, StoredDocument, VersionedDocument};
use crate::notices::{self, Notice};
use crate::resp::StoreReply;
use crate::valkey::StoreError;

/// The maximum time for reading or writing the whole document, which can have several megabytes.
const WHOLE: Duration = Duration::from_secs(5);

impl Cluster {
    /// Waits until another replica may have changed the managed configuration, or until the replica has compared
    /// everything with the store.
    pub async fn managed_news(&self) {
        self.membership.managed.notified().await;
    }

    /// Returns the text in place of the version; empty if the store contains no document.
    ///
    /// # Errors
    /// Fails if the store does not answer in time.
    pub async fn managed_mark(&self) -> Result<String, StoreError> {
        let membership = &self.membership;
        let read = documents::read_mark(&membership.keys.changes());
        membership.store.one(read, WRITE).await.map(|reply| documents::mark(&reply))
    }

    /// Reads the document.
    ///
    /// # Errors
    /// Fails if the store does not answer in time, or if a newer version of Dragoman has written the document.
    pub async fn managed_document(&self) -> Result<StoredDocument, StoreError> {
        let membership = &self.membership;
        let key = membership.keys.changes();
        let reply = membership.store.one(documents::read(&key), WHOLE).await?;
        documents::stored(&key, &membership.values, &reply)
    }

    /// Replaces the document with this mark; returns false if another document is there by now.
    ///
    /// # Errors
    /// Fails if the store does not answer in time. The document may have been replaced nevertheless.
    pub async fn replace_managed(
        &self,
        mark: &str,
        document: &VersionedDocument,
    ) -> Result<bool, StoreError> {
        let Membership { store, keys, values, .. } = &*self.membership;
        let replace = documents::replace(&keys.changes(), values, mark, (document, None));
        let notice = notices::send(keys, values, &Notice::Changes);
        let (Some(replace), Some([add, publish])) = (replace, notice) else {
            return Err(StoreError::Refused("the system's random number generator failed".to_owned()));
        };
        let replies = store.run(vec![replace, add, publish], WHOLE).await?;
        Ok(replies.first() == Some(&StoreReply::Integer(1)))
    }

    /// Returns a text that changes whenever the key ring seals with another key.
    pub fn sealed_under(&self) -> String {
        self.membership.values.generation()
    }
}
