//! Where kept state lies, and how its errors are told.

use std::path::{Path, PathBuf};

use engine::config::{Audit, Config};

use super::settings::{Settings, Source};
use crate::output::console::Console;
use crate::output::failure::Failure;
use crate::output::options::Global;
use crate::preset::{self, Preset};

/// The folder's option, for commands that need nothing else of the configuration.
#[derive(Debug, Default, clap::Args)]
pub(super) struct Place {
    /// Where keys and the record lie, instead of where the configuration says
    #[arg(long, value_name = "FOLDER")]
    state: Option<PathBuf>,
    /// The preset that is served, which the configuration file extends
    #[arg(long, value_name = "NAME", value_parser = preset::parse, conflicts_with = "state")]
    preset: Option<Preset>,
}

/// A folder of kept state, and the configuration that names it, if one was read.
pub(super) struct State {
    /// The folder; it need not be there.
    pub(super) folder: PathBuf,
    /// The configuration.
    pub(super) config: Option<Config>,
}

impl Place {
    /// The folder that a command uses.
    ///
    /// # Errors
    /// When the configuration is refused, or nobody says where the folder is.
    pub(super) fn find(&self, global: &Global, console: &Console) -> Result<State, Failure> {
        if let Some(folder) = &self.state {
            return Ok(State { folder: folder.clone(), config: None });
        }
        let settings = Source::of(self.preset, global.config.as_deref()).load()?;
        settings.note(console);
        Ok(State { folder: folder(&settings)?, config: Some(settings.config) })
    }
}

/// The folder of kept state: `stateFolder` of the configuration, where a relative path counts from the configuration's
/// folder, else `dragoman` in the user's folder for data. It need not be there.
///
/// # Errors
/// When nobody says where the user's folders are.
pub(crate) fn folder(settings: &Settings) -> Result<PathBuf, Failure> {
    if let Some(named) = &settings.config.state_folder {
        let beside = settings.file.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
        return Ok(beside.join(named.expose()));
    }
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = absolute("XDG_DATA_HOME").or_else(|| Some(absolute("HOME")?.join(".local/share")));
    data.map(|data| data.join("dragoman")).ok_or_else(|| {
        Failure::usage("there is no home folder, so nobody knows where keys and records are kept")
            .mend("set HOME or XDG_DATA_HOME, or name a folder with stateFolder in the configuration")
    })
}

/// The file of the record in a folder of kept state.
pub(crate) fn audit_file(folder: &Path, config: Option<&Config>) -> PathBuf {
    let named = config.and_then(|config| config.audit.as_ref()).map(|audit| audit.file.expose());
    folder.join(named.unwrap_or(Audit::FILE))
}

/// What is wrong with kept state, with what to do about it.
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
    failure.mend(format!("{}{where_it_is_named}", error.mend()))
}
