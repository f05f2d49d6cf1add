//! What was changed while serving, in a file of its own: one text, of which only the newest is kept. It must not know what the
//! text says.

use std::path::Path;

use rusqlite::{OptionalExtension as _, params};

use crate::Error;
use crate::database::{Database, Purpose, kept};

/// The file's name in its folder.
const FILE: &str = "changes.db";

const FIRST: &str = "
    CREATE TABLE changes (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        text TEXT NOT NULL,
        changed_ms INTEGER NOT NULL
    ) STRICT;
";

const PURPOSE: Purpose = Purpose { mark: 0x6467_6D63, steps: &[FIRST], durable: true, examined: true };

/// The file of changes.
#[derive(Debug)]
pub struct Changes(Database);

impl Changes {
    /// Opens the file in this folder, which is made where it is not there.
    ///
    /// # Errors
    /// When the file cannot be used.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        Database::open(&folder.join(FILE), &PURPOSE).map(Self)
    }

    /// Opens the file if it is there.
    ///
    /// # Errors
    /// When the file cannot be used.
    pub fn open_existing(folder: &Path) -> Result<Option<Self>, Error> {
        Ok(Database::open_existing(&folder.join(FILE), &PURPOSE)?.map(Self))
    }

    /// The newest text, if there is one.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn text(&self) -> Result<Option<String>, Error> {
        self.0.read(|connection| {
            connection.query_row("SELECT text FROM changes", [], |row| row.get(0)).optional()
        })
    }

    /// Keeps a text in the place of the one before. It survives a power cut.
    ///
    /// # Errors
    /// When the file cannot be written; the text before is kept then.
    pub fn keep(&mut self, text: &str, now_ms: u64) -> Result<(), Error> {
        self.0.write(|transaction| {
            let sql = "INSERT INTO changes (id, text, changed_ms) VALUES (1, ?1, ?2)
                       ON CONFLICT (id) DO UPDATE SET text = excluded.text, changed_ms = excluded.changed_ms";
            transaction.execute(sql, params![text, kept(now_ms)]).map(drop)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::tests::Folder;

    #[test]
    fn the_newest_text_is_kept() {
        let folder = Folder::new();
        assert!(Changes::open_existing(folder.path()).unwrap().is_none());
        let mut changes = Changes::open(folder.path()).unwrap();
        assert_eq!(changes.text().unwrap(), None);
        changes.keep("one", 1).unwrap();
        changes.keep("two", 2).unwrap();
        assert_eq!(changes.text().unwrap().as_deref(), Some("two"));
        drop(changes);
        let again = Changes::open_existing(folder.path()).unwrap().unwrap();
        assert_eq!(again.text().unwrap().as_deref(), Some("two"));
    }
}
