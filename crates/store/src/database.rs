//! One `SQLite` file: created for its owner alone, opened by several processes at the same time, and migrated to the
//! current schema. This module must not know the contents.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use crate::{Error, private_file};

mod creation;

/// The time to wait for another process that is writing.
const PATIENCE: Duration = Duration::from_secs(5);

/// The time between two attempts to open a file that another process has locked.
const PAUSE: Duration = Duration::from_millis(10);

/// The size of a database's header in bytes (SQLite's file format, section 1.3).
const HEADER: u64 = 100;

/// The purpose of a file: how to recognize it, and the history of its schema.
pub(crate) struct Purpose {
    /// `PRAGMA application_id`, which identifies our files, with a different value for each purpose.
    pub(crate) mark: i64,
    /// The statements that migrate from schema number N to N+1, starting with an empty file. Published statements
    /// never change.
    pub(crate) steps: &'static [&'static str],
    /// True if a write must survive a power cut, not only a crash of the process.
    pub(crate) durable: bool,
    /// True if the whole file is checked when it is opened; meant for small files.
    pub(crate) examined: bool,
}

/// An open database file.
#[derive(Debug)]
pub(crate) struct Database {
    connection: Connection,
    path: PathBuf,
    /// The file that was opened: its device and its inode number. `None` once it is gone.
    opened: Option<(u64, u64)>,
}

/// The device and the inode number of the file at a path.
fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

impl Database {
    /// Opens the file, and creates it and its folders if they are missing.
    pub(crate) fn open(path: &Path, purpose: &Purpose) -> Result<Self, Error> {
        // Closing a file releases all locks that this process holds on it, including those of `SQLite` (fcntl(2)). A
        // file that is being created has no locks yet, as long as no other thread opens it meanwhile.
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let path = std::path::absolute(path).map_err(|source| folder_error(path, source))?;
        make(&path, purpose)?;
        opened_in(PATIENCE, || Self::of_file(path.clone(), purpose))
    }

    /// Opens the file, if it exists.
    pub(crate) fn open_existing(path: &Path, purpose: &Purpose) -> Result<Option<Self>, Error> {
        match path.try_exists() {
            Ok(false) => Ok(None),
            Ok(true) => Self::open(path, purpose).map(Some),
            // It is impossible to determine whether the file exists.
            Err(source) => Err(Error::Unwritable { path: path.to_path_buf(), why: source.to_string() }),
        }
    }

    /// Opens the file like [`Database::open`]. A damaged file is moved aside, so use this only for data that can be obtained
    /// again. Returns the path to which the file was moved.
    pub(crate) fn open_or_replace(path: &Path, purpose: &Purpose) -> Result<(Self, Option<PathBuf>), Error> {
        match Self::open(path, purpose) {
            Err(Error::Corrupt { .. }) => {}
            file => return Ok((file?, None)),
        }
        let aside = path.with_extension("db.damaged");
        let failed = |e: io::Error| Error::Unwritable { path: path.to_path_buf(), why: e.to_string() };
        fs::rename(path, &aside).map_err(failed)?;
        for side in ["db-wal", "db-shm"] {
            // These files belong to the file that was moved. There may be none.
            let _ = fs::remove_file(path.with_extension(side));
        }
        Ok((Self::open(path, purpose)?, Some(aside)))
    }

