//! A text file that is edited as a whole: read under a lock, and replaced in one step, with a backup of the previous text. This module must not
//! know what is in the file.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, fchown};
use std::path::{Path, PathBuf};

use config::MAX_FILE_BYTES;

use crate::output::failure::Failure;

/// A text file, locked so that no other command edits it while this value exists.
pub(crate) struct TextFile {
    /// The path of the file, as messages show it.
    pub(crate) shown: PathBuf,
    /// The path of the file itself, with symbolic links resolved.
    pub(crate) path: PathBuf,
    /// The text; `None` if there is no file yet.
    pub(crate) text: Option<String>,
    /// The lock on the file's folder, which is released when this value is dropped.
    _lock: File,
}

impl TextFile {
    /// Opens a file, which need not exist yet.
    ///
    /// # Errors
    /// Fails if the file cannot be read, or is being edited.
    pub(crate) fn open(shown: PathBuf) -> Result<Self, Failure> {
        let cannot = |why: &io::Error| Failure::usage(format!("cannot read {}: {why}", shown.display()));
        let path = match fs::canonicalize(&shown) {
            Ok(path) => path,
            Err(e) if e.kind() == io::ErrorKind::NotFound => shown.clone(),
            Err(e) => return Err(cannot(&e)),
        };
        // A new file may be in a new folder, which is created when the file is written.
        let folder = folder_of(&path).ancestors().find(|folder| folder.is_dir()).unwrap_or(Path::new("."));
        let lock = File::open(folder).map_err(|e| cannot(&e))?;
        if let Err(fs::TryLockError::WouldBlock) = lock.try_lock() {
            let message = format!("another command is changing {}", shown.display());
            return Err(Failure::new(message).help("try again in a moment"));
        }
        let text = match read(&path) {
            Ok(text) => Some(text),
            Err(e) if e.kind() == io::ErrorKind::NotFound => None,
            Err(e) => return Err(cannot(&e)),
        };
        Ok(Self { shown, path, text, _lock: lock })
    }

    /// Removes the file.
    ///
    /// # Errors
    /// Fails if the file cannot be removed.
    pub(crate) fn remove(&self) -> Result<(), Failure> {
        fs::remove_file(&self.path)
            .map_err(|e| Failure::new(format!("cannot remove {}: {e}", self.shown.display())))
    }

    /// Replaces the file; readers see either the old text or the new one. Returns the file with the old text, if there was
    /// one. A new file with a secret can be read only by its owner.
    ///
    /// # Errors
    /// Fails if the file was changed in the meantime, or cannot be written; then it stays unchanged.
    pub(crate) fn replace(&self, text: &str, has_secret: bool) -> Result<Option<PathBuf>, Failure> {
        let cannot = |what: &Path| {
            let what = what.display().to_string();
            move |e: io::Error| Failure::new(format!("cannot write {what}: {e}")).help("nothing was changed")
        };
        let now = match read(&self.path) {
            Ok(text) => Some(text),
            Err(e) if e.kind() == io::ErrorKind::NotFound => None,
            Err(e) => return Err(cannot(&self.path)(e)),
        };
        if now != self.text {
            let message = format!("{} was changed in the meantime", self.shown.display());
            return Err(Failure::new(message).help("nothing was changed; run the command again"));
        }
        let fresh = beside(&self.path, ".", ".new");
        let written = self.write(&fresh, text, has_secret);
        let backup = written.and_then(|()| self.back_up()).map_err(cannot(&self.path));
        let replaced = backup.and_then(|backup| {
            fs::rename(&fresh, &self.path).map_err(cannot(&self.path))?;
            Ok(backup)
        });
        if replaced.is_err() {
            // The unfinished file is of no use; if it cannot be removed either, the next edit replaces it.
            let _ = fs::remove_file(&fresh);
        }
        let _ = File::open(folder_of(&self.path)).and_then(|folder| folder.sync_all());
        replaced
    }

    /// Writes a text to a new file with the owner and the permissions of the existing file.
    fn write(&self, fresh: &Path, text: &str, has_secret: bool) -> io::Result<()> {
        // Because of the lock, a file of this name can only be left over from a command that was killed.
        match fs::remove_file(fresh) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            _ => {}
        }
        fs::create_dir_all(folder_of(fresh))?;
        let present = fs::metadata(&self.path).ok();
        let mode = if present.is_some() || has_secret { 0o600 } else { 0o666 };
        let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(fresh)?;
        if let Some(present) = present {
            // Only root can give a file to another owner; everybody else is the owner, or gets a file of their own.
            let _ = fchown(&file, Some(present.uid()), Some(present.gid()));
            file.set_permissions(Permissions::from_mode(present.permissions().mode()))?;
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()
    }

    fn back_up(&self) -> io::Result<Option<PathBuf>> {
        if self.text.is_none() {
            return Ok(None);
        }
        let backup = beside(&self.path, "", ".bak");
        fs::copy(&self.path, &backup)?;
        Ok(Some(beside(&self.shown, "", ".bak")))
    }
}

fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(MAX_FILE_BYTES as u64 + 1).read_to_string(&mut text)?;
    Ok(text)
}

pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn beside(path: &Path, before: &str, after: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{before}{name}{after}"))
}
