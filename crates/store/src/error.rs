//! Errors of the stored files, and suggestions for fixing them.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{ErrorCode, ffi};

/// A failure to read or write the stored state; the message names the file. [`Error::help`] suggests what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder does not exist and cannot be created.
    #[error("the folder {} cannot be used: {source}", path.display())]
    Folder {
        /// The path of the folder.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// The file or its folder is not writable.
    #[error("{} cannot be opened for writing: {why}", path.display())]
    Unwritable {
        /// The path of the file.
        path: PathBuf,
        /// The operating system's error, in words.
        why: String,
    },
    /// The file was written by a later version of the program.
    #[error("{} was written by a newer version of this program: its schema number is {found}, but this program supports at most {known}", path.display())]
    Newer {
        /// The path of the file.
        path: PathBuf,
        /// The schema number that the file has.
        found: i64,
        /// The newest schema number that this program supports.
        known: i64,
    },
    /// The file is a valid database, but of another program or for another purpose.
    #[error("{} is a database of another program, or for another purpose", path.display())]
    Foreign {
        /// The path of the file.
        path: PathBuf,
    },
    /// The file is damaged, or is not a database.
    #[error("{} is damaged: {why}", path.display())]
    Corrupt {
        /// The path of the file.
        path: PathBuf,
        /// The damage that was found.
        why: String,
    },
    /// The file was written with a key other than the one in its folder.
    #[error("{} was written with a key other than the one in vault.key in the same folder", path.display())]
    OtherKey {
        /// The path of the file.
        path: PathBuf,
    },
    /// The file with the key ring cannot be read.
    #[error("{} cannot be read: {why}", path.display())]
    Unreadable {
        /// The path of the file.
        path: PathBuf,
        /// The operating system's error, in words.
        why: String,
    },
    /// The file is not a key ring.
    #[error("{} is not a key ring: {why}", path.display())]
    Damaged {
        /// The path of the file.
        path: PathBuf,
        /// The damage that was found.
        why: String,
    },
    /// Another process kept the file locked past the deadline.
    #[error("{} is locked by another process", path.display())]
    Busy {
        /// The path of the file.
        path: PathBuf,
    },
    /// The disk is full.
    #[error("the disk is full; {} cannot be written", path.display())]
    Full {
        /// The path of the file.
        path: PathBuf,
    },
    /// Any other error of the database.
    #[error("{}: {why}", path.display())]
    Database {
        /// The path of the file.
        path: PathBuf,
        /// The database's message.
        why: String,
    },
    /// A key with this name is in use.
    #[error("a key named {0:?} already exists")]
    NameTaken(String),
    /// The text is not a valid name for a key.
    #[error("{name:?} is not a valid key name: {why}")]
    Name {
        /// The text that was given as a name.
        name: String,
        /// The reason why the text is not valid as a name.
        why: &'static str,
    },
    /// The text is not a valid profile name.
    #[error("{0:?} is not a valid profile name")]
    Profile(String),
    /// A new key equals an existing one, so the random numbers are not random.
    #[error("the new key equals an existing one: the system's random numbers repeat")]
    Repeated,
}

impl Error {
    /// A suggestion for the person who runs the program.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Folder { .. } | Self::Unwritable { .. } => {
                "give this user write access, or choose another folder"
            }
            Self::Newer { .. } => {
                "use the newer version, or move the file away to start with an empty one (its contents are then lost to Dragoman)"
            }
            Self::Foreign { .. } => "choose another folder, or move the file away",
            Self::Corrupt { .. } => {
                "restore a backup, or recover the readable part with `sqlite3 FILE .recover`, or move the file away (with its -wal and -shm files) to start with an empty one"
            }
            Self::OtherKey { .. } => {
                "restore the matching vault.key from a backup; or move the file away (with its -wal and -shm files): the definitions that servers list next are then approved"
            }
            Self::Unreadable { .. } => "give this user read access, or name another file",
            Self::Damaged { .. } => {
                "restore a backup, or move the file away to start with new keys (clients then begin new sessions)"
            }
            Self::Busy { .. } => "try again; if that does not help, find the process with `fuser FILE`",
            Self::Full { .. } => "free up some space on the disk",
            Self::Database { .. } => "if it happens again, move the file away to start with an empty one",
            Self::NameTaken(_) => "choose another name, or revoke the old key first",
            Self::Name { .. } => "choose a short name, for example of a person or a machine",
            Self::Profile(_) => "use a profile's name from the configuration",
            Self::Repeated => "try again; if it happens again, do not trust the system's random numbers",
        }
    }

    /// Converts a database error that concerns the file at `path`.
    pub(crate) fn of(path: &Path, error: &rusqlite::Error) -> Self {
        let path = path.to_path_buf();
        let why = match error {
            rusqlite::Error::SqliteFailure(code, said) => said.clone().unwrap_or_else(|| code.to_string()),
            other => other.to_string(),
        };
        // Only a full disk makes the shared-memory index of the journal fail: its file grows by whole pages before it
        // is used.
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