    fn of_file(path: PathBuf, purpose: &Purpose) -> Result<Self, Error> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = Connection::open_with_flags(&path, flags).and_then(|connection| {
            connection.busy_timeout(PATIENCE)?;
            let read_only = connection.is_readonly("main")?;
            Ok((connection, read_only))
        });
        let (connection, read_only) = opened.map_err(|e| Error::of(&path, &e))?;
        if read_only {
            return Err(Error::Unwritable { path, why: "it is read-only".to_owned() });
        }
        let opened = identity(&path);
        let mut database = Self { connection, path, opened };
        // A foreign file, or one of a newer version, is left unchanged.
        let version = database.judge(purpose)?;
        database.configure(purpose, version == 0)?;
        if version < purpose.steps.len() {
            database.migrate(purpose)?;
        }
        if purpose.examined {
            database.examine()?;
        }
        Ok(database)
    }

    /// Opens a new file if the opened one is no longer at its path. Returns true if it opened one.
    pub(crate) fn replace_if_gone(&mut self, purpose: &Purpose) -> Result<bool, Error> {
        if self.opened.is_some() && identity(&self.path) == self.opened {
            return Ok(false);
        }
        // The old connection is closed before the new file is opened, because `SQLite` deletes its side files by name when
        // it closes. Until the new file is open, an empty in-memory database without tables rejects every write.
        let nothing = Connection::open_in_memory().map_err(|e| self.error(&e))?;
        (self.connection, self.opened) = (nothing, None);
        *self = Self::open(&self.path, purpose)?;
        Ok(true)
    }

    /// The file's schema number; 0 for an empty file.
    fn judge(&mut self, purpose: &Purpose) -> Result<usize, Error> {
        // The file is read in one transaction, because another process may be creating it.
        let read = self.connection.transaction().and_then(|snapshot| {
            let number = |query| snapshot.query_row::<i64, _, _>(query, [], |row| row.get(0));
            let tables = number("SELECT count(*) FROM sqlite_schema")?;
            Ok((number("PRAGMA application_id")?, number("PRAGMA user_version")?, tables))
        });
        let (mark, version, tables) = read.map_err(|e| self.error(&e))?;
        if (mark, version, tables) == (0, 0, 0) {
            return Ok(0);
        }
        let known = i64::try_from(purpose.steps.len()).unwrap_or(i64::MAX);
        match usize::try_from(version) {
            _ if mark != purpose.mark => Err(Error::Foreign { path: self.path.clone() }),
            Ok(done) if done <= purpose.steps.len() => Ok(done),
            _ => Err(Error::Newer { path: self.path.clone(), found: version, known }),
        }
    }

    fn configure(&self, purpose: &Purpose, is_new: bool) -> Result<(), Error> {
        // Incremental vacuum must be enabled before the file contains anything. Setting either pragma writes to the file
        // even if it changes nothing. That fails if the disk is full, or if another process holds the write lock.
        let begins = "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;";
        let begins = if is_new { begins } else { "" };
        let durable = if purpose.durable { "FULL" } else { "NORMAL" };
        // Deleted data is overwritten.
        let pragmas = format!(
            "{begins} PRAGMA synchronous = {durable};
             PRAGMA secure_delete = ON; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;
             PRAGMA journal_size_limit = 4194304; PRAGMA cache_size = -512; PRAGMA temp_store = MEMORY;"
        );
        self.connection.execute_batch(&pragmas).map_err(|e| self.error(&e))
    }

    fn migrate(&mut self, purpose: &Purpose) -> Result<(), Error> {
        // Another process may have created the file meanwhile, for something else.
        self.judge(purpose)?;
        self.write(|transaction| {
            // Another process may have been faster.
            let done: i64 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
            let done = usize::try_from(done).unwrap_or(usize::MAX);
            for (number, step) in purpose.steps.iter().enumerate().skip(done) {
                transaction.execute_batch(step)?;
                transaction.execute_batch(&format!("PRAGMA user_version = {}", number + 1))?;
            }
            transaction.execute_batch(&format!("PRAGMA application_id = {}", purpose.mark))
        })
    }

    fn examine(&self) -> Result<(), Error> {
        let found: String = self
            .connection
            .query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
            .map_err(|e| self.error(&e))?;
        if found == "ok" { Ok(()) } else { Err(Error::Corrupt { path: self.path.clone(), why: found }) }
    }

    /// Runs `work` as one transaction, after waiting for the write lock that all processes share.
    pub(crate) fn write<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, Error> {
        let done = self.connection.transaction_with_behavior(TransactionBehavior::Immediate).and_then(
            |transaction| {
                let done = work(&transaction)?;
                transaction.commit()?;
                Ok(done)
            },
        );
        done.map_err(|e| self.error(&e))
    }

    /// Runs a read-only query.
    pub(crate) fn read<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, Error> {
        work(&self.connection).map_err(|e| self.error(&e))
    }

    /// The single number that a query returns.
    pub(crate) fn number(&self, query: &str) -> Result<i64, Error> {
        self.read(|connection| connection.query_row(query, [], |row| row.get(0)))
    }

    /// The path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn error(&self, error: &rusqlite::Error) -> Error {
        Error::of(&self.path, error)
    }
}

/// Repeats `open` while another process has locked the file, for at most `time` plus one attempt. `SQLite` itself does not
/// wait for each lock: if two processes change the journal mode of a new file at the same time, it refuses one of them.
#[expect(
    clippy::disallowed_methods,
    reason = "files are opened in threads that may block, and `SQLite` reports no event"
)]
fn opened_in<T>(time: Duration, mut open: impl FnMut() -> Result<T, Error>) -> Result<T, Error> {
    let until = Instant::now() + time;
    loop {
        match open() {
            Err(Error::Busy { .. }) if Instant::now() < until => thread::sleep(PAUSE),
            opened => return opened,
        }
    }
}

/// Creates the file for its owner alone if it is missing; otherwise removes the access rights of others.
fn make(path: &Path, purpose: &Purpose) -> Result<(), Error> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|source| folder_error(folder, source))?;
    let unwritable = |e: io::Error| Error::Unwritable { path: path.to_path_buf(), why: e.to_string() };
    // If this is impossible, the file is created step by step below, and an error then has a reason.
    let _ = creation::create(path, purpose);
    match private_file::create(path) {
        Ok(_) => Ok(()),
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
            let kind = fs::metadata(path).map_err(unwritable)?;
            if !kind.is_file() {
                return Err(unwritable(io::Error::other("it is not a file")));
            }
            // SQLite would mistake a file that is shorter than its header for an empty database, and overwrite it.
            if (1..HEADER).contains(&kind.len()) {
                let why = format!("it has only {} bytes, too few for a database", kind.len());
                return Err(Error::Corrupt { path: path.to_path_buf(), why });
            }
            let rights = kind.permissions().mode() & 0o777;
            if rights == rights & 0o700 {
                return Ok(());
            }
            // Permissions are set by name, because opening and closing the file would release locks.
            fs::set_permissions(path, fs::Permissions::from_mode(rights & 0o700)).map_err(unwritable)
        }
        Err(e) => Err(unwritable(e)),
    }
}

fn folder_error(path: &Path, source: io::Error) -> Error {
    Error::Folder { path: path.to_path_buf(), source }
}

/// Converts a count to the integer type of the file. Values that do not fit do not occur in practice.
pub(crate) fn kept(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Converts a count back from the file's integer type; see [`kept`].
pub(crate) fn counted(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

#[cfg(test)]
pub(crate) mod tests;
