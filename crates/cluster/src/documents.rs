//! Documents with versions in the store. A document is replaced only if it is still the one that was read, and is bound to
//! its version, so that nobody can pass an older document off as a newer one. This module must not know what a document
//! means.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};

use crate::resp::{StoreCommand, StoreReply};
use crate::sealed::{SealedValues, StoredValue};
use crate::valkey::StoreError;

/// The fields of the document in the store.
const VERSION: &str = "version";
const SEALED: &str = "sealed";

/// Replaces the document only if its version is still the one in the first argument; empty if there is no document. The
/// other arguments are the new version, the new document, and the time in milliseconds after which the document expires; 0
/// for a document that stays.
const REPLACE: &str = "if (redis.call('HGET',KEYS[1],'version') or '')~=ARGV[1] then return 0 end redis.call('HSET',KEYS[1],'version',ARGV[2],'sealed',ARGV[3]) if ARGV[4]~='0' then redis.call('PEXPIRE',KEYS[1],ARGV[4]) end return 1";

/// The version of a document. Versions are ordered: each change gets the next number, and a random number decides between
/// two changes with the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DocumentVersion {
    number: u64,
    edition: u64,
}

impl DocumentVersion {
    /// Returns the version with these two numbers.
    pub fn new(number: u64, edition: u64) -> Self {
        Self { number, edition }
    }

    /// Returns the two numbers.
    pub fn numbers(self) -> (u64, u64) {
        (self.number, self.edition)
    }

    /// Returns the version that follows another one, or the first version. `edition` must be random.
    pub fn after(before: Option<Self>, edition: u64) -> Self {
        let number = before.map_or(0, |before| before.number);
        Self { number: number.saturating_add(1), edition }
    }
}

impl fmt::Display for DocumentVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{:016x}", self.number, self.edition)
    }
}

impl FromStr for DocumentVersion {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (number, edition) = text.split_once('-').unwrap_or((text, ""));
        Ok(Self { number: number.parse()?, edition: u64::from_str_radix(edition, 16)? })
    }
}

/// A document with its version.
#[derive(Debug, Clone)]
pub struct VersionedDocument {
    /// The version.
    pub version: DocumentVersion,
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
    pub document: Option<VersionedDocument>,
}

/// Returns the command that reads the version without the document.
pub(crate) fn read_mark(key: &str) -> StoreCommand {
    StoreCommand::new("HGET").arg(key).arg(VERSION)
}

/// Reads the reply to [`read_mark`].
pub(crate) fn mark(reply: &StoreReply) -> String {
    reply.bytes().map(|mark| String::from_utf8_lossy(mark).into_owned()).unwrap_or_default()
}

/// Returns the command that reads the document under a key.
pub(crate) fn read(key: &str) -> StoreCommand {
    StoreCommand::new("HMGET").arg(key).arg(VERSION).arg(SEALED)
}

/// Reads the reply to [`read`].
///
/// # Errors
/// Fails if a newer version of Dragoman has written the document. The document must then stay as it is.
pub(crate) fn stored(
    key: &str,
    values: &SealedValues,
    reply: &StoreReply,
) -> Result<StoredDocument, StoreError> {
    let (version, sealed) = match reply.list() {
        [version, sealed] => (version, sealed),
        _ => (&StoreReply::Nil, &StoreReply::Nil),
    };
    let mark = mark(version);
    // Each version has one spelling only.
    let version = mark.parse().ok().filter(|version: &DocumentVersion| version.to_string() == mark);
    let document = match version.zip(sealed.bytes()) {
        Some((version, sealed)) => match values.value::<String>(&place(key, version), sealed) {
            StoredValue::Known(text) => Some(VersionedDocument { version, text: text.into() }),
            StoredValue::Newer => return Err(StoreError::Newer),
            StoredValue::Foreign => None,
        },
        None => None,
    };
    Ok(StoredDocument { mark, document })
}

