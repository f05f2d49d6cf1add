//! The managed configuration in the store: the changes that operators have made to the configuration while gateways run,
//! as one document with a version. The document is replaced only if it is still the one that was read, and is bound to
//! its version, so that nobody can pass an older document off as a newer one. This module must not know what a change
//! means.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};

use crate::cluster::{Cluster, WRITE};
use crate::families::StoreKeys;
use crate::notices::{self, Notice};
use crate::resp::{StoreCommand, StoreReply};
use crate::sealed::SealedValues;
use crate::valkey::StoreError;

/// The maximum time for reading or writing the whole document, which can have several megabytes.
const WHOLE: Duration = Duration::from_secs(5);

/// The fields of the document in the store.
const VERSION: &str = "version";
const SEALED: &str = "sealed";

/// Replaces the document only if its version is still the one in the first argument; empty if there is no document. The
/// other arguments are the new version and the new document.
const REPLACE: &str = "if (redis.call('HGET',KEYS[1],'version') or '')~=ARGV[1] then return 0 end redis.call('HSET',KEYS[1],'version',ARGV[2],'sealed',ARGV[3]) return 1";

/// The version of a document. The versions of one cluster are ordered: each change gets the next number, and a random
/// number decides between two changes with the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ManagedVersion {
    number: u64,
    edition: u64,
}

impl ManagedVersion {
    /// Returns the version that follows another one, or the first version. `edition` must be random.
    pub fn after(before: Option<Self>, edition: u64) -> Self {
        let number = before.map_or(0, |before| before.number);
        Self { number: number.saturating_add(1), edition }
    }
}

impl fmt::Display for ManagedVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{:016x}", self.number, self.edition)
    }
}

impl FromStr for ManagedVersion {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (number, edition) = text.split_once('-').unwrap_or((text, ""));
        Ok(Self { number: number.parse()?, edition: u64::from_str_radix(edition, 16)? })
    }
}

/// A document with its version.
#[derive(Debug, Clone)]
pub struct ManagedDocument {
    /// The version.
    pub version: ManagedVersion,
    /// The text, which can contain secrets.
    pub text: SecretString,
}

/// The store's content.
#[derive(Debug, Clone)]
pub struct StoredDocument {
    /// The text in place of the version, which is needed to replace the document; empty if there is no document. Anybody
    /// with access to the store can have written this text.
    pub mark: String,
    /// The document; `None` if there is none, or if no member of the cluster has written it.
    pub document: Option<ManagedDocument>,
}

/// Returns the command that reads the version without the document.
pub(crate) fn read_mark(keys: &StoreKeys) -> StoreCommand {
    StoreCommand::new("HGET").arg(keys.changes()).arg(VERSION)
}

/// Reads the reply to [`read_mark`].
pub(crate) fn mark(reply: &StoreReply) -> String {
    reply.bytes().map(|mark| String::from_utf8_lossy(mark).into_owned()).unwrap_or_default()
}

/// Returns the command that reads the document.
pub(crate) fn read(keys: &StoreKeys) -> StoreCommand {
    StoreCommand::new("HMGET").arg(keys.changes()).arg(VERSION).arg(SEALED)
}

/// Reads the reply to [`read`].
pub(crate) fn stored(keys: &StoreKeys, values: &SealedValues, reply: &StoreReply) -> StoredDocument {
    let (version, sealed) = match reply.list() {
        [version, sealed] => (version, sealed),
        _ => (&StoreReply::Nil, &StoreReply::Nil),
    };
    let mark = mark(version);
    let document = mark.parse().ok().and_then(|version: ManagedVersion| {
        let text: String = values.read(&place(keys, version), sealed.bytes()?)?;
        // Each version has one spelling only.
        (version.to_string() == mark).then(|| ManagedDocument { version, text: text.into() })
    });
    StoredDocument { mark, document }
}

/// Returns the commands that replace the document with this mark, and tell the other replicas; `None` if the document
/// cannot be sealed.
pub(crate) fn replace(
    keys: &StoreKeys,
    values: &SealedValues,
    mark: &str,
    document: &ManagedDocument,
) -> Option<Vec<StoreCommand>> {
    let version = document.version;
    let sealed = values.write(&place(keys, version), &document.text.expose_secret())?;
    let command = StoreCommand::new("EVAL").arg(REPLACE).arg("1").arg(keys.changes());
    let mut commands = vec![command.arg(mark).arg(version.to_string()).arg(sealed)];
    commands.extend(notices::send(keys, values, &Notice::Changes)?);
    Some(commands)
}

