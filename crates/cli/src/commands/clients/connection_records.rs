//! The records of what `connect` changed, in the user's data folder. A record contains the client's settings, which may contain secrets, so only
//! the user can read it. This module must not know clients' notations.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use clients::client_app::ClientApp;
use clients::connection::ConnectionRecord;

use crate::commands::configuration::state;
use crate::output::failure::Failure;

/// The advice if the record of a connection was not found.
pub(crate) const ELSEWHERE: &str = "if the settings are elsewhere, name them with --file FILE or --project";

/// The maximum length of the name of a record's file, in bytes.
const MAX_NAME: usize = 200;

/// The path of a record; the file need not exist.
pub(crate) struct RecordPlace(PathBuf);

impl RecordPlace {
    /// Returns the path of the record about a client's settings file.
    ///
    /// # Errors
    /// Fails if the user's data folder is unknown.
    pub(crate) fn of(client: &ClientApp, file: &Path) -> Result<Self, Failure> {
        let path = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
        let plain =
            |char: char| if char.is_ascii_alphanumeric() || "._-".contains(char) { char } else { '+' };
        let path: String = path.to_string_lossy().chars().map(plain).collect();
        // The end of a long path identifies the file better than its beginning.
        let path = &path[path.len().saturating_sub(MAX_NAME)..];
        Ok(Self(state::user_folder()?.join("connections").join(format!("{}@{path}.json", client.name))))
    }

    /// Reads the record, if there is one.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub(crate) fn read(&self) -> Result<Option<ConnectionRecord>, Failure> {
        match fs::read(&self.0) {
            Ok(bytes) => {
                serde_json::from_slice(&bytes).map(Some).map_err(|e| self.failed("read", &e.to_string()))
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(self.failed("read", &e.to_string())),
        }
    }

    /// Writes the record.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub(crate) fn write(&self, record: &ConnectionRecord) -> Result<(), Failure> {
        self.written(record).map_err(|e| self.failed("write", &e.to_string()))
    }

    fn written(&self, record: &ConnectionRecord) -> io::Result<()> {
        if let Some(folder) = self.0.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let fresh = self.0.with_extension("new");
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&fresh)?;
        file.write_all(&serde_json::to_vec(record)?)?;
        file.sync_all()?;
        fs::rename(&fresh, &self.0)
    }

    /// Removes the record.
    pub(crate) fn remove(&self) {
        // A record that cannot be removed describes a change that was undone; the next `connect` replaces it.
        let _ = fs::remove_file(&self.0);
    }

    fn failed(&self, what: &str, why: &str) -> Failure {
        let message = format!("cannot {what} the record of the connection, {}: {why}", self.0.display());
        Failure::new(message).help("nothing was changed")
    }
}
