//! Keys that several machines share: each has a file of its own, and the files are merged. A merge never removes a
//! key and never undoes a revocation, so all files become the same, whatever the order of the merges. This module
//! must not know how keys are transferred.

use rusqlite::{Connection, OptionalExtension as _, params};
use serde::{Deserialize, Serialize};

use super::book::{self, Keys, MAX_NAME};
use super::text::PREFIX_LEN;
use crate::Error;
use crate::database::{counted, kept};

/// A key in the form in which machines exchange it: everything except the number and the last use, which each
/// machine has for itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyRecord {
    /// The SHA-256 of the key's text, in hexadecimal digits.
    pub digest: String,
    /// The first characters of the key's text.
    pub prefix: String,
    /// The key's name.
    pub name: String,
    /// The profiles that the key is limited to, a name on each line; `None` means all.
    pub profiles: Option<String>,
    /// The time of the key's creation, in milliseconds since 1970.
    pub created_ms: u64,
    /// The time from which the key is rejected.
    pub expires_ms: Option<u64>,
    /// The time of the key's revocation.
    pub revoked_ms: Option<u64>,
}

impl KeyRecord {
    /// Returns the digest as bytes; `None` if the record is malformed.
    fn digest_bytes(&self) -> Option<[u8; 32]> {
        let mut bytes = [0; 32];
        let digits = self.digest.as_bytes();
        let are_digits = digits.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
        if digits.len() != 64 || !are_digits || self.prefix.len() != PREFIX_LEN || !book::is_name(&self.name)
        {
            return None;
        }
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
        }
        Some(bytes)
    }
}

/// The digest of a key as hexadecimal digits.
fn digits(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

impl Keys {
    /// Returns all keys in the form in which machines exchange them, in the order of their creation in this file.
    ///
    /// # Errors
    /// Fails if the file cannot be used.
    pub fn records(&self) -> Result<Vec<KeyRecord>, Error> {
        self.file().read(|file| {
            let mut query = file.prepare(
                "SELECT digest, prefix, name, profiles, created_ms, expires_ms, revoked_ms FROM keys ORDER BY id",
            )?;
            let records = query.query_map([], |row| {
                let time = |column| Ok::<_, rusqlite::Error>(row.get::<_, Option<i64>>(column)?.map(counted));
                Ok(KeyRecord {
                    digest: digits(row.get_ref(0)?.as_blob()?),
                    prefix: row.get(1)?,
                    name: row.get(2)?,
                    profiles: row.get(3)?,
                    created_ms: counted(row.get(4)?),
                    expires_ms: time(5)?,
                    revoked_ms: time(6)?,
                })
            })?;
            records.collect()
        })
    }

    /// Adds the keys of other machines, and applies revocations from other machines. Returns true if the file
    /// changed. Malformed records are skipped. If two keys that are not revoked have the same name, the one that
    /// was created later gets its prefix as a part of its name.
    ///
    /// # Errors
    /// Fails if the file cannot be used.
    pub fn merge(&mut self, records: &[KeyRecord]) -> Result<bool, Error> {
        self.file_mut().write(|file| {
            let mut has_changed = false;
            for record in records {
                let Some(digest) = record.digest_bytes() else { continue };
                has_changed |= merge_one(file, record, &digest)?;
            }
            Ok(has_changed)
        })
    }
}

fn merge_one(file: &Connection, record: &KeyRecord, digest: &[u8; 32]) -> rusqlite::Result<bool> {
    let revoked = record.revoked_ms.map(kept);
    let known: Option<Option<i64>> = file
        .query_row("SELECT revoked_ms FROM keys WHERE digest = ?1", [digest], |row| row.get(0))
        .optional()?;
    match known {
        None => insert(file, record, digest),
        Some(None) if revoked.is_some() => {
            file.execute("UPDATE keys SET revoked_ms = ?1 WHERE digest = ?2", params![revoked, digest])?;
            Ok(true)
        }
        // The earlier of two times of revocation is the true one.
        Some(Some(own)) if revoked.is_some_and(|revoked| revoked < own) => {
            file.execute("UPDATE keys SET revoked_ms = ?1 WHERE digest = ?2", params![revoked, digest])?;
            Ok(true)
        }
        Some(_) => Ok(false),
    }
}

fn insert(file: &Connection, record: &KeyRecord, digest: &[u8; 32]) -> rusqlite::Result<bool> {
    let is_taken: bool =
        file.query_row("SELECT count(*) > 0 FROM keys WHERE prefix = ?1", [&record.prefix], |row| {
            row.get(0)
        })?;
    if is_taken {
        return Ok(false);
    }
    let mut name = record.name.clone();
    if record.revoked_ms.is_none() {
        let rival: Option<(i64, String, i64)> = file
            .query_row(
                "SELECT id, prefix, created_ms FROM keys WHERE name = ?1 AND revoked_ms IS NULL",
                [&name],
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
            )
            .optional()?;
        if let Some((id, prefix, created)) = rival {
            if (kept(record.created_ms), &record.prefix) < (created, &prefix) {
                let apart = told_apart(file, &name, &prefix)?;
                file.execute("UPDATE keys SET name = ?1 WHERE id = ?2", params![apart, id])?;
            } else {
                name = told_apart(file, &name, &record.prefix)?;
            }
        }
    }
    file.execute(
        "INSERT INTO keys (name, prefix, digest, profiles, created_ms, expires_ms, revoked_ms)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        params![
            name,
            record.prefix,
            digest,
            record.profiles,
            kept(record.created_ms),
            record.expires_ms.map(kept),
            record.revoked_ms.map(kept)
        ],
    )?;
    Ok(true)
}

