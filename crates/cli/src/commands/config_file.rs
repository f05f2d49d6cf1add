//! The configuration file as a text to be edited: read under a lock, checked, and replaced as a whole, with a backup of the
//! previous text. This module must not know what is edited.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, fchown};
use std::path::{Path, PathBuf};

use config::{Fault, Faults, Loaded, Lookup, MAX_FILE_BYTES, load_knowing};
use upstream::embedded::offered;

use super::settings;
use crate::output::failure::Failure;

/// The file that is created if there is none.
const NEW_FILE: &str = "dragoman.yaml";

/// The value of a variable that is not set while a file is checked: it suits most settings.
const STAND_IN: &str = "1";

/// The value of such a variable if the other one does not suit: it suits addresses.
const ADDRESS: &str = "http://127.0.0.1:1";

/// The text of a configuration file, which nobody else edits as long as this value exists.
pub(super) struct ConfigFile {
    /// The file as the user knows it.
    pub(super) shown: PathBuf,
    /// The file itself, without symbolic links.
    path: PathBuf,
    /// The text; `None` if there is no file yet.
    pub(super) text: Option<String>,
    /// The lock on the file's folder, which ends with this value.
    _lock: File,
}

/// A text that was checked.
pub(super) struct Checked {
    /// The configuration that the text means; `None` if this depends on variables that are not set here.
    pub(super) loaded: Option<Loaded>,
    /// The variables that the text uses without a default and that are not set here.
    pub(super) unset: Vec<String>,
}

/// The outcome of loading a text without knowing all variables and files.
struct BlindLoad {
    loaded: Result<Loaded, Faults>,
    /// The variables without a value.
    unset: BTreeSet<String>,
    /// The files that cannot be read here.
    unread: BTreeSet<String>,
}

impl BlindLoad {
    /// Returns true if a fault is about a value that is not known here.
    fn is_unknown(&self, fault: &Fault) -> bool {
        self.unset.iter().any(|name| uses(&fault.offending, name))
            || self.unread.iter().any(|path| fault.offending.contains(&format!("${{file:{path}}}")))
    }
}

impl ConfigFile {
    /// Opens the file that commands use, or the one that will be created.
    ///
    /// # Errors
    /// Fails if the file cannot be read, or is being edited.
    pub(super) fn open(explicit: Option<&Path>) -> Result<Self, Failure> {
        let found = explicit.map(Path::to_path_buf).or_else(settings::found);
        let shown = found.unwrap_or_else(|| PathBuf::from(NEW_FILE));
        let cannot = |why: &io::Error| Failure::usage(format!("cannot read {}: {why}", shown.display()));
        let path = match fs::canonicalize(&shown) {
            Ok(path) => path,
            Err(e) if e.kind() == io::ErrorKind::NotFound => shown.clone(),
            Err(e) => return Err(cannot(&e)),
        };
        let lock = File::open(folder_of(&path)).map_err(|e| cannot(&e))?;
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

    /// Checks a text as the content of this file. The file is often edited where the gateway does not run, so a variable that
    /// is not set here is no fault, and a value that contains it is not checked.
    ///
    /// # Errors
    /// Fails if the text is no valid configuration.
    pub(super) fn check(&self, text: &str) -> Result<Checked, Failure> {
        let mut attempt = self.attempt(text, &BTreeSet::new());
        if let Err(faults) = &attempt.loaded {
            let is_faulty = |name: &&String| faults.faults.iter().any(|one| uses(&one.offending, name));
            let addresses = attempt.unset.iter().filter(is_faulty).cloned().collect();
            attempt = self.attempt(text, &addresses);
        }
        let is_unknown = |faults: &Faults| {
            faults.total == faults.faults.len() && faults.faults.iter().all(|fault| attempt.is_unknown(fault))
        };
        let is_accepted = attempt.loaded.as_ref().err().is_none_or(is_unknown);
        let unset = attempt.unset.into_iter().collect();
        match attempt.loaded {
            Ok(loaded) => Ok(Checked { loaded: Some(loaded), unset }),
            Err(_) if is_accepted => Ok(Checked { loaded: None, unset }),
            Err(faults) => Err(Failure::Config(Box::new(faults))),
        }
    }

    /// Loads a text. Variables that are not set get another value; those in `addresses` get an address.
    fn attempt(&self, text: &str, addresses: &BTreeSet<String>) -> BlindLoad {
        let (unset, unread) = (RefCell::new(BTreeSet::new()), RefCell::new(BTreeSet::new()));
        let env = |name: &str| {
            let set = std::env::var(name).ok();
            // The default of a variable applies if there is one everywhere.
            set.or_else(|| {
                uses(text, name).then(|| {
                    unset.borrow_mut().insert(name.to_owned());
                    if addresses.contains(name) { ADDRESS.to_owned() } else { STAND_IN.to_owned() }
                })
            })
        };
        let folder = folder_of(&self.path);
        let file = |path: &str| {
            Ok(settings::filled(folder, path).unwrap_or_else(|_| {
                unread.borrow_mut().insert(path.to_owned());
                STAND_IN.to_owned()
            }))
        };
        let lookup = Lookup { env: &env, file: &file };
        let loaded = load_knowing(None, text, &self.shown.display().to_string(), &lookup, &offered);
        BlindLoad { loaded, unset: unset.into_inner(), unread: unread.into_inner() }
    }

    /// Replaces the file; readers see either the old text or the new one. Returns the file with the old text, if there was
    /// one. A new file with a secret can be read only by its owner.
    ///
    /// # Errors
    /// Fails if the file was changed in the meantime, or cannot be written; then it stays unchanged.
    pub(super) fn replace(&self, text: &str, has_secret: bool) -> Result<Option<PathBuf>, Failure> {
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

    /// Writes a text to a new file with the owner and the permissions of the present one.
    fn write(&self, fresh: &Path, text: &str, has_secret: bool) -> io::Result<()> {
        // The lock makes sure that a file of this name is left over from a command that was killed.
        match fs::remove_file(fresh) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            _ => {}
        }
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

/// Returns true if a text contains a variable without a default.
fn uses(text: &str, name: &str) -> bool {
    text.contains(&format!("${{{name}}}")) || text.contains(&format!("${{env:{name}}}"))
}

fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(MAX_FILE_BYTES as u64 + 1).read_to_string(&mut text)?;
    Ok(text)
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn beside(path: &Path, before: &str, after: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{before}{name}{after}"))
}
