//! The stored data of sessions. This is the data that clients have sent, which lets their sessions continue after a
//! restart, and a record of the sessions that have ended permanently. This module must not know the meaning of this
//! data.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension as _, Transaction, params};

use crate::Error;
use crate::database::{Database, Purpose};

/// The file's name in its folder.
const FILE: &str = "sessions.db";

/// The maximum number of stored sessions; the least recently used ones are deleted first.
const MOST: i64 = 100_000;

/// The maximum total size of the stored ends of sessions, in bytes: 16 for each of [`MOST`] ends. The oldest ends
/// are deleted first.
const MOST_ENDED_BYTES: i64 = MOST * 16;

/// The maximum number of ends of sessions that are kept in memory. Memory may contain more of them than the file,
/// because other processes delete them from the file.
const MOST_KNOWN: usize = 200_000;

/// The number of sessions, and of ends of sessions, that are stored between two checks of the maximums. Each check
/// reads both tables, so checks are rare.
const CHECKED_AFTER: usize = 10_000;

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

/// Each row of `ended` contains the keys of the sessions whose ends were written together. One row per end would
/// cost 6 % of the instructions of a session with four requests.
const ENDED: &str = "
    CREATE TABLE ended (
        batch INTEGER PRIMARY KEY AUTOINCREMENT, -- so that no number comes twice, also after pruning
        at_ms INTEGER NOT NULL,
        ids BLOB NOT NULL
    ) STRICT;
";

const PURPOSE: Purpose =
    Purpose { mark: 0x6467_6D73, steps: &[FIRST, ENDED], durable: false, examined: true };

/// Stores an open session. Earlier versions recorded the end of a session as a row without an introduction; such a
/// row is not overwritten.
const OPEN: &str = "
    INSERT INTO sessions VALUES (?1, ?2, ?3, ?4, ?5)
    ON CONFLICT (id) DO UPDATE SET introduction = excluded.introduction, level = excluded.level,
        subscriptions = excluded.subscriptions, used_ms = max(used_ms, excluded.used_ms)
    WHERE introduction IS NOT NULL
";

/// Deletes the oldest row of `ended`, if it was written before a certain time.
const PRUNE_ENDED: &str = "DELETE FROM ended WHERE batch = (SELECT min(batch) FROM ended) AND at_ms < ?1";

const SURPLUS: &str = "
    DELETE FROM sessions WHERE id IN (SELECT id FROM sessions ORDER BY used_ms DESC LIMIT -1 OFFSET ?1)
";

const SURPLUS_ENDED: &str = "
    DELETE FROM ended WHERE batch <= (
        SELECT max(batch) FROM (SELECT batch, sum(length(ids)) OVER (ORDER BY batch DESC) AS size FROM ended)
        WHERE size > ?1
    )
";

/// The end of a session is kept longer than a session by this time, in milliseconds, because another process may
/// have written the session shortly after its end.
const LONGER_MS: i64 = 60 * 60 * 1000;

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

/// The end of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionEnd {
    /// The time of the end, in milliseconds since 1970.
    pub at_ms: i64,
    /// True if the file may contain the session as open.
    pub was_stored: bool,
}

/// A session in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionRow {
    /// The session can continue.
    Open(OpenRow),
    /// The session ended permanently.
    Ended(SessionEnd),
}

/// The file with the stored sessions.
#[derive(Debug)]
pub struct StoredSessions {
    file: Database,
    ends: KnownEnds,
    /// The number of sessions, and of ends of sessions, that were stored since the maximums were last checked; the
    /// first write checks them.
    unchecked: usize,
}

/// The ends of sessions that were read from the file. Nothing is read before the first session is looked up.
#[derive(Debug, Default)]
struct KnownEnds {
    /// The times of the ends.
    at_ms: HashMap<SessionKey, i64>,
    /// The last row that was read.
    last: i64,
}

impl KnownEnds {
    /// Reads the rows that were added since the last call.
    fn read(&mut self, file: &Connection) -> rusqlite::Result<()> {
        let mut added = file.prepare_cached("SELECT batch, at_ms, ids FROM ended WHERE batch > ?1")?;
        let mut added = added.query([self.last])?;
        while let Some(row) = added.next()? {
            let at_ms = row.get(1)?;
            let (keys, _) = row.get_ref(2)?.as_blob()?.as_chunks();
            self.at_ms.extend(keys.iter().map(|key| (*key, at_ms)));
            self.last = row.get(0)?;
        }
        Ok(())
    }
}

