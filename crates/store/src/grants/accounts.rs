//! Grants: the account that a client may use.

use rusqlite::{OptionalExtension as _, Row, params};
use secrecy::{ExposeSecret as _, SecretString};

use super::profile_names::{ProfileNames, profiles};
use super::{Grants, MAX_GRANTS};
use crate::Error;
use crate::database::{counted, kept};

pub(super) const COLUMNS: &str =
    "grants.id, client, client_name, site, rest, user, password, password_id, created_ms, used_ms, ended_ms,
     grants.profiles";

/// The time after which a grant without tokens ends, in milliseconds.
pub(super) const FORGOTTEN_MS: u64 = 10 * 60 * 1000;

/// A new grant.
#[derive(Debug)]
pub struct NewGrant<'a> {
    /// A random text.
    pub id: &'a str,
    /// The client's id.
    pub client: &'a str,
    /// The client's name, as the person saw it.
    pub client_name: &'a str,
    /// The address of the site.
    pub site: &'a str,
    /// The address of the site's REST API.
    pub rest: &'a str,
    /// The name of the account.
    pub user: &'a str,
    /// The application password.
    pub password: &'a SecretString,
    /// The id of this password at the site, if it is known.
    pub password_id: Option<&'a str>,
    /// The profiles for which the grant's tokens are valid; `None` for all.
    pub profiles: Option<&'a ProfileNames>,
}

/// A stored grant. All times are in milliseconds since 1970.
#[derive(Debug, Clone)]
pub struct StoredGrant {
    /// The grant's ID, a random text.
    pub id: String,
    /// The client's id.
    pub client: String,
    /// The client's name, as the person saw it.
    pub client_name: String,
    /// The address of the site.
    pub site: String,
    /// The address of the site's REST API.
    pub rest: String,
    /// The name of the account.
    pub user: String,
    /// The application password.
    pub password: SecretString,
    /// The id of this password at the site, if it is known.
    pub password_id: Option<String>,
    /// The time of the grant's creation.
    pub created_ms: u64,
    /// The time of the last use, as last written to the file.
    pub used_ms: u64,
    /// The time at which the grant ended; its password may still exist at the site.
    pub ended_ms: Option<u64>,
    /// The profiles for which the grant's tokens are valid; `None` for all.
    pub profiles: Option<ProfileNames>,
}

impl Grants {
    /// Stores a new grant; returns `false` if there are too many. `random` holds random bytes, new for each call.
    ///
    /// # Errors
    /// Fails if the password cannot be sealed, or if the file cannot be used.
    pub fn begin(&mut self, new: &NewGrant<'_>, random: [u8; 12], now_ms: u64) -> Result<bool, Error> {
        let plain = new.password.expose_secret().as_bytes();
        let sealed = self.key.seal(&bound(new.id), plain, random).ok_or_else(|| Error::Database {
            path: self.file.path().to_path_buf(),
            why: "a password cannot be sealed".to_owned(),
        })?;
        self.file.write(|file| {
            let count: i64 = file.query_row("SELECT count(*) FROM grants", [], |row| row.get(0))?;
            if count >= MAX_GRANTS {
                return Ok(false);
            }
            file.execute(
                "INSERT INTO grants VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9, NULL, ?10)",
                params![
                    new.id,
                    new.client,
                    new.client_name,
                    new.site,
                    new.rest,
                    new.user,
                    sealed,
                    new.password_id,
                    kept(now_ms),
                    new.profiles.map(ProfileNames::text)
                ],
            )?;
            Ok(true)
        })
    }

    /// Returns all grants, the newest first, including those that have ended but are not removed.
    ///
    /// # Errors
    /// Fails if the file cannot be used.
    pub fn grants(&self) -> Result<Vec<StoredGrant>, Error> {
        let rows: Vec<(StoredGrant, Vec<u8>)> = self.file.read(|file| {
            let mut query =
                file.prepare(&format!("SELECT {COLUMNS} FROM grants ORDER BY created_ms DESC, id"))?;
            query.query_map([], read)?.collect()
        })?;
        Ok(rows.into_iter().map(|(grant, sealed)| self.opened(grant, &sealed)).collect())
    }

