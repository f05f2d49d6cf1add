//! The file of sealed texts. A text is sealed together with its name, so that one cannot be put in another's place.

use std::path::Path;

use rusqlite::{OptionalExtension as _, params};
use secrecy::{ExposeSecret as _, SecretString};

use super::key::Key;
use crate::Error;
use crate::database::{Database, Purpose};

/// The file's name in its folder.
const FILE: &str = "vault.db";
/// The longest text, in bytes.
const LONGEST: usize = 256 * 1024;

const FIRST: &str = "
    CREATE TABLE secrets (name TEXT PRIMARY KEY, sealed BLOB NOT NULL) STRICT, WITHOUT ROWID;
";

const PURPOSE: Purpose = Purpose { mark: 0x6467_6D76, steps: &[FIRST], durable: true, examined: true };

/// Secrets by name. Several processes may have the file open; each sees at once what another did.
#[derive(Debug)]
pub struct Vault {
    file: Database,
    key: Key,
}

impl Vault {
    /// Opens the file of a folder; both are made where they are not there. `fresh` are random bytes, which become the key
    /// where there is none.
    ///
    /// # Errors
    /// Whatever may be wrong with the folder or the files.
    pub fn open(folder: &Path, fresh: &[u8; 32]) -> Result<Self, Error> {
        let file = Database::open(&folder.join(FILE), &PURPOSE)?;
        Ok(Self { file, key: Key::of(folder, fresh)? })
    }

    /// Opens the file of a folder, if there is one.
    ///
    /// # Errors
    /// As [`Vault::open`].
    pub fn open_existing(folder: &Path, fresh: &[u8; 32]) -> Result<Option<Self>, Error> {
        let Some(file) = Database::open_existing(&folder.join(FILE), &PURPOSE)? else { return Ok(None) };
        Ok(Some(Self { file, key: Key::of(folder, fresh)? }))
    }

    /// The secret of this name; `None` where there is none, or one that was sealed under another key.
    ///
    /// # Errors
    /// Whatever may be wrong with the file.
    pub fn get(&self, name: &str) -> Result<Option<SecretString>, Error> {
        let sealed: Option<Vec<u8>> = self.file.read(|file| {
            file.query_row("SELECT sealed FROM secrets WHERE name = ?1", [name], |row| row.get(0)).optional()
        })?;
        let plain = sealed.and_then(|sealed| self.key.open(name, &sealed));
        Ok(plain.and_then(|plain| String::from_utf8(plain).ok()).map(SecretString::from))
    }

    /// Keeps a secret under this name, in the place of what was kept there. `random` are random bytes, new for each call.
    ///
    /// # Errors
    /// When it is too long or cannot be sealed; whatever may be wrong with the file.
    pub fn put(&mut self, name: &str, secret: &SecretString, random: [u8; 12]) -> Result<(), Error> {
        let plain = secret.expose_secret().as_bytes();
        let refused =
            |why: &str| Error::Database { path: self.file.path().to_path_buf(), why: why.to_owned() };
        if plain.len() > LONGEST {
            return Err(refused("a secret is longer than can be kept"));
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

    /// Forgets the secret of this name; `false` when there was none.
    ///
    /// # Errors
    /// Whatever may be wrong with the file.
    pub fn remove(&mut self, name: &str) -> Result<bool, Error> {
        self.file.write(|file| file.execute("DELETE FROM secrets WHERE name = ?1", [name])).map(|n| n > 0)
    }
}
