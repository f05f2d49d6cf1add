//! The state folder, and messages for its errors.

use std::path::{Path, PathBuf};

use config::{Audit, Config, Text};
use store::keyring::RingFile;

use super::settings::{ConfigSource, Settings};
use crate::output::console::Console;
use crate::output::failure::Failure;
use crate::output::options::Global;
use crate::preset::{self, Preset};

/// The options for finding the state folder, for commands that need nothing else from the configuration.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct StateOptions {
    /// The folder with the keys and the record of calls, instead of the configured one
    #[arg(long, value_name = "FOLDER")]
    state: Option<PathBuf>,
    /// The preset that the configuration file extends, as with dragoman serve --preset
    #[arg(long, value_name = "NAME", value_parser = preset::parse, conflicts_with = "state")]
    preset: Option<Preset>,
}

/// The state folder, and the configuration that names it, if one was read.
pub(crate) struct StateFolder {
    /// The folder; it need not exist.
    pub(crate) folder: PathBuf,
    /// The file of the key ring; it need not exist.
    pub(crate) key_ring: PathBuf,
    /// The configuration.
    pub(crate) config: Option<Config>,
}

impl StateOptions {
    /// Returns true if one of the options was given.
    pub(crate) fn is_given(&self) -> bool {
        self.state.is_some() || self.preset.is_some()
    }

    /// Finds the folder that a command uses.
    ///
    /// # Errors
    /// Fails if the configuration is invalid, or no folder is known.
    pub(crate) fn find(&self, global: &Global, console: &Console) -> Result<StateFolder, Failure> {
        if let Some(folder) = &self.state {
            let key_ring = RingFile::path_in(folder);
            return Ok(StateFolder { folder: folder.clone(), key_ring, config: None });
        }
        let settings = ConfigSource::of(self.preset, global.config.as_deref()).load()?;
        settings.note(console);
        let folder = folder(&settings)?;
        let key_ring = key_ring(&settings).unwrap_or_else(|| RingFile::path_in(&folder));
        Ok(StateFolder { folder, key_ring, config: Some(settings.config) })
    }
}

/// Returns the state folder: `stateFolder` in the configuration (a relative path starts at the configuration's
/// folder), or else `dragoman` in the user's data folder. The folder need not exist.
///
/// # Errors
/// Fails if the user's folders are unknown.
pub(crate) fn folder(settings: &Settings) -> Result<PathBuf, Failure> {
    if let Some(named) = &settings.config.state_folder {
        return Ok(beside(settings, named));
    }
    user_folder()
}

/// Returns `dragoman` in the user's data folder. The folder need not exist.
///
/// # Errors
/// Fails if the user's folders are unknown.
pub(crate) fn user_folder() -> Result<PathBuf, Failure> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = absolute("XDG_DATA_HOME").or_else(|| Some(absolute("HOME")?.join(".local/share")));
    data.map(|data| data.join("dragoman")).ok_or_else(|| {
        Failure::usage("there is no home folder for keys and records")
            .help("set HOME or XDG_DATA_HOME, or set stateFolder in the configuration")
    })
}

/// Returns the file of the key ring that the configuration names.
pub(crate) fn key_ring(settings: &Settings) -> Option<PathBuf> {
    let of_cluster = settings.config.cluster.as_ref().map(|cluster| &cluster.key_ring);
    of_cluster.or(settings.config.key_ring.as_ref()).map(|named| beside(settings, named))
}

/// Returns the path that a setting names; a relative path starts at the configuration's folder.
fn beside(settings: &Settings, named: &Text) -> PathBuf {
    let folder = settings.file.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
    folder.join(named.expose())
}

/// Returns the file of the record of calls in a state folder.
pub(crate) fn audit_file(folder: &Path, config: Option<&Config>) -> PathBuf {
    let named = config.and_then(|config| config.audit.as_ref()).map(|audit| audit.file.expose());
    folder.join(named.unwrap_or(Audit::FILE))
}

/// Returns the failure for an error of the store.
pub(crate) fn failed(error: &store::Error) -> Failure {
    use store::Error;
    let where_it_is_named = match error {
        Error::Folder { .. } | Error::Unwritable { .. } | Error::Foreign { .. } => {
            " (stateFolder in the configuration)"
        }
        _ => "",
    };
    let failure = match error {
        Error::Name { .. } | Error::Profile(_) => Failure::usage(error.to_string()),
        _ => Failure::new(error.to_string()),
    };
    failure.help(format!("{}{where_it_is_named}", error.help()))
}
