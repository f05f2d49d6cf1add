//! Records of grants that several gateways share: a grant with its tokens. Records of the same grant give the same result in
//! whatever order they are merged: an end stays, and so does the use of a token.

use rusqlite::{OptionalExtension as _, Transaction, params};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::accounts::{COLUMNS, FORGOTTEN_MS, bound, read};
use super::profile_names::{ProfileNames, profiles};
use super::{Grants, MAX_GRANTS, StoredGrant, TokenDigest};
use crate::Error;
use crate::database::{counted, kept};

/// The time for which a record contains a refresh token that was replaced, in milliseconds.
const SPENT_FOR_MS: u64 = 24 * 60 * 60 * 1000;

/// A grant with its tokens.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GrantRecord {
    /// The grant's ID.
    pub id: String,
    client: String,
    client_name: String,
    site: String,
    rest: String,
    user: String,
    #[serde(serialize_with = "exposed", deserialize_with = "concealed")]
    password: SecretString,
    password_id: Option<String>,
    created_ms: u64,
    used_ms: u64,
    /// The time at which the grant ended.
    pub ended_ms: Option<u64>,
    /// Missing in records of gateways of older versions, whose tokens are valid for all profiles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    profiles: Option<ProfileNames>,
    tokens: Vec<TokenRecord>,
}

/// A token of a record.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TokenRecord {
    digest: TokenDigest,
    renews: bool,
    until_ms: u64,
    spent_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    profiles: Option<ProfileNames>,
}

fn exposed<S: Serializer>(password: &SecretString, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(password.expose_secret())
}

fn concealed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SecretString, D::Error> {
    String::deserialize(deserializer).map(SecretString::from)
}

impl Grants {
    /// Returns the record of a grant, also of one that has ended; `None` if there is no such grant.
    ///
    /// # Errors
    /// Fails if the file cannot be used.
    pub fn record(&self, id: &str, now_ms: u64) -> Result<Option<GrantRecord>, Error> {
        let since = kept(now_ms.saturating_sub(SPENT_FOR_MS));
        let found = self.file.read(|file| {
            let select = format!("SELECT {COLUMNS} FROM grants WHERE id = ?1");
            let Some(grant) = file.query_row(&select, [id], read).optional()? else { return Ok(None) };
            let select = "SELECT digest, renews, until_ms, spent_ms, profiles FROM tokens
                WHERE grant_id = ?1 AND until_ms > ?2 AND (spent_ms IS NULL OR spent_ms = 0 OR spent_ms > ?3)";
            let mut query = file.prepare_cached(select)?;
            let tokens = query.query_map(params![id, kept(now_ms), since], |row| {
                Ok(TokenRecord {
                    digest: row.get(0)?,
                    renews: row.get(1)?,
                    until_ms: counted(row.get(2)?),
                    spent_ms: row.get::<_, Option<i64>>(3)?.map(counted),
                    profiles: profiles(row, 4)?,
                })
            })?;
            Ok(Some((grant, tokens.collect::<rusqlite::Result<Vec<_>>>()?)))
        })?;
        let Some(((grant, sealed), tokens)) = found else { return Ok(None) };
        let grant = self.opened(grant, &sealed);
        Ok(Some(GrantRecord {
            id: grant.id,
            client: grant.client,
            client_name: grant.client_name,
            site: grant.site,
            rest: grant.rest,
            user: grant.user,
            password: grant.password,
            password_id: grant.password_id,
            created_ms: grant.created_ms,
            used_ms: grant.used_ms,
            ended_ms: grant.ended_ms,
            profiles: grant.profiles,
            tokens,
        }))
    }

