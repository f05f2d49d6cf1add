//! Clients that have registered.

use rusqlite::{OptionalExtension as _, params};

use super::Grants;
use crate::Error;
use crate::database::kept;

/// The maximum number of registered clients. Anybody may register, so above this number, clients without a grant
/// are deleted, the least recently used first.
pub const MAX_CLIENTS: i64 = 10_000;

const SURPLUS: &str = "
    DELETE FROM clients WHERE id IN (
        SELECT id FROM clients WHERE NOT EXISTS (SELECT 1 FROM grants WHERE client = clients.id)
        ORDER BY used_ms LIMIT max(0, (SELECT count(*) FROM clients) - ?1)
    )
";

impl Grants {
    /// Stores a client; `metadata` is what the client registered.
    ///
    /// # Errors
    /// Fails if the file cannot be used.
    pub fn register(&mut self, id: &str, metadata: &str, now_ms: u64) -> Result<(), Error> {
        self.file.write(|file| {
            file.execute("INSERT INTO clients VALUES (?1, ?2, ?3)", params![id, metadata, kept(now_ms)])?;
            file.execute(SURPLUS, [MAX_CLIENTS])
        })?;
        Ok(())
    }

    /// Returns the metadata that the client with this id registered, and records that the client was used.
    ///
    /// # Errors
    /// Fails if the file cannot be used.
    pub fn client(&mut self, id: &str, now_ms: u64) -> Result<Option<String>, Error> {
        let select = "SELECT metadata FROM clients WHERE id = ?1";
        let found = self.file.read(|file| file.query_row(select, [id], |row| row.get(0)).optional())?;
        if found.is_some() {
            let update = "UPDATE clients SET used_ms = max(used_ms, ?2) WHERE id = ?1";
            self.file.write(|file| file.execute(update, params![id, kept(now_ms)]))?;
        }
        Ok(found)
    }
}