/// Returns `name`, shortened and extended with the prefix, so that it differs from the names of all keys in use.
fn told_apart(file: &Connection, name: &str, prefix: &str) -> rusqlite::Result<String> {
    let name: String = name.chars().take(MAX_NAME).collect();
    let mut apart = format!("{name} ({prefix})");
    let mut number = 2;
    let is_taken = |apart: &str| {
        let count = "SELECT count(*) > 0 FROM keys WHERE name = ?1 AND revoked_ms IS NULL";
        file.query_row(count, [apart], |row| row.get::<_, bool>(0))
    };
    while is_taken(&apart)? {
        apart = format!("{name} ({prefix}, {number})");
        number += 1;
    }
    Ok(apart)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::database::tests::Folder;

    fn record(number: u8, name: &str) -> KeyRecord {
        KeyRecord {
            digest: format!("{number:02x}").repeat(32),
            prefix: format!("dgm_{number:08}"),
            name: name.to_owned(),
            profiles: None,
            created_ms: u64::from(number),
            expires_ms: None,
            revoked_ms: None,
        }
    }

    fn file() -> (Folder, Keys) {
        let folder = Folder::new();
        let keys = Keys::open(folder.path()).unwrap();
        (folder, keys)
    }

    /// The digests, each with its revocation.
    fn revocations(keys: &Keys) -> BTreeMap<String, Option<u64>> {
        keys.records().unwrap().into_iter().map(|key| (key.digest, key.revoked_ms)).collect()
    }

    fn names(keys: &Keys) -> Vec<String> {
        let mut names: Vec<_> = keys.records().unwrap().into_iter().map(|key| key.name).collect();
        names.sort();
        names
    }

    #[test]
    fn a_key_is_stored_as_it_travels() {
        let (_folder, mut keys) = file();
        let sent = KeyRecord {
            profiles: Some("a\nb".to_owned()),
            expires_ms: Some(7),
            revoked_ms: Some(8),
            ..record(1, "ann")
        };
        assert!(keys.merge(std::slice::from_ref(&sent)).unwrap());
        assert_eq!(keys.records().unwrap(), std::slice::from_ref(&sent));
        assert!(!keys.merge(&[sent]).unwrap(), "it is known");
    }

    #[test]
    fn a_revocation_is_never_taken_back_and_the_earlier_one_counts() {
        let (_folder, mut keys) = file();
        let at = |revoked_ms| [KeyRecord { revoked_ms, ..record(1, "ann") }];
        keys.merge(&at(None)).unwrap();
        for (revoked, changes, expected) in [
            (Some(9), true, 9),
            (None, false, 9),
            (Some(10), false, 9),
            (Some(5), true, 5),
            (Some(9), false, 5),
        ] {
            assert_eq!(keys.merge(&at(revoked)).unwrap(), changes, "{revoked:?}");
            assert_eq!(keys.records().unwrap()[0].revoked_ms, Some(expected));
        }
    }

    #[test]
    fn malformed_records_are_skipped_and_the_others_are_stored() {
        let (_folder, mut keys) = file();
        let good = record(9, "good");
        let altered = |change: fn(&mut KeyRecord)| {
            let mut record = record(1, "bad");
            change(&mut record);
            record
        };
        let records = [
            altered(|record| record.digest.truncate(63)),
            altered(|record| record.digest.replace_range(..1, "g")),
            altered(|record| record.digest.replace_range(..2, "+1")),
            altered(|record| record.digest = "é".repeat(32)),
            altered(|record| record.prefix.push('x')),
            altered(|record| record.name.clear()),
            altered(|record| record.name = "a\nb".to_owned()),
            altered(|record| record.name = "x".repeat(1000)),
            good.clone(),
        ];
        keys.merge(&records).unwrap();
        assert_eq!(keys.records().unwrap(), [good]);
    }

    #[test]
    fn keys_with_the_same_name_are_told_apart_alike_everywhere() {
        let all = [record(1, "ann"), record(2, "ann"), record(3, "ann")];
        let mut seen = Vec::new();
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let (_folder, mut keys) = file();
            for number in order {
                keys.merge(std::slice::from_ref(&all[number])).unwrap();
            }
            seen.push(names(&keys));
        }
        let expected = ["ann", "ann (dgm_00000002)", "ann (dgm_00000003)"].map(str::to_owned);
        assert!(seen.iter().all(|names| *names == expected), "{seen:?}");
    }

    #[test]
    fn a_name_that_looks_like_one_told_apart_keeps_no_key_out() {
        let all = [record(1, "ann"), record(2, "ann"), record(3, "ann (dgm_00000002)")];
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [2, 0, 1]] {
            let (_folder, mut keys) = file();
            for number in order {
                keys.merge(std::slice::from_ref(&all[number])).unwrap();
            }
            assert_eq!(revocations(&keys).len(), 3, "{order:?}");
        }
    }

    #[test]
    fn the_longest_name_can_be_told_apart_and_travel_on() {
        let name = "x".repeat(super::super::MAX_NAME);
        let (_folder, mut first) = file();
        first.merge(&[record(1, &name), record(2, &name), record(3, &name)]).unwrap();
        let (_folder, mut second) = file();
        second.merge(&first.records().unwrap()).unwrap();
        assert_eq!(revocations(&second).len(), 3);
    }

    fn any_record() -> impl Strategy<Value = KeyRecord> {
        (0_u8..8, 0_usize..3, 0_u64..4, prop::option::of(0_u64..4)).prop_map(
            |(number, name, created_ms, revoked_ms)| KeyRecord {
                created_ms,
                revoked_ms,
                ..record(number, ["ann", "bob", "ann (dgm_00000001)"][name])
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn files_become_the_same_in_whatever_order_they_are_merged(
            records in prop::collection::vec(any_record(), 0..12),
            order in any::<prop::sample::Index>(),
            part in 1_usize..5,
        ) {
            let (_folder, mut one) = file();
            one.merge(&records).unwrap();
            let mut other_order = records.clone();
            other_order.rotate_left(order.index(records.len().max(1)));
            other_order.reverse();
            let (_folder, mut other) = file();
            for part in other_order.chunks(part) {
                other.merge(part).unwrap();
            }
            prop_assert_eq!(revocations(&one), revocations(&other));
            // Files that exchange what they have stay the same.
            other.merge(&one.records().unwrap()).unwrap();
            one.merge(&other.records().unwrap()).unwrap();
            let before = revocations(&one);
            prop_assert_eq!(&before, &revocations(&other));
            let expected: std::collections::BTreeSet<_> = records.iter().map(|record| &record.digest).collect();
            prop_assert_eq!(before.len(), expected.len());
        }
    }
}