/// The context of a sealed document.
fn place(keys: &StoreKeys, version: ManagedVersion) -> String {
    format!("{}/{version}", keys.changes())
}

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
        membership.store.one(read_mark(&membership.keys), WRITE).await.map(|reply| mark(&reply))
    }

    /// Reads the document.
    ///
    /// # Errors
    /// Fails if the store does not answer in time.
    pub async fn managed_document(&self) -> Result<StoredDocument, StoreError> {
        let membership = &self.membership;
        let reply = membership.store.one(read(&membership.keys), WHOLE).await?;
        Ok(stored(&membership.keys, &membership.values, &reply))
    }

    /// Replaces the document with this mark; returns false if another document is there by now.
    ///
    /// # Errors
    /// Fails if the store does not answer in time. The document may have been replaced nevertheless.
    pub async fn replace_managed(&self, mark: &str, document: &ManagedDocument) -> Result<bool, StoreError> {
        let membership = &self.membership;
        let commands = replace(&membership.keys, &membership.values, mark, document);
        let Some(commands) = commands else {
            return Err(StoreError::Refused("the system's random number generator failed".to_owned()));
        };
        let replies = membership.store.run(commands, WHOLE).await?;
        Ok(replies.first() == Some(&StoreReply::Integer(1)))
    }

    /// Returns a text that changes whenever the key ring seals with another key.
    pub fn sealed_under(&self) -> String {
        self.membership.values.generation()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{cluster, parts, text};

    fn document(number: u64, edition: u64, text: &str) -> ManagedDocument {
        ManagedDocument { version: ManagedVersion { number, edition }, text: text.into() }
    }

    /// The store's reply after `document` was written, as two fields.
    fn written(document: &ManagedDocument) -> [StoreReply; 2] {
        let (keys, values) = cluster();
        let commands = replace(&keys, &values, "", document).unwrap();
        let told = parts(&commands[0]);
        [text(&told[5]), text(&told[6])]
    }

    fn found(fields: &[StoreReply; 2]) -> StoredDocument {
        let (keys, values) = cluster();
        stored(&keys, &values, &StoreReply::List(fields.to_vec()))
    }

    #[test]
    fn a_document_is_read_as_it_was_written() {
        let found = found(&written(&document(7, 0xabc, "{}")));
        assert_eq!(found.mark, "7-0000000000000abc");
        let read = found.document.unwrap();
        assert_eq!((read.version, read.text.expose_secret()), (document(7, 0xabc, "").version, "{}"));
    }

    #[test]
    fn an_older_document_cannot_be_passed_off_as_a_newer_one() {
        let ([_, old], [new, _]) = (written(&document(1, 1, "old")), written(&document(2, 2, "new")));
        let forged = found(&[new, old.clone()]);
        assert!(forged.document.is_none());
        assert_eq!(forged.mark, "2-0000000000000002", "the mark is needed to replace it");
        for version in ["", "1", "01-0000000000000001", "+1-0000000000000001", "1-1", "x-1", "1-1-1"] {
            assert!(found(&[text(version), old.clone()]).document.is_none(), "{version}");
        }
        assert!(found(&[text("1-0000000000000001"), text("garbage")]).document.is_none());
        assert!(found(&[text("1-0000000000000001"), StoreReply::Nil]).document.is_none());
    }

    #[test]
    fn without_a_document_the_mark_is_empty() {
        let (keys, values) = cluster();
        for reply in [StoreReply::Nil, StoreReply::List(vec![StoreReply::Nil, StoreReply::Nil])] {
            let found = stored(&keys, &values, &reply);
            assert_eq!((found.mark.as_str(), found.document.is_none()), ("", true));
        }
        assert_eq!(mark(&StoreReply::Nil), "");
        assert_eq!(mark(&text("1-0000000000000001")), "1-0000000000000001");
    }

    #[test]
    fn a_document_is_replaced_only_as_it_was_read_and_the_others_are_told() {
        let (keys, values) = cluster();
        let commands = replace(&keys, &values, "before", &document(3, 9, "{}")).unwrap();
        let commands: Vec<_> = commands.iter().map(parts).collect();
        assert_eq!(commands[0][2..6], ["1", "test:changes", "before", "3-0000000000000009"]);
        let names: Vec<_> = commands.iter().map(|command| command[0].as_str()).collect();
        assert_eq!(names, ["EVAL", "XADD", "PUBLISH"]);
        assert_eq!(parts(&read_mark(&keys)), ["HGET", "test:changes", "version"]);
        assert_eq!(parts(&read(&keys)), ["HMGET", "test:changes", "version", "sealed"]);
    }

    #[test]
    fn no_text_is_shown_by_accident() {
        assert!(!format!("{:?}", document(1, 1, "to-ken-of-ann")).contains("to-ken-of-ann"));
    }

    proptest! {
        #[test]
        fn versions_are_read_as_they_were_written(number: u64, edition: u64) {
            let version = ManagedVersion { number, edition };
            prop_assert_eq!(version.to_string().parse(), Ok(version));
            let next = ManagedVersion::after(Some(version), 0);
            prop_assert!(number == u64::MAX || next > version);
        }
    }
}
