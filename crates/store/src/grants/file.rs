//! The file of grants.

use std::path::Path;

use crate::Error;
use crate::database::{Database, Purpose};
use crate::vault::VaultKey;

/// The maximum number of grants.
pub const MAX_GRANTS: i64 = 100_000;

/// The file's name in its folder.
pub(super) const FILE: &str = "grants.db";

const FIRST: &str = "
    CREATE TABLE clients (
        id TEXT PRIMARY KEY,
        metadata TEXT NOT NULL,
        used_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX clients_by_use ON clients (used_ms);
    CREATE TABLE grants (
        id TEXT PRIMARY KEY,
        client TEXT NOT NULL,
        client_name TEXT NOT NULL,
        site TEXT NOT NULL,
        rest TEXT NOT NULL,
        user TEXT NOT NULL,
        password BLOB NOT NULL, -- sealed under the grant's id
        password_id TEXT,
        created_ms INTEGER NOT NULL,
        used_ms INTEGER NOT NULL,
        ended_ms INTEGER
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE tokens (
        digest BLOB PRIMARY KEY,
        grant_id TEXT NOT NULL REFERENCES grants (id) ON DELETE CASCADE,
        renews INTEGER NOT NULL,
        until_ms INTEGER NOT NULL,
        spent_ms INTEGER
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX tokens_by_grant ON tokens (grant_id);
";

/// Tokens may be valid for some profiles only; NULL means all of them, and for a token, those of its grant.
const PROFILES: &str = "
    ALTER TABLE grants ADD COLUMN profiles TEXT;
    ALTER TABLE tokens ADD COLUMN profiles TEXT;
";

pub(super) const PURPOSE: Purpose =
    Purpose { mark: 0x6467_6D67, steps: &[FIRST, PROFILES], durable: true, examined: true };

/// The open file. Several processes may open it at the same time; each sees the changes from the others immediately.
#[derive(Debug)]
pub struct Grants {
    pub(super) file: Database,
    pub(super) key: VaultKey,
}

impl Grants {
    /// Opens the file in a folder, and creates both if they are missing. `fresh` is random and becomes the vault's key
    /// if there is none.
    ///
    /// # Errors
    /// Fails if the folder or one of the files cannot be used.
    pub fn open(folder: &Path, fresh: &[u8; 32]) -> Result<Self, Error> {
        let file = Database::open(&folder.join(FILE), &PURPOSE)?;
        Ok(Self { file, key: VaultKey::of(folder, fresh)? })
    }
}