    /// Records the use of a grant.
    ///
    /// # Errors
    /// Fails if the file cannot be used.
    pub fn touch(&mut self, id: &str, now_ms: u64) -> Result<(), Error> {
        let update = "UPDATE grants SET used_ms = max(used_ms, ?2) WHERE id = ?1";
        self.file.write(|file| file.execute(update, params![id, kept(now_ms)])).map(drop)
    }

    /// Ends a grant: its tokens are deleted at once, its password is kept until [`Grants::remove`]. Returns the grant; `None`
    /// if there is no such grant, or if it has ended before.
    ///
    /// # Errors
    /// Fails if the file cannot be used.
    pub fn end(&mut self, id: &str, now_ms: u64) -> Result<Option<StoredGrant>, Error> {
        let ended = self.file.write(|file| {
            file.execute("DELETE FROM tokens WHERE grant_id = ?1", [id])?;
            let update = "UPDATE grants SET ended_ms = ?2 WHERE id = ?1 AND ended_ms IS NULL";
            if file.execute(update, params![id, kept(now_ms)])? == 0 {
                return Ok(None);
            }
            file.query_row(&format!("SELECT {COLUMNS} FROM grants WHERE id = ?1"), [id], read).optional()
        })?;
        Ok(ended.map(|(grant, sealed)| self.opened(grant, &sealed)))
    }

    /// Deletes a grant with its password and its tokens.
    ///
    /// # Errors
    /// Fails if the file cannot be used.
    pub fn remove(&mut self, id: &str) -> Result<(), Error> {
        self.file.write(|file| {
            file.execute("DELETE FROM tokens WHERE grant_id = ?1", [id])?;
            file.execute("DELETE FROM grants WHERE id = ?1", [id])
        })?;
        Ok(())
    }

    /// Ends the grants that were not used since `before_ms`, and those whose client never asked for tokens; deletes tokens
    /// that are no longer valid.
    ///
    /// # Errors
    /// Fails if the file cannot be used.
    pub fn sweep(&mut self, before_ms: u64, now_ms: u64) -> Result<usize, Error> {
        self.file.write(|file| {
            let idle = "UPDATE grants SET ended_ms = ?2 WHERE ended_ms IS NULL AND used_ms < ?1";
            let mut ended = file.execute(idle, params![kept(before_ms), kept(now_ms)])?;
            let forgotten = "UPDATE grants SET ended_ms = ?2 WHERE ended_ms IS NULL AND created_ms < ?1
                AND NOT EXISTS (SELECT 1 FROM tokens WHERE grant_id = grants.id)";
            let long_ago = kept(now_ms.saturating_sub(FORGOTTEN_MS));
            ended += file.execute(forgotten, params![long_ago, kept(now_ms)])?;
            let over = "DELETE FROM tokens WHERE until_ms <= ?1
                OR grant_id IN (SELECT id FROM grants WHERE ended_ms IS NOT NULL)";
            file.execute(over, [kept(now_ms)])?;
            Ok(ended)
        })
    }

    /// Adds the password to a grant. A password that was sealed under another key becomes empty, so the site refuses it.
    pub(super) fn opened(&self, mut grant: StoredGrant, sealed: &[u8]) -> StoredGrant {
        let plain = self.key.open(&bound(&grant.id), sealed).and_then(|plain| String::from_utf8(plain).ok());
        grant.password = SecretString::from(plain.unwrap_or_default());
        grant
    }
}

/// The name under which the password of a grant is sealed.
pub(super) fn bound(id: &str) -> String {
    format!("grant:{id}")
}

/// Reads a row without its password, which is still sealed.
pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<(StoredGrant, Vec<u8>)> {
    let grant = StoredGrant {
        id: row.get(0)?,
        client: row.get(1)?,
        client_name: row.get(2)?,
        site: row.get(3)?,
        rest: row.get(4)?,
        user: row.get(5)?,
        password: SecretString::default(),
        password_id: row.get(7)?,
        created_ms: counted(row.get(8)?),
        used_ms: counted(row.get(9)?),
        ended_ms: row.get::<_, Option<i64>>(10)?.map(counted),
        profiles: profiles(row, 11)?,
    };
    Ok((grant, row.get(6)?))
}
