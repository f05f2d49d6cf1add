//! The data that clients have sent in their sessions, stored so that a session continues after the process has ended,
//! and the sessions that have ended permanently. This module must not know the meaning of this data.

use std::path::{Path, PathBuf};

use rusqlite::{OptionalExtension as _, params};

use crate::Error;
use crate::database::{Database, Purpose};

/// The file's name in its folder.
const FILE: &str = "sessions.db";

/// The maximum number of stored rows; the least recently used rows are deleted first.
const MOST: i64 = 100_000;

const FIRST: &str = "
    CREATE TABLE sessions (
        id BLOB PRIMARY KEY,
        introduction BLOB,
        level BLOB,
        subscriptions TEXT NOT NULL,
        used_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX sessions_by_use ON sessions (used_ms);
";

const PURPOSE: Purpose = Purpose { mark: 0x6467_6D73, steps: &[FIRST], durable: false, examined: true };

/// An ended session stays ended, whatever another process believes.
const OPEN: &str = "
    INSERT INTO sessions VALUES (?1, ?2, ?3, ?4, ?5)
    ON CONFLICT (id) DO UPDATE SET introduction = excluded.introduction, level = excluded.level,
        subscriptions = excluded.subscriptions, used_ms = max(used_ms, excluded.used_ms)
    WHERE introduction IS NOT NULL
";

const END: &str = "INSERT OR REPLACE INTO sessions VALUES (?1, NULL, NULL, '', ?2)";

/// The number that identifies a session.
pub type SessionKey = [u8; 16];

/// A session that has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenRow {
    /// The introduction that the client sent in `initialize`.
    pub introduction: Vec<u8>,
    /// The log level that the client asked for.
    pub level: Option<Vec<u8>>,
    /// The resources that the client has subscribed to.
    pub subscriptions: String,
    /// The time of the session's last use, in milliseconds since 1970.
    pub used_ms: i64,
}

/// A row of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionRow {
    /// The session can continue.
    Open(OpenRow),
    /// The session ended permanently, at this time.
    Ended(i64),
}

/// The file with the stored sessions.
#[derive(Debug)]
pub struct StoredSessions(Database);

impl StoredSessions {
    /// Opens the file in this folder, and creates it if it is missing. A damaged file is moved aside; returns the path
    /// to which it was moved, if any.
    ///
    /// # Errors
    /// If the file cannot be used.
    pub fn open(folder: &Path) -> Result<(Self, Option<PathBuf>), Error> {
        let (file, moved) = Database::open_or_replace(&folder.join(FILE), &PURPOSE)?;
        Ok((Self(file), moved))
    }

    /// The row of a session.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn load(&self, id: &SessionKey) -> Result<Option<SessionRow>, Error> {
        let query = "SELECT introduction, level, subscriptions, used_ms FROM sessions WHERE id = ?1";
        self.0.read(|file| {
            let row = |row: &rusqlite::Row<'_>| {
                let used_ms = row.get(3)?;
                let Some(introduction) = row.get(0)? else { return Ok(SessionRow::Ended(used_ms)) };
                let (level, subscriptions) = (row.get(1)?, row.get(2)?);
                Ok(SessionRow::Open(OpenRow { introduction, level, subscriptions, used_ms }))
            };
            file.query_row(query, [id], row).optional()
        })
    }

    /// Writes rows, and deletes those that were last used more than `kept_ms` ago.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save<'a>(
        &mut self,
        rows: impl IntoIterator<Item = (&'a SessionKey, &'a SessionRow)>,
        now_ms: i64,
        kept_ms: i64,
    ) -> Result<(), Error> {
        self.0.write(|transaction| {
            // The statements are prepared once for all rows, because parsing them costs more than the write.
            let (mut open, mut end) = (transaction.prepare_cached(OPEN)?, transaction.prepare_cached(END)?);
            for (id, row) in rows {
                match row {
                    SessionRow::Open(row) => open.execute(params![
                        id,
                        row.introduction,
                        row.level,
                        row.subscriptions,
                        row.used_ms
                    ])?,
                    SessionRow::Ended(at_ms) => end.execute(params![id, at_ms])?,
                };
            }
            drop((open, end));
            transaction.execute("DELETE FROM sessions WHERE used_ms < ?1", [now_ms.saturating_sub(kept_ms)])?;
            let surplus = "DELETE FROM sessions WHERE id IN (SELECT id FROM sessions ORDER BY used_ms DESC LIMIT -1 OFFSET ?1)";
            transaction.execute(surplus, [MOST])?;
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::tests::Folder;

    fn row(introduction: &str, used_ms: i64) -> SessionRow {
        let introduction = introduction.as_bytes().to_vec();
        let subscriptions = "[\"memo:///a\"]".to_owned();
        SessionRow::Open(OpenRow { introduction, level: Some(b"\"info\"".to_vec()), subscriptions, used_ms })
    }

    #[test]
    fn a_session_is_found_again_as_it_was_last_written() {
        let folder = Folder::new();
        let (mut file, moved) = StoredSessions::open(folder.path()).unwrap();
        assert_eq!((moved, file.load(&[1; 16]).unwrap()), (None, None));
        file.save([(&[1; 16], &row("first", 5)), (&[2; 16], &row("other", 6))], 7, 100).unwrap();
        file.save([(&[1; 16], &row("second", 8))], 9, 100).unwrap();
        drop(file);
        let (file, _) = StoredSessions::open(folder.path()).unwrap();
        assert_eq!(file.load(&[1; 16]).unwrap(), Some(row("second", 8)));
        assert_eq!(file.load(&[2; 16]).unwrap(), Some(row("other", 6)));
    }

    #[test]
    fn what_has_ended_stays_so_until_its_time_is_over() {
        let folder = Folder::new();
        let (mut file, _) = StoredSessions::open(folder.path()).unwrap();
        file.save([(&[1; 16], &row("open", 5)), (&[2; 16], &row("old", 5))], 5, 100).unwrap();
        file.save([(&[1; 16], &SessionRow::Ended(50))], 50, 100).unwrap();
        file.save([(&[1; 16], &row("again", 60))], 60, 100).unwrap();
        assert_eq!(file.load(&[1; 16]).unwrap(), Some(SessionRow::Ended(50)));
        file.save([], 106, 100).unwrap();
        assert_eq!(file.load(&[2; 16]).unwrap(), None);
        assert!(file.load(&[1; 16]).unwrap().is_some());
        file.save([], 151, 100).unwrap();
        assert_eq!(file.load(&[1; 16]).unwrap(), None);
    }

    #[test]
    fn a_damaged_file_is_moved_aside() {
        let folder = Folder::new();
        drop(StoredSessions::open(folder.path()).unwrap());
        std::fs::write(folder.path().join(FILE), [b'?'; 8192]).unwrap();
        let (mut file, moved) = StoredSessions::open(folder.path()).unwrap();
        assert!(moved.is_some_and(|aside| aside.exists()));
        file.save([(&[1; 16], &row("x", 5))], 5, 100).unwrap();
    }
}
