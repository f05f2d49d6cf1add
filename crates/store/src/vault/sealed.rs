//! The file of sealed texts. A text is sealed together with its name, so it is not valid under another name.

use std::path::Path;

use rusqlite::{OptionalExtension as _, params};
use secrecy::{ExposeSecret as _, SecretString};

use super::key::VaultKey;
use crate::Error;
use crate::database::{Database, Purpose};

/// The file's name in its folder.
const FILE: &str = "vault.db";
/// The maximum length of a text, in bytes.
const LONGEST: usize = 256 * 1024;

const FIRST: &str = "
    CREATE TABLE secrets (name TEXT PRIMARY KEY, sealed BLOB NOT NULL) STRICT, WITHOUT ROWID;
";

const PURPOSE: Purpose = Purpose { mark: 0x6467_6D76, steps: &[FIRST], durable: true, examined: true };

/// Secrets by name. Several processes may open the file at the same time; each sees the changes from the others
/// immediately.
#[derive(Debug)]
pub struct Vault {
    file: Database,
    key: VaultKey,
}

impl Vault {
    /// Opens the file in a folder, and creates both if they are missing. `fresh` is random and becomes the key if there
    /// is none.
    ///
    /// # Errors
    /// Fails if the folder or one of the files cannot be used.
    pub fn open(folder: &Path, fresh: &[u8; 32]) -> Result<Self, Error> {
        let file = Database::open(&folder.join(FILE), &PURPOSE)?;
        Ok(Self { file, key: VaultKey::of(folder, fresh)? })
    }

    /// Opens the file in a folder, if it exists.
    ///
    /// # Errors
    /// Fails in the same cases as [`Vault::open`].
    pub fn open_existing(folder: &Path, fresh: &[u8; 32]) -> Result<Option<Self>, Error> {
        let Some(file) = Database::open_existing(&folder.join(FILE), &PURPOSE)? else { return Ok(None) };
        Ok(Some(Self { file, key: VaultKey::of(folder, fresh)? }))
    }

    /// The secret with this name; `None` if there is none, or if it was sealed under another key.
    ///
    /// # Errors
    /// Fails if the file cannot be used.
    pub fn get(&self, name: &str) -> Result<Option<SecretString>, Error> {
        let sealed: Option<Vec<u8>> = self.file.read(|file| {
            file.query_row("SELECT sealed FROM secrets WHERE name = ?1", [name], |row| row.get(0)).optional()
        })?;
        let plain = sealed.and_then(|sealed| self.key.open(name, &sealed));
        Ok(plain.and_then(|plain| String::from_utf8(plain).ok()).map(SecretString::from))
    }

    /// Stores a secret under this name, replacing the previous one. `random` holds random bytes, new for each
    /// call.
    ///
    /// # Errors
    /// Fails if the secret is too long or cannot be sealed, or if the file cannot be used.
    pub fn put(&mut self, name: &str, secret: &SecretString, random: [u8; 12]) -> Result<(), Error> {
        let plain = secret.expose_secret().as_bytes();
        let refused =
            |why: &str| Error::Database { path: self.file.path().to_path_buf(), why: why.to_owned() };
        if plain.len() > LONGEST {
            return Err(refused("a secret is too long to be stored"));
        }
        let sealed =
            self.key.seal(name, plain, random).ok_or_else(|| refused("a secret cannot be sealed"))?;
        self.file.write(|file| {
            file.execute(
                "INSERT OR REPLACE INTO secrets (name, sealed) VALUES (?1, ?2)",
                params![name, sealed],
            )
        })?;
        Ok(())
    }

    /// Deletes the secret with this name; returns `false` if there was none.
    ///
    /// # Errors
    /// Fails if the file cannot be used.
    pub fn remove(&mut self, name: &str) -> Result<bool, Error> {
        self.file.write(|file| file.execute("DELETE FROM secrets WHERE name = ?1", [name])).map(|n| n > 0)
    }
}