/// Returns the command that replaces the document with this mark; the reply is 1 if nobody was faster. `None` if the
/// document cannot be sealed. The document expires after the time `life`; `None` for a document that stays.
pub(crate) fn replace(
    key: &str,
    values: &SealedValues,
    mark: &str,
    (document, life): (&VersionedDocument, Option<Duration>),
) -> Option<StoreCommand> {
    let version = document.version;
    let sealed = values.write(&place(key, version), &document.text.expose_secret())?;
    let command = StoreCommand::new("EVAL").arg(REPLACE).arg("1").arg(key).arg(mark);
    Some(command.arg(version.to_string()).arg(sealed).number(life.map_or(0, |life| life.as_millis())))
}

/// The context of a sealed document.
fn place(key: &str, version: DocumentVersion) -> String {
    format!("{key}/{version}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{cluster, parts, text};

    fn document(number: u64, edition: u64, text: &str) -> VersionedDocument {
        VersionedDocument { version: DocumentVersion { number, edition }, text: text.into() }
    }

    /// The store's reply after `document` was written, as two fields.
    fn written(document: &VersionedDocument) -> [StoreReply; 2] {
        let (_, values) = cluster();
        let command = replace("test:changes", &values, "", (document, None)).unwrap();
        let told = parts(&command);
        [text(&told[5]), text(&told[6])]
    }

    fn found(fields: &[StoreReply; 2]) -> StoredDocument {
        let (_, values) = cluster();
        stored("test:changes", &values, &StoreReply::List(fields.to_vec())).unwrap()
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
    fn a_document_of_a_newer_version_stays() {
        let (_, values) = cluster();
        let version = DocumentVersion::new(3, 9);
        let sealed = |place: &str| {
            let newer = text(values.write(place, &("format 2", "{}")).unwrap());
            stored("test:changes", &values, &StoreReply::List(vec![text(version.to_string()), newer]))
        };
        assert_eq!(sealed(&place("test:changes", version)).unwrap_err(), StoreError::Newer);
        assert!(sealed("test:elsewhere").unwrap().document.is_none(), "an attacker has copied it here");
    }

    #[test]
    fn without_a_document_the_mark_is_empty() {
        let (_, values) = cluster();
        for reply in [StoreReply::Nil, StoreReply::List(vec![StoreReply::Nil, StoreReply::Nil])] {
            let found = stored("test:changes", &values, &reply).unwrap();
            assert_eq!((found.mark.as_str(), found.document.is_none()), ("", true));
        }
        assert_eq!(mark(&StoreReply::Nil), "");
        assert_eq!(mark(&text("1-0000000000000001")), "1-0000000000000001");
    }

    #[test]
    fn a_document_is_replaced_only_as_it_was_read() {
        let (_, values) = cluster();
        let replaced =
            |life| parts(&replace("test:x", &values, "before", (&document(3, 9, "{}"), life)).unwrap());
        let command = replaced(None);
        assert_eq!(command[0], "EVAL");
        assert_eq!(command[2..6], ["1", "test:x", "before", "3-0000000000000009"]);
        assert_eq!((command[7].as_str(), replaced(Some(Duration::from_secs(9)))[7].as_str()), ("0", "9000"));
        assert_eq!(parts(&read_mark("test:x")), ["HGET", "test:x", "version"]);
        assert_eq!(parts(&read("test:x")), ["HMGET", "test:x", "version", "sealed"]);
    }

    #[test]
    fn no_text_is_shown_by_accident() {
        assert!(!format!("{:?}", document(1, 1, "to-ken-of-ann")).contains("to-ken-of-ann"));
    }

    proptest! {
        #[test]
        fn versions_are_read_as_they_were_written(number: u64, edition: u64) {
            let version = DocumentVersion { number, edition };
            prop_assert_eq!(version.to_string().parse(), Ok(version));
            let next = DocumentVersion::after(Some(version), 0);
            prop_assert!(number == u64::MAX || next > version);
        }
    }
}