impl StoredSessions {
    /// Opens the file in this folder, and creates it if it is missing. A damaged file is moved aside; returns the path
    /// to which it was moved, if any.
    ///
    /// # Errors
    /// Fails if the file cannot be used.
    pub fn open(folder: &Path) -> Result<(Self, Option<PathBuf>), Error> {
        let (file, moved) = Database::open_or_replace(&folder.join(FILE), &PURPOSE)?;
        Ok((Self { file, ends: KnownEnds::default(), unchecked: CHECKED_AFTER }, moved))
    }

    /// The row of a session. An ended session stays ended, whatever another process writes.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn load(&mut self, id: &SessionKey) -> Result<Option<SessionRow>, Error> {
        let ended = |at_ms| SessionRow::Ended(SessionEnd { at_ms, was_stored: true });
        if self.ends.at_ms.len() > MOST_KNOWN {
            self.ends = KnownEnds::default();
        }
        self.file.read(|file| self.ends.read(file))?;
        if let Some(at_ms) = self.ends.at_ms.get(id) {
            return Ok(Some(ended(*at_ms)));
        }
        let query = "SELECT introduction, level, subscriptions, used_ms FROM sessions WHERE id = ?1";
        self.file.read(|file| {
            let row = |row: &rusqlite::Row<'_>| {
                let used_ms = row.get(3)?;
                let Some(introduction) = row.get(0)? else { return Ok(ended(used_ms)) };
                let (level, subscriptions) = (row.get(1)?, row.get(2)?);
                Ok(SessionRow::Open(OpenRow { introduction, level, subscriptions, used_ms }))
            };
            file.query_row(query, [id], row).optional()
        })
    }

    /// Writes rows, and deletes those that were last used more than `kept_ms` ago.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn save(
        &mut self,
        rows: &[(SessionKey, SessionRow)],
        now_ms: i64,
        kept_ms: i64,
    ) -> Result<(), Error> {
        let unchecked = self.unchecked + rows.len();
        let is_due = unchecked > CHECKED_AFTER;
        let has_pruned = self.file.write(|transaction| {
            write(transaction, rows)?;
            let oldest = now_ms.saturating_sub(kept_ms);
            transaction.prepare_cached("DELETE FROM sessions WHERE used_ms < ?1")?.execute([oldest])?;
            let (mut prune, mut has_pruned) = (transaction.prepare_cached(PRUNE_ENDED)?, false);
            while prune.execute([oldest.saturating_sub(LONGER_MS)])? > 0 {
                has_pruned = true;
            }
            if is_due {
                transaction.execute(SURPLUS, [MOST])?;
                has_pruned |= transaction.execute(SURPLUS_ENDED, [MOST_ENDED_BYTES])? > 0;
            }
            Ok(has_pruned)
        })?;
        self.unchecked = if is_due { 0 } else { unchecked };
        if has_pruned {
            self.ends = KnownEnds::default();
        }
        Ok(())
    }
}

