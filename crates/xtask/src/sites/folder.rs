//! The folder of a run, and the folders of its parts.

use std::fs;
use std::path::{Path, PathBuf};
use std::process;

/// A folder for everything that belongs to one run, deleted on drop. It is not below the target folder, because paths of
/// sockets must be short.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(what: &str) -> Result<Self, String> {
        let path = std::env::temp_dir().join(format!("dragoman-{what}-{}", process::id()));
        fs::create_dir_all(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A folder for one part of the run.
pub(super) fn below(folder: &Path, name: &str) -> Result<PathBuf, String> {
    let path = folder.join(name);
    fs::create_dir_all(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(path)
}
