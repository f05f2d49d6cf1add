//! Sign-ins in the store: grants with their tokens, registered clients and uses of tokens, each as a document with a version.
//! This module must not know what is in a document.

use std::time::Duration;

use secrecy::SecretString;

use crate::cluster::{Cluster, Membership, WRITE, now_ms};
use crate::documents::{self, DocumentVersion, StoredDocument, VersionedDocument};
use crate::notices::{self, Notice};
use crate::resp::StoreReply;
use crate::valkey::StoreError;

impl Cluster {
    /// Reads the document with this name.
    ///
    /// # Errors
    /// Fails if the store does not answer in time, or if a newer version of Dragoman has written the document.
    pub async fn sign_in(&self, name: &str) -> Result<StoredDocument, StoreError> {
        let Membership { store, keys, values, .. } = &*self.membership;
        let key = keys.sign_in(name);
        let reply = store.one(documents::read(&key), WRITE).await?;
        documents::stored(&key, values, &reply)
    }

    /// Replaces the document with this mark; returns false if another one is there by now. The document is forgotten after the
    /// time `life`.
    ///
    /// # Errors
    /// Fails if the store does not answer in time. The document may have been replaced nevertheless.
    pub async fn replace_sign_in(
        &self,
        name: &str,
        mark: &str,
        (text, life): (SecretString, Duration),
    ) -> Result<bool, StoreError> {
        let Membership { store, keys, values, .. } = &*self.membership;
        // Documents are merged, so that the version only has to differ from the one before.
        let version = DocumentVersion::after(mark.parse().ok(), now_ms());
        let document = VersionedDocument { version, text };
        let replace = documents::replace(&keys.sign_in(name), values, mark, (&document, Some(life)));
        let Some(replace) = replace else { return Err(no_random()) };
        Ok(store.one(replace, WRITE).await? == StoreReply::Integer(1))
    }

    /// Tells the other replicas that a grant began or ended.
    ///
    /// # Errors
    /// Fails if the store does not answer in time.
    pub async fn announce_sign_in(&self, grant: &str) -> Result<(), StoreError> {
        let Membership { store, keys, values, .. } = &*self.membership;
        let notice = notices::send(keys, values, &Notice::SignIns(vec![grant.to_owned()]));
        let Some(notice) = notice else { return Err(no_random()) };
        store.run(notice.into(), WRITE).await.map(drop)
    }
}

fn no_random() -> StoreError {
    StoreError::Refused("the system's random number generator failed".to_owned())
}
