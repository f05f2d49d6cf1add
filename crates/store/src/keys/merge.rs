//! Keys that several machines share: each has a file of its own, and the files are merged. A merge never forgets a key
//! and never takes back a revocation, so the files become the same in whatever order they are merged. This module must
//! not know how keys travel.

use rusqlite::{Connection, OptionalExtension as _, params};
use serde::{Deserialize, Serialize};

use super::book::{self, Keys};
use super::text::PREFIX_LEN;
use crate::Error;
use crate::database::{counted, kept};

/// A key as it travels between machines: everything except its number and its last use, which differ by machine.
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
        if digits.len() != 64 || self.prefix.len() != PREFIX_LEN || !book::is_name(&self.name) {
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
    /// Returns all keys as they travel between machines, in the order of their creation in this file.
    ///
    /// # Errors
    /// If the file cannot be used.
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

    /// Adds keys of other machines, and takes over their revocations. Returns true if the file changed. Malformed
    /// records are skipped. If two keys that are not revoked have the same name, the one that was created later gets its
    /// prefix as a part of its name.
    ///
    /// # Errors
    /// If the file cannot be used.
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
                file.execute(
                    "UPDATE keys SET name = ?1 WHERE id = ?2",
                    params![told_apart(&name, &prefix), id],
                )?;
            } else {
                name = told_apart(&name, &record.prefix);
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

/// Returns a name that no other key has.
fn told_apart(name: &str, prefix: &str) -> String {
    format!("{name} ({prefix})")
}
