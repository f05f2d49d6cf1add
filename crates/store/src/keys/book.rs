//! The file with the digests of keys.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::{Digest, KeyText, MARK, PREFIX_LEN};
use crate::Error;
use crate::database::{Database, Purpose, counted, kept};

/// The longest name of a key, in characters.
pub const MAX_NAME: usize = 64;
/// The maximum number of profiles that a key can be limited to.
pub const MAX_PROFILES: usize = 256;

/// The file's name in its folder.
const FILE: &str = "keys.db";
/// The longest name of a profile, in bytes.
const MAX_PROFILE: usize = 256;

/// The schema. The name of a revoked key can be used again.
const FIRST: &str = "
    CREATE TABLE keys (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL,
        prefix TEXT NOT NULL UNIQUE,
        digest BLOB NOT NULL UNIQUE,
        profiles TEXT, -- a name a line; NULL means all
        created_ms INTEGER NOT NULL,
        expires_ms INTEGER,
        last_used_ms INTEGER,
        revoked_ms INTEGER
    ) STRICT;
    CREATE UNIQUE INDEX keys_in_use ON keys (name) WHERE revoked_ms IS NULL;
";

const PURPOSE: Purpose = Purpose { mark: 0x6467_6D6B, steps: &[FIRST], durable: true, examined: true };

const COLUMNS: &str = "id, name, prefix, profiles, created_ms, expires_ms, last_used_ms, revoked_ms";

/// The stored data of a key. All times are in milliseconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// The key's number in this file, never reused.
    pub id: i64,
    /// The key's name; unique among keys that are not revoked.
    pub name: String,
    /// The first characters of the key's text; unique among all keys.
    pub prefix: String,
    /// The profiles that the key is limited to; `None` means all, including future ones.
    pub profiles: Option<Vec<String>>,
    /// The time of the key's creation.
    pub created_ms: u64,
    /// The time from which the key is rejected; `None` for never.
    pub expires_ms: Option<u64>,
    /// The time of the key's last use, as last written to the file.
    pub last_used_ms: Option<u64>,
    /// The time of the key's revocation, if it was revoked.
    pub revoked_ms: Option<u64>,
}

/// The state of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyState {
    /// The key is valid.
    Active,
    /// The key has expired.
    Expired,
    /// The key was revoked.
    Revoked,
}

impl ApiKey {
    /// The state of the key at `now_ms`, in milliseconds since 1970.
    pub fn state(&self, now_ms: u64) -> KeyState {
        match self {
            Self { revoked_ms: Some(_), .. } => KeyState::Revoked,
            Self { expires_ms: Some(end), .. } if *end <= now_ms => KeyState::Expired,
            _ => KeyState::Active,
        }
    }
}

/// The properties of a new key.
#[derive(Debug, Clone, Default)]
pub struct NewKey {
    /// The name of the key.
    pub name: String,
    /// The profiles that the key is limited to; if empty, all.
    pub profiles: Vec<String>,
    /// The time from which the key is rejected; `None` for never.
    pub expires_ms: Option<u64>,
}

/// The result of [`Keys::revoke`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Revocation {
    /// The key is now revoked.
    Done(ApiKey),
    /// The key was already revoked.
    Already(ApiKey),
    /// There is no such key.
    Unknown,
}

/// The open file. Several processes may open it at the same time; each sees the changes from the others immediately.
#[derive(Debug)]
pub struct Keys(Database);