/// Writes rows.
fn write(transaction: &Transaction<'_>, rows: &[(SessionKey, SessionRow)]) -> rusqlite::Result<()> {
    // The statements are prepared once for all rows, because parsing them costs more than the write.
    let mut open = transaction.prepare_cached(OPEN)?;
    let mut delete = transaction.prepare_cached("DELETE FROM sessions WHERE id = ?1")?;
    let (mut ended, mut last_ms) = (Vec::new(), i64::MIN);
    for (id, row) in rows {
        match row {
            SessionRow::Open(row) => {
                let OpenRow { introduction, level, subscriptions, used_ms } = row;
                open.execute(params![id, introduction, level, subscriptions, used_ms])?;
            }
            SessionRow::Ended(end) => {
                ended.extend_from_slice(id);
                last_ms = last_ms.max(end.at_ms);
                if end.was_stored {
                    delete.execute([id])?;
                }
            }
        }
    }
    if !ended.is_empty() {
        let insert = "INSERT INTO ended (at_ms, ids) VALUES (?1, ?2)";
        transaction.prepare_cached(insert)?.execute(params![last_ms, ended])?;
    }
    Ok(())
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

    fn ended(at_ms: i64) -> SessionRow {
        SessionRow::Ended(SessionEnd { at_ms, was_stored: true })
    }

    #[test]
    fn a_session_is_found_again_as_it_was_last_written() {
        let folder = Folder::new();
        let (mut file, moved) = StoredSessions::open(folder.path()).unwrap();
        assert_eq!((moved, file.load(&[1; 16]).unwrap()), (None, None));
        file.save(&[([1; 16], row("first", 5)), ([2; 16], row("other", 6))], 7, 100).unwrap();
        file.save(&[([1; 16], row("second", 8))], 9, 100).unwrap();
        drop(file);
        let (mut file, _) = StoredSessions::open(folder.path()).unwrap();
        assert_eq!(file.load(&[1; 16]).unwrap(), Some(row("second", 8)));
        assert_eq!(file.load(&[2; 16]).unwrap(), Some(row("other", 6)));
    }

    #[test]
    fn what_has_ended_stays_so_until_its_time_is_over() {
        let folder = Folder::new();
        let (mut file, _) = StoredSessions::open(folder.path()).unwrap();
        let (mut other, _) = StoredSessions::open(folder.path()).unwrap();
        file.save(&[([1; 16], row("open", 5)), ([2; 16], row("old", 5))], 5, 100).unwrap();
        assert_eq!(other.load(&[1; 16]).unwrap(), Some(row("open", 5)));
        file.save(&[([1; 16], ended(50))], 50, 100).unwrap();
        other.save(&[([1; 16], row("again", 60))], 60, 100).unwrap();
        for file in [&mut file, &mut other] {
            assert_eq!(file.load(&[1; 16]).unwrap(), Some(ended(50)));
        }
        file.save(&[], 106, 100).unwrap();
        assert_eq!(file.load(&[2; 16]).unwrap(), None);
        file.save(&[], 150 + LONGER_MS, 100).unwrap();
        assert_eq!(file.load(&[1; 16]).unwrap(), Some(ended(50)));
        file.save(&[], 151 + LONGER_MS, 100).unwrap();
        assert_eq!(
            file.load(&[1; 16]).unwrap(),
            None,
            "neither its end nor what was written after it is left"
        );
    }

    #[test]
    fn the_end_of_a_session_deletes_what_its_client_sent() {
        let folder = Folder::new();
        let (mut file, _) = StoredSessions::open(folder.path()).unwrap();
        file.save(&[([1; 16], row("open", 5)), ([2; 16], row("open", 5))], 5, 100).unwrap();
        file.save(&[([1; 16], ended(6)), ([3; 16], ended(7))], 7, 100).unwrap();
        assert_eq!(file.file.number("SELECT count(*) FROM sessions").unwrap(), 1);
        for (id, at_ms) in [([1; 16], 7), ([3; 16], 7)] {
            assert_eq!(file.load(&id).unwrap(), Some(ended(at_ms)), "they were written together");
        }
    }

    #[test]
    fn ends_that_an_earlier_version_wrote_are_known() {
        let folder = Folder::new();
        let earlier = Purpose { steps: &[FIRST], ..PURPOSE };
        let mut file = Database::open(&folder.path().join(FILE), &earlier).unwrap();
        let end = "INSERT INTO sessions VALUES (?1, NULL, NULL, '', 5)";
        file.write(|transaction| transaction.execute(end, [[1; 16]])).unwrap();
        drop(file);
        let (mut file, _) = StoredSessions::open(folder.path()).unwrap();
        file.save(&[([1; 16], row("again", 6))], 6, 100).unwrap();
        assert_eq!(file.load(&[1; 16]).unwrap(), Some(ended(5)));
    }

    #[test]
    fn the_oldest_ends_are_deleted_if_there_are_too_many() {
        let folder = Folder::new();
        let (mut file, _) = StoredSessions::open(folder.path()).unwrap();
        let key = |number: u32| u128::from(number).to_be_bytes();
        for (first, last) in [(0, 30_000), (30_000, 70_000), (70_000, 120_000)] {
            let ends: Vec<_> = (first..last).map(|number| (key(number), ended(i64::from(first)))).collect();
            file.save(&ends, 0, 100).unwrap();
        }
        let size = file.file.number("SELECT sum(length(ids)) FROM ended").unwrap();
        assert_eq!(size, 90_000 * 16, "a row is deleted as a whole");
        assert_eq!(file.load(&key(29_999)).unwrap(), None);
        assert_eq!(file.load(&key(30_000)).unwrap(), Some(ended(30_000)));
    }

    #[test]
    fn a_damaged_file_is_moved_aside() {
        let folder = Folder::new();
        drop(StoredSessions::open(folder.path()).unwrap());
        std::fs::write(folder.path().join(FILE), [b'?'; 8192]).unwrap();
        let (mut file, moved) = StoredSessions::open(folder.path()).unwrap();
        assert!(moved.is_some_and(|aside| aside.exists()));
        file.save(&[([1; 16], row("x", 5))], 5, 100).unwrap();
    }
}
