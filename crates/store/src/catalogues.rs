//! Catalogues of servers as last fetched. They are shown until the servers are asked again. There is one row for each
//! server, identified by a digest of everything that determines the server. This module must not know the contents of a
//! row.

use std::path::{Path, PathBuf};

use rusqlite::{OptionalExtension as _, params};

use crate::Error;
use crate::database::{Database, Purpose};
use crate::vault::VaultKey;

/// The file's name in its folder.
const FILE: &str = "catalogue.db";

/// The time after which a row is deleted, unless it was written again.
const KEPT_MS: i64 = 30 * 24 * 60 * 60 * 1000;

/// The maximum size of all rows together, in bytes; the oldest rows are deleted first.
const MOST_BYTES: i64 = 64 << 20;

const FIRST: &str = "
    CREATE TABLE catalogues (
        server BLOB PRIMARY KEY,
        body BLOB NOT NULL,
        saved_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
";

const PURPOSE: Purpose = Purpose { mark: 0x6467_6D74, steps: &[FIRST], durable: false, examined: true };

/// The file with the catalogues of servers.
#[derive(Debug)]
pub struct StoredCatalogues {
    file: Database,
    key: VaultKey,
}

/// The digest of everything that determines a server.
pub type ServerDigest = [u8; 32];

impl StoredCatalogues {
    /// Opens the file in this folder, and creates it if it is missing; `fresh` becomes the folder's key if there is
    /// none. A damaged file is moved aside, because its contents can be fetched again. Returns the path to which the
    /// damaged file was moved, if any.
    ///
    /// # Errors
    /// Fails if the file or the key cannot be used.
    pub fn open(folder: &Path, fresh: &[u8; 32]) -> Result<(Self, Option<PathBuf>), Error> {
        let (file, moved) = Database::open_or_replace(&folder.join(FILE), &PURPOSE)?;
        Ok((Self { file, key: VaultKey::of(folder, fresh)? }, moved))
    }

    /// The digest of a server.
    pub fn digest(&self, server: &[u8]) -> ServerDigest {
        self.key.digest("catalogue", server)
    }

    /// The stored row of a server, if there is one.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn load(&mut self, server: &ServerDigest) -> Result<Option<Vec<u8>>, Error> {
        let query = "SELECT body FROM catalogues WHERE server = ?1";
        self.file.read(|file| file.query_row(query, [server], |row| row.get(0)).optional())
    }

    /// Stores rows. Deletes rows that are too old, and the oldest if there are too many.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn save<'a>(
        &mut self,
        rows: impl IntoIterator<Item = (&'a ServerDigest, &'a [u8])>,
        now_ms: i64,
    ) -> Result<(), Error> {
        self.file.write(|transaction| {
            for (server, body) in rows {
                let write = "INSERT OR REPLACE INTO catalogues VALUES (?1, ?2, ?3)";
                transaction.execute(write, params![server, body, now_ms])?;
            }
            transaction.execute("DELETE FROM catalogues WHERE saved_ms < ?1", [now_ms - KEPT_MS])?;
            let prune = "DELETE FROM catalogues WHERE server IN (
                SELECT server FROM (
                    SELECT server, sum(length(body)) OVER (ORDER BY saved_ms DESC, server) AS so_far FROM catalogues
                ) WHERE so_far > ?1)";
            transaction.execute(prune, [MOST_BYTES])?;
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> PathBuf {
        use std::sync::atomic::{AtomicU32, Ordering};
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("catalogues-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        std::env::temp_dir().join(name)
    }

    #[test]
    fn rows_are_found_again_by_the_same_server_alone() {
        let folder = folder();
        let (mut file, _) = StoredCatalogues::open(&folder, &[1; 32]).unwrap();
        let (one, other) = (file.digest(b"one"), file.digest(b"other"));
        assert_ne!(one, other);
        file.save([(&one, &b"lists"[..])], 1_000).unwrap();
        drop(file);
        let (mut file, moved) = StoredCatalogues::open(&folder, &[2; 32]).unwrap();
        assert_eq!((file.digest(b"one"), moved), (one, None), "the folder's key stays");
        assert_eq!(file.load(&one).unwrap().as_deref(), Some(&b"lists"[..]));
        assert_eq!(file.load(&other).unwrap(), None);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_is_old_or_too_much_goes() {
        let folder = folder();
        let (mut file, _) = StoredCatalogues::open(&folder, &[1; 32]).unwrap();
        let [a, b, c] = [b"a", b"b", b"c"].map(|name| file.digest(name));
        file.save([(&a, &b"x"[..])], 1_000).unwrap();
        file.save([(&b, &vec![b'x'; 40 << 20][..])], KEPT_MS + 2_000).unwrap();
        assert_eq!(file.load(&a).unwrap(), None, "too old");
        file.save([(&c, &vec![b'x'; 40 << 20][..])], KEPT_MS + 3_000).unwrap();
        assert_eq!((file.load(&b).unwrap(), file.load(&c).unwrap().map(|c| c.len())), (None, Some(40 << 20)));
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_damaged_file_is_moved_aside() {
        let folder = folder();
        drop(StoredCatalogues::open(&folder, &[1; 32]).unwrap());
        std::fs::write(folder.join(FILE), [b'?'; 8192]).unwrap();
        let (mut file, moved) = StoredCatalogues::open(&folder, &[1; 32]).unwrap();
        assert!(moved.is_some_and(|aside| aside.exists()));
        let one = file.digest(b"one");
        assert_eq!(file.load(&one).unwrap(), None);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