impl Keys {
    /// Opens the file in a folder, and creates both if they are missing.
    ///
    /// # Errors
    /// Fails if the folder or the file cannot be used.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        Database::open(&folder.join(FILE), &PURPOSE).map(Self)
    }

    /// Opens the file in a folder, if it exists.
    ///
    /// # Errors
    /// Fails in the same cases as [`Keys::open`].
    pub fn open_existing(folder: &Path) -> Result<Option<Self>, Error> {
        Ok(Database::open_existing(&folder.join(FILE), &PURPOSE)?.map(Self))
    }

    /// Stores a new key; `text` is the key that its owner receives.
    ///
    /// # Errors
    /// Fails if the name is invalid or taken, or if the file cannot be used.
    pub fn add(&mut self, new: &NewKey, text: &KeyText, now_ms: u64) -> Result<ApiKey, Error> {
        let profiles = checked(new)?;
        let (expires, digest) = (new.expires_ms.map(kept), text.digest());
        self.0.write(|file| {
            if one(file, "name = ?1 AND revoked_ms IS NULL", &new.name)?.is_some() {
                return Ok(Err(Error::NameTaken(new.name.clone())));
            }
            if one(file, "prefix = ?1", text.prefix())?.is_some() {
                return Ok(Err(Error::Repeated));
            }
            file.execute(
                "INSERT INTO keys (name, prefix, digest, profiles, created_ms, expires_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![new.name, text.prefix(), digest.as_bytes(), profiles, kept(now_ms), expires],
            )?;
            one(file, "prefix = ?1", text.prefix())
                .and_then(|key| key.ok_or(rusqlite::Error::QueryReturnedNoRows))
                .map(Ok)
        })?
    }

    /// All keys, including revoked ones, in the order of their creation.
    ///
    /// # Errors
    /// Fails if the file cannot be used.
    pub fn list(&self) -> Result<Vec<ApiKey>, Error> {
        self.0.read(|file| {
            let mut query = file.prepare(&format!("SELECT {COLUMNS} FROM keys ORDER BY id"))?;
            query.query_map([], read)?.collect()
        })
    }

    /// The key with this digest, whatever its state.
    ///
    /// # Errors
    /// Fails if the file cannot be used.
    pub fn find(&self, digest: &Digest) -> Result<Option<ApiKey>, Error> {
        self.0.read(|file| {
            let mut query = file.prepare_cached(&format!("SELECT {COLUMNS} FROM keys WHERE digest = ?1"))?;
            query.query_row([digest.as_bytes()], read).optional()
        })
    }

    /// Revokes the key with this name, prefix or text.
    ///
    /// # Errors
    /// Fails if the file cannot be used.
    pub fn revoke(&mut self, which: &str, now_ms: u64) -> Result<Revocation, Error> {
        let prefix = KeyText::parse(which).map_or_else(|_| which.to_owned(), |text| text.prefix().to_owned());
        self.0.write(|file| {
            // Of the keys that share a name, at most one is not revoked.
            let named = one(file, "name = ?1 ORDER BY revoked_ms IS NOT NULL, id DESC LIMIT 1", which)?;
            let found = match named {
                Some(key) => Some(key),
                None => one(file, "prefix = ?1", &prefix)?,
            };
            let Some(mut key) = found else { return Ok(Revocation::Unknown) };
            if key.revoked_ms.is_some() {
                return Ok(Revocation::Already(key));
            }
            file.execute("UPDATE keys SET revoked_ms = ?1 WHERE id = ?2", params![kept(now_ms), key.id])?;
            key.revoked_ms = Some(now_ms);
            Ok(Revocation::Done(key))
        })
    }

    /// Writes the times of last use, as returned by [`super::LastUses::take`].
    ///
    /// # Errors
    /// Fails if the file cannot be used.
    pub fn touch(&mut self, uses: &[(i64, u64)]) -> Result<(), Error> {
        if uses.is_empty() {
            return Ok(());
        }
        self.0.write(|file| {
            let mut update = file.prepare_cached(
                "UPDATE keys SET last_used_ms = max(?1, ifnull(last_used_ms, 0)) WHERE id = ?2",
            )?;
            for (id, at_ms) in uses {
                update.execute(params![kept(*at_ms), id])?;
            }
            Ok(())
        })
    }

    /// A number that changes whenever another connection, in this process or in another one, has changed the file.
    /// Earlier results may then be out of date. Changes over this connection do not affect the number.
    ///
    /// # Errors
    /// Fails if the file cannot be used.
    pub fn changes(&self) -> Result<i64, Error> {
        self.0.number("PRAGMA data_version")
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Keys {
    pub(super) fn file(&self) -> &Database {
        &self.0
    }

    pub(super) fn file_mut(&mut self) -> &mut Database {
        &mut self.0
    }
}

/// Returns true if the text can be the name of a key from another machine. The name may be longer than
/// [`MAX_NAME`], because a merge may have added the prefix.
pub(super) fn is_name(name: &str) -> bool {
    let count = name.chars().count();
    (1..=2 * MAX_NAME).contains(&count) && !name.chars().any(char::is_control)
}

/// The first key that matches `condition`.
fn one(file: &Connection, condition: &str, value: &str) -> rusqlite::Result<Option<ApiKey>> {
    file.query_row(&format!("SELECT {COLUMNS} FROM keys WHERE {condition}"), [value], read).optional()
}

fn read(row: &Row<'_>) -> rusqlite::Result<ApiKey> {
    let time = |column| Ok::<_, rusqlite::Error>(row.get::<_, Option<i64>>(column)?.map(counted));
    let profiles: Option<String> = row.get(3)?;
    Ok(ApiKey {
        id: row.get(0)?,
        name: row.get(1)?,
        prefix: row.get(2)?,
        profiles: profiles.map(|names| names.lines().map(str::to_owned).collect()),
        created_ms: counted(row.get(4)?),
        expires_ms: time(5)?,
        last_used_ms: time(6)?,
        revoked_ms: time(7)?,
    })
}

/// Checks if a new key can have this name.
///
/// # Errors
/// Returns the reason why it cannot.
pub fn check_name(name: &str) -> Result<(), Error> {
    // The typed text may be a key, so the message repeats no more of it than may be shown.
    let shown = if KeyText::is_meant(name) { PREFIX_LEN } else { MAX_NAME };
    let bad = |why| Err(Error::Name { name: name.chars().take(shown).collect(), why });
    if name.is_empty() || name.trim() != name {
        return bad("it is empty or surrounded by white space");
    }
    if name.chars().count() > MAX_NAME {
        return bad("it has more than 64 characters");
    }
    if name.chars().any(|c| {
        c.is_control()
            || matches!(c,
                '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
                | '\u{e0000}'..='\u{e007f}')
    }) {
        return bad("it has invisible characters");
    }
    // Otherwise the name could be mistaken for another key.
    if name.starts_with(MARK) {
        return bad("a name must not begin with the prefix of a key");
    }
    Ok(())
}

/// Checks the properties of a new key, and returns its profiles in the form in which they are stored.
fn checked(new: &NewKey) -> Result<Option<String>, Error> {
    check_name(&new.name)?;
    let is_odd = |profile: &&String| {
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
        !(1..=MAX_PROFILE).contains(&profile.len()) || !profile.chars().all(fits)
    };
    if let Some(odd) = new.profiles.iter().find(is_odd) {
        return Err(Error::Profile(odd.chars().take(MAX_PROFILE).collect()));
    }
    if new.profiles.len() > MAX_PROFILES {
        return Err(Error::Profile(new.profiles[MAX_PROFILES].clone()));
    }
    Ok((!new.profiles.is_empty()).then(|| new.profiles.join("\n")))
}
