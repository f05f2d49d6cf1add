//! What can go wrong with a file, and what a person does about it.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{ErrorCode, ffi};

/// What went wrong with kept state; the message names the file. [`Error::mend`] says what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder is not there and cannot be made.
    #[error("the folder {} cannot be used: {source}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file, or its folder, cannot be written.
    #[error("{} cannot be opened for writing: {why}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        why: String,
    },
    /// The file was written by a later version of the program.
    #[error("{} was written by a newer version of this program: its schema is {found}, known is {known}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// The file's schema number.
        found: i64,
        /// The newest schema number that this program knows.
        known: i64,
    },
    /// The file is a sound database, but of another program or for another purpose.
    #[error("{} is a database of something else", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The file is damaged, or no database at all.
    #[error("{} is damaged: {why}", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What was found.
        why: String,
    },
    /// Another process holds the file for longer than the deadline.
    #[error("{} is held by another process", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// The disk has no room.
    #[error("there is no room on the disk for {}", path.display())]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// Anything else that the database says.
    #[error("{}: {why}", path.display())]
    Database {
        /// The file.
        path: PathBuf,
        /// What it says.
        why: String,
    },
    /// A key of this name is in use.
    #[error("there is a key {0:?} already")]
    NameTaken(String),
    /// The text cannot be a key's name.
    #[error("{name:?} cannot be the name of a key: {why}")]
    Name {
        /// The text.
        name: String,
        /// The reason why not.
        why: &'static str,
    },
    /// The text cannot be the name of a profile.
    #[error("{0:?} cannot be the name of a profile")]
    Profile(String),
    /// A new key is the same as one that is kept: the random numbers are not random.
    #[error("the new key is like one that is kept: the system's random numbers repeat")]
    Repeated,
}

impl Error {
    /// What a person can do about it.
    pub fn mend(&self) -> &'static str {
        match self {
            Self::Folder { .. } | Self::Unwritable { .. } => {
                "let this user write there, or choose another folder"
            }
            Self::Newer { .. } => {
                "use the newer version, or move the file away to begin with an empty one (what it holds is then not known)"
            }
            Self::Foreign { .. } => "choose another folder, or move the file away",
            Self::Corrupt { .. } => {
                "put a backup in its place, or save what can be read with `sqlite3 FILE .recover`, or move it away to begin \
                 with an empty one; its -wal and -shm go with it"
            }
            Self::Busy { .. } => "try again; if it stays so, find out who holds it: fuser FILE",
            Self::Full { .. } => "make room on the disk",
            Self::Database { .. } => "if it stays so, move the file away to begin with an empty one",
            Self::NameTaken(_) => "choose another name, or revoke the old key first",
            Self::Name { .. } => "choose a short name, as of a person or a machine",
            Self::Profile(_) => "write a profile's name as in the configuration",
            Self::Repeated => "try again; if it stays so, the system's random numbers cannot be trusted",
        }
    }

    /// What the database says of the file at `path`.
    pub(crate) fn of(path: &Path, error: &rusqlite::Error) -> Self {
        let path = path.to_path_buf();
        let why = match error {
            rusqlite::Error::SqliteFailure(code, said) => said.clone().unwrap_or_else(|| code.to_string()),
            other => other.to_string(),
        };
        // Of the journal's index nothing else can fail: its file grows by whole pages before it is used.
        if let rusqlite::Error::SqliteFailure(code, _) = error
            && code.extended_code == ffi::SQLITE_IOERR_SHMSIZE
        {
            return Self::Full { path };
        }
        match error.sqlite_error_code() {
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                Self::Unwritable { path, why }
            }
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Corrupt { path, why },
            Some(
                ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed,
            ) => Self::Busy { path },
            Some(ErrorCode::DiskFull) => Self::Full { path },
            _ => Self::Database { path, why },
        }
    }
}