    /// Merges the record of another gateway. Returns the grant if it had not ended here, and has ended there. `random` holds
    /// random bytes, new for each call.
    ///
    /// # Errors
    /// Fails if the password cannot be sealed, or if the file cannot be used.
    pub fn merge(&mut self, record: &GrantRecord, random: [u8; 12]) -> Result<Option<StoredGrant>, Error> {
        let plain = record.password.expose_secret().as_bytes();
        let sealed = self.key.seal(&bound(&record.id), plain, random).ok_or_else(|| Error::Database {
            path: self.file.path().to_path_buf(),
            why: "a password cannot be sealed".to_owned(),
        })?;
        let ended = self.file.write(|file| {
            let select = "SELECT ended_ms IS NOT NULL FROM grants WHERE id = ?1";
            let known: Option<bool> = file.query_row(select, [&record.id], |row| row.get(0)).optional()?;
            let is_new = known.is_none();
            if is_new && (record.ended_ms.is_some() || !insert(file, record, &sealed)?) {
                return Ok(None);
            }
            let update = "UPDATE grants SET used_ms = max(used_ms, ?2), ended_ms = coalesce(min(ended_ms, ?3), ended_ms, ?3)
                WHERE id = ?1";
            file.execute(update, params![record.id, kept(record.used_ms), record.ended_ms.map(kept)])?;
            if known == Some(true) || record.ended_ms.is_some() {
                file.execute("DELETE FROM tokens WHERE grant_id = ?1", [&record.id])?;
            } else {
                insert_tokens(file, record)?;
            }
            if known == Some(true) || record.ended_ms.is_none() {
                return Ok(None);
            }
            let select = format!("SELECT {COLUMNS} FROM grants WHERE id = ?1");
            file.query_row(&select, [&record.id], read).optional()
        })?;
        Ok(ended.map(|(grant, sealed)| self.opened(grant, &sealed)))
    }

    /// Returns the grants that [`Grants::sweep`] would end with the same arguments.
    ///
    /// # Errors
    /// Fails if the file cannot be used.
    pub fn due(&self, before_ms: u64, now_ms: u64) -> Result<Vec<String>, Error> {
        let long_ago = kept(now_ms.saturating_sub(FORGOTTEN_MS));
        self.file.read(|file| {
            let select = "SELECT id FROM grants WHERE ended_ms IS NULL AND (used_ms < ?1 OR (created_ms < ?2
                AND NOT EXISTS (SELECT 1 FROM tokens WHERE grant_id = grants.id)))";
            let mut query = file.prepare(select)?;
            query.query_map(params![kept(before_ms), long_ago], |row| row.get(0))?.collect()
        })
    }

    /// Ends the period in which a refresh token that was replaced is still accepted, because it was used at two gateways.
    ///
    /// # Errors
    /// Fails if the file cannot be used.
    pub fn exhaust(&mut self, digest: &TokenDigest) -> Result<(), Error> {
        let update = "UPDATE tokens SET spent_ms = 0 WHERE digest = ?1";
        self.file.write(|file| file.execute(update, [&digest[..]])).map(drop)
    }
}

/// Stores the grant of a record; returns false if there are too many.
fn insert(file: &Transaction<'_>, record: &GrantRecord, sealed: &[u8]) -> rusqlite::Result<bool> {
    let count: i64 = file.query_row("SELECT count(*) FROM grants", [], |row| row.get(0))?;
    if count >= MAX_GRANTS {
        return Ok(false);
    }
    file.execute(
        "INSERT INTO grants VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, NULL, ?11)",
        params![
            record.id,
            record.client,
            record.client_name,
            record.site,
            record.rest,
            record.user,
            sealed,
            record.password_id,
            kept(record.created_ms),
            kept(record.used_ms),
            record.profiles.as_ref().map(ProfileNames::text)
        ],
    )?;
    Ok(true)
}

/// Stores the tokens of a record; the earliest use of a token counts.
fn insert_tokens(file: &Transaction<'_>, record: &GrantRecord) -> rusqlite::Result<()> {
    let insert = "INSERT INTO tokens VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (digest) DO UPDATE
        SET spent_ms = coalesce(min(spent_ms, excluded.spent_ms), spent_ms, excluded.spent_ms)
        WHERE grant_id = excluded.grant_id";
    let mut insert = file.prepare_cached(insert)?;
    for TokenRecord { digest, renews, until_ms, spent_ms, profiles } in &record.tokens {
        let profiles = profiles.as_ref().map(ProfileNames::text);
        insert.execute(params![
            &digest[..],
            record.id,
            renews,
            kept(*until_ms),
            spent_ms.map(kept),
            profiles
        ])?;
    }
    Ok(())
}
