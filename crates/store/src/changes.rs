//! Changes made at run time, in a separate file: one text, of which only the newest version is kept. The text may contain secrets,
//! such as keys for servers, so it is sealed like the secrets in the vault. This module must not know what the text means.

use std::path::Path;

use rusqlite::{OptionalExtension as _, params};

use crate::Error;
use crate::database::{Database, Purpose, kept};
use crate::vault::VaultKey;

/// The file's name in its folder.
const FILE: &str = "changes.db";
/// The name under which the text is sealed.
const NAME: &str = "changes";

const FIRST: &str = "
    CREATE TABLE changes (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        text TEXT NOT NULL,
        changed_ms INTEGER NOT NULL
    ) STRICT;
";
/// Adds the table for the sealed text. A text in the first table is sealed and removed when the file is opened,
/// because the key is not available earlier.
const SEALED: &str = "
    CREATE TABLE sealed_changes (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        sealed BLOB NOT NULL,
        changed_ms INTEGER NOT NULL
    ) STRICT;
";

const PURPOSE: Purpose =
    Purpose { mark: 0x6467_6D63, steps: &[FIRST, SEALED], durable: true, examined: true };

/// The file with the changes, sealed under the key of its folder's vault.
#[derive(Debug)]
pub struct StoredChanges {
    file: Database,
    key: VaultKey,
}

/// Random bytes for opening the file: a key, in case the folder has none, and a nonce, in case the file holds an
/// unsealed text.
#[expect(missing_debug_implementations, reason = "one of the fields becomes a key")]
pub struct FreshBytes {
    /// A key that becomes the folder's key if there is none.
    pub key: [u8; 32],
    /// A nonce for sealing, used at most once.
    pub nonce: [u8; 12],
}

impl StoredChanges {
    /// Opens the file in this folder, and creates it if it is missing. A text that an earlier version left unsealed
    /// is sealed.
    ///
    /// # Errors
    /// Fails if the file or the key cannot be used.
    pub fn open(folder: &Path, fresh: &FreshBytes) -> Result<Self, Error> {
        Self::of(Database::open(&folder.join(FILE), &PURPOSE)?, folder, fresh)
    }

    /// Opens the file, if it exists.
    ///
    /// # Errors
    /// Fails in the same cases as [`StoredChanges::open`].
    pub fn open_existing(folder: &Path, fresh: &FreshBytes) -> Result<Option<Self>, Error> {
        let file = Database::open_existing(&folder.join(FILE), &PURPOSE)?;
        file.map(|file| Self::of(file, folder, fresh)).transpose()
    }

    fn of(file: Database, folder: &Path, fresh: &FreshBytes) -> Result<Self, Error> {
        let mut changes = Self { file, key: VaultKey::of(folder, &fresh.key)? };
        changes.seal_what_is_clear(fresh.nonce)?;
        Ok(changes)
    }

