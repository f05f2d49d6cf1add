//! Approved definitions of tools in the store, each server's as a document with a version. This module must not know what is in a
//! document.

use std::time::Duration;

use secrecy::SecretString;

use crate::cluster::{Cluster, Membership, WRITE, now_ms};
use crate::documents::{self, DocumentVersion, StoredDocument, VersionedDocument};
use crate::notices::{self, Notice};
use crate::resp::StoreReply;
use crate::valkey::StoreError;

/// The time for which the store keeps a document after its last change. Each replica has the approvals in a file of its own.
const LIFE: Duration = Duration::from_hours(24 * 180);

/// The maximum time for reading or writing a document, which can have several megabytes.
const WHOLE: Duration = Duration::from_secs(5);

impl Cluster {
    /// Returns the text in place of the version of the document with this name; empty if there is none.
    ///
    /// # Errors
    /// Fails if the store does not answer in time.
    pub async fn definitions_mark(&self, name: &str) -> Result<String, StoreError> {
        let Membership { store, keys, .. } = &*self.membership;
        let read = documents::read_mark(&keys.definitions(name));
        store.one(read, WRITE).await.map(|reply| documents::mark(&reply))
    }

    /// Reads the document with this name.
    ///
    /// # Errors
    /// Fails if the store does not answer in time, or if a newer version of Dragoman has written the document.
    pub async fn definitions(&self, name: &str) -> Result<StoredDocument, StoreError> {
        let Membership { store, keys, values, .. } = &*self.membership;
        let key = keys.definitions(name);
        let reply = store.one(documents::read(&key), WHOLE).await?;
        documents::stored(&key, values, &reply)
    }

    /// Replaces the document with this mark. Returns the new mark; `None` if another document is there by now.
    ///
    /// # Errors
    /// Fails if the store does not answer in time. The document may have been replaced nevertheless.
    pub async fn replace_definitions(
        &self,
        name: &str,
        mark: &str,
        text: SecretString,
    ) -> Result<Option<String>, StoreError> {
        let Membership { store, keys, values, .. } = &*self.membership;
        // Documents are merged, so that the version only has to differ from the one before.
        let version = DocumentVersion::after(mark.parse().ok(), now_ms());
        let document = VersionedDocument { version, text };
        let replace = documents::replace(&keys.definitions(name), values, mark, (&document, Some(LIFE)));
        let notice = notices::send(keys, values, &Notice::Definitions(vec![name.to_owned()]));
        let (Some(replace), Some([add, publish])) = (replace, notice) else { return Err(no_random()) };
        let replies = store.run(vec![replace, add, publish], WHOLE).await?;
        Ok((replies.first() == Some(&StoreReply::Integer(1))).then(|| version.to_string()))
    }

    /// Asks the other replicas to compare the documents with these names, because this replica has just read them.
    ///
    /// # Errors
    /// Fails if the store does not answer in time.
    pub async fn announce_definitions(&self, names: Vec<String>) -> Result<(), StoreError> {
        let Membership { store, keys, values, .. } = &*self.membership;
        let notice = notices::send(keys, values, &Notice::Definitions(names)).ok_or_else(no_random)?;
        store.run(notice.into(), WRITE).await.map(drop)
    }
}

fn no_random() -> StoreError {
    StoreError::Refused("the system's random number generator failed".to_owned())
}
