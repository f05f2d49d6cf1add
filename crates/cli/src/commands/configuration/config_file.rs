//! The configuration file as a text to be edited: found and checked. This module must not know what is edited.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use config::{Fault, Faults, Loaded, Lookup, load_knowing};
use upstream::embedded::offered;

use super::settings;
use super::text_file::{TextFile, folder_of};
use crate::output::failure::Failure;

/// The file that is created if there is none.
const NEW_FILE: &str = "dragoman.yaml";

/// The placeholder for an unset variable while a file is checked; it is valid for most settings.
const STAND_IN: &str = "1";

/// The placeholder for an unset variable if [`STAND_IN`] is invalid because the setting is an address.
const ADDRESS: &str = "http://127.0.0.1:1";

/// A configuration file, locked so that no other command edits it while this value exists.
pub(crate) struct ConfigFile(TextFile);

impl Deref for ConfigFile {
    type Target = TextFile;

    fn deref(&self) -> &TextFile {
        &self.0
    }
}

/// A text that was checked.
pub(crate) struct CheckedConfig {
    /// The configuration that the text describes; `None` if this depends on variables that are not set here.
    pub(crate) loaded: Option<Loaded>,
    /// The variables that the text uses without a default and that are not set here.
    pub(crate) unset: Vec<String>,
}

/// The outcome of loading a text while some variables and files are unavailable.
struct BlindLoad {
    loaded: Result<Loaded, Faults>,
    /// The variables without a value.
    unset: BTreeSet<String>,
    /// The files that cannot be read here.
    unread: BTreeSet<String>,
}

impl BlindLoad {
    /// Returns true if a fault is about a value that is unavailable here.
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
    pub(crate) fn open(explicit: Option<&Path>) -> Result<Self, Failure> {
        let found = explicit.map(Path::to_path_buf).or_else(settings::found);
        let shown = found.unwrap_or_else(|| PathBuf::from(NEW_FILE));
        Ok(Self(TextFile::open(shown)?))
    }

    /// Checks a text as the content of this file. The file is often edited where the gateway does not run, so a variable
    /// that is not set here is not a fault, and a value that contains it is not checked.
    ///
    /// # Errors
    /// Fails if the text is not a valid configuration.
    pub(crate) fn check(&self, text: &str) -> Result<CheckedConfig, Failure> {
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
            Ok(loaded) => Ok(CheckedConfig { loaded: Some(loaded), unset }),
            Err(_) if is_accepted => Ok(CheckedConfig { loaded: None, unset }),
            Err(faults) => Err(Failure::Config(Box::new(faults))),
        }
    }

    /// Loads a text. Unset variables get a placeholder: an address for those in `addresses`.
    fn attempt(&self, text: &str, addresses: &BTreeSet<String>) -> BlindLoad {
        let (unset, unread) = (RefCell::new(BTreeSet::new()), RefCell::new(BTreeSet::new()));
        let env = |name: &str| {
            let set = std::env::var(name).ok();
            // A variable's default applies if every use of the variable has one.
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
}

/// Returns true if a text contains a variable without a default.
fn uses(text: &str, name: &str) -> bool {
    text.contains(&format!("${{{name}}}")) || text.contains(&format!("${{env:{name}}}"))
}