    fn seal_what_is_clear(&mut self, nonce: [u8; 12]) -> Result<(), Error> {
        let clear: Option<String> = self
            .file
            .read(|file| file.query_row("SELECT text FROM changes", [], |row| row.get(0)).optional())?;
        if let Some(text) = clear {
            let sealed = self.seal(&text, nonce)?;
            self.file.write(|transaction| {
                // Another process may have sealed the text already, and stored a newer one.
                let sql = "INSERT INTO sealed_changes (id, sealed, changed_ms)
                           SELECT 1, ?1, changed_ms FROM changes WHERE text = ?2
                           ON CONFLICT (id) DO NOTHING";
                transaction.execute(sql, params![sealed, text])?;
                transaction.execute("DELETE FROM changes", []).map(drop)
            })?;
            // Deleted data is overwritten, and a vacuum leaves no trace of it in the file. If another process is reading, the
            // overwritten pages stay until the next start; this need not be reported.
            let _ = self.file.read(|file| file.execute_batch("VACUUM"));
        }
        // The write-ahead log may contain older pages, for example if a process ended between the two steps.
        let _ = self
            .file
            .read(|file| file.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0)));
        Ok(())
    }

    fn seal(&self, text: &str, nonce: [u8; 12]) -> Result<Vec<u8>, Error> {
        let path = || self.file.path().to_path_buf();
        let sealed = self.key.seal(NAME, text.as_bytes(), nonce);
        sealed.ok_or_else(|| Error::Database { path: path(), why: "the changes cannot be sealed".to_owned() })
    }

    /// The newest text, if there is one.
    ///
    /// # Errors
    /// Fails if the file cannot be read, or the text was sealed under another key.
    pub fn text(&self) -> Result<Option<String>, Error> {
        let sealed: Option<Vec<u8>> = self.file.read(|file| {
            file.query_row("SELECT sealed FROM sealed_changes", [], |row| row.get(0)).optional()
        })?;
        let Some(sealed) = sealed else { return Ok(None) };
        let plain = self.key.open(NAME, &sealed).and_then(|plain| String::from_utf8(plain).ok());
        let why = "it is sealed under a key other than the vault.key in the same folder";
        plain
            .map(Some)
            .ok_or_else(|| Error::Corrupt { path: self.file.path().to_path_buf(), why: why.to_owned() })
    }

    /// Replaces the text. The new text survives a power cut. `nonce` must be random, and new for each call.
    ///
    /// # Errors
    /// Fails if the file cannot be written; the previous text is then kept.
    pub fn keep(&mut self, text: &str, now_ms: u64, nonce: [u8; 12]) -> Result<(), Error> {
        let sealed = self.seal(text, nonce)?;
        self.file.write(|transaction| {
            let sql = "INSERT INTO sealed_changes (id, sealed, changed_ms) VALUES (1, ?1, ?2)
                       ON CONFLICT (id) DO UPDATE SET sealed = excluded.sealed, changed_ms = excluded.changed_ms";
            transaction.execute(sql, params![sealed, kept(now_ms)]).map(drop)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::database::tests::Folder;

    fn fresh() -> FreshBytes {
        let mut fresh = FreshBytes { key: [0; 32], nonce: nonce() };
        aws_lc_rs::rand::fill(&mut fresh.key).unwrap();
        fresh
    }

    fn nonce() -> [u8; 12] {
        let mut nonce = [0; 12];
        aws_lc_rs::rand::fill(&mut nonce).unwrap();
        nonce
    }

    /// The files of the folder that contain these bytes.
    fn holding(folder: &Folder, text: &[u8]) -> Vec<String> {
        let files = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
        let holds =
            |path: &std::path::PathBuf| fs::read(path).unwrap().windows(text.len()).any(|part| part == text);
        files.filter(holds).map(|path| path.display().to_string()).collect()
    }

    #[test]
    fn the_newest_text_is_kept() {
        let folder = Folder::new();
        assert!(StoredChanges::open_existing(folder.path(), &fresh()).unwrap().is_none());
        let mut changes = StoredChanges::open(folder.path(), &fresh()).unwrap();
        assert_eq!(changes.text().unwrap(), None);
        changes.keep("one", 1, nonce()).unwrap();
        changes.keep("two", 2, nonce()).unwrap();
        assert_eq!(changes.text().unwrap().as_deref(), Some("two"));
        drop(changes);
        let again = StoredChanges::open_existing(folder.path(), &fresh()).unwrap().unwrap();
        assert_eq!(again.text().unwrap().as_deref(), Some("two"));
    }

    #[test]
    fn no_file_says_what_was_kept_without_the_key() {
        let folder = Folder::new();
        let mut changes = StoredChanges::open(folder.path(), &fresh()).unwrap();
        changes.keep("{\"key\":\"to-ken-of-ann\"}", 1, nonce()).unwrap();
        assert_eq!(holding(&folder, b"to-ken-of-ann"), [""; 0]);
        drop(changes);
        assert_eq!(holding(&folder, b"to-ken-of-ann"), [""; 0]);
        // Under another key, the result is an error, not an empty text.
        fs::write(folder.path().join("vault.key"), [1; 32]).unwrap();
        let error = StoredChanges::open(folder.path(), &fresh()).unwrap().text().unwrap_err();
        assert!(error.to_string().contains("a key other than"), "{error}");
    }

    #[test]
    fn what_an_earlier_version_left_clear_is_sealed_and_gone() {
        let folder = Folder::new();
        let first = Purpose { steps: &[FIRST], ..PURPOSE };
        let mut old = Database::open(&folder.path().join(FILE), &first).unwrap();
        let secret = "to-ken-of-ann".repeat(2000);
        for text in ["to-ken-of-ann, short", &secret, "now to-ken-of-ann"] {
            old.write(|file| file.execute("INSERT OR REPLACE INTO changes VALUES (1, ?1, 7)", [text]))
                .unwrap();
        }
        assert_ne!(holding(&folder, b"to-ken-of-ann"), [""; 0]);
        drop(old);
        let changes = StoredChanges::open_existing(folder.path(), &fresh()).unwrap().unwrap();
        assert_eq!(changes.text().unwrap().as_deref(), Some("now to-ken-of-ann"));
        assert_eq!(holding(&folder, b"to-ken-of-ann"), [""; 0]);
        drop(changes);
        let again = StoredChanges::open(folder.path(), &fresh()).unwrap();
        assert_eq!(again.text().unwrap().as_deref(), Some("now to-ken-of-ann"));
        assert_eq!(holding(&folder, b"to-ken-of-ann"), [""; 0]);
    }
}
