//! The settings files of clients on this machine. This module must not know what is in them.

use std::path::{Path, PathBuf};

use clients::client_app::{CLIENTS, ClientApp, SettingsFile, System};

use crate::output::failure::Failure;

/// The location of a client's settings.
#[derive(Debug, Clone)]
pub(crate) struct ClientFile {
    pub(crate) client: &'static ClientApp,
    pub(crate) path: PathBuf,
    /// The project's folder, if the file belongs to a project.
    pub(crate) project: Option<PathBuf>,
}

/// Returns the client with this name.
///
/// # Errors
/// Fails if no client has this name; the message lists the known names.
pub(crate) fn client(name: &str) -> Result<&'static ClientApp, Failure> {
    ClientApp::named(name).ok_or_else(|| {
        let names: Vec<&str> = CLIENTS.iter().map(|client| client.name).collect();
        let failure = Failure::usage(format!("{name:?} is not a client that Dragoman knows"));
        match config::nearest::nearest(name, names.iter().copied()) {
            Some(near) => failure.help(format!("did you mean {near}?")),
            None => failure.help(format!("the clients are {}", names.join(", "))),
        }
    })
}

/// Returns the possible locations of a client's settings on this system: the user's own, or those of the project in
/// the current folder.
pub(crate) fn of_client(client: &'static ClientApp, of_project: bool) -> Vec<ClientFile> {
    let here = std::env::current_dir().unwrap_or_default();
    let own = if cfg!(target_os = "macos") { System::MacOs } else { System::Linux };
    let fits = |file: &&SettingsFile| {
        file.is_project == of_project && file.system.is_none_or(|system| system == own)
    };
    let place = |file: &SettingsFile| {
        let path = if of_project { Some(here.join(file.path)) } else { expanded(file.path) }?;
        Some(ClientFile { client, path, project: of_project.then(|| here.clone()) })
    };
    client.files.iter().filter(fits).filter_map(place).collect()
}

/// Returns the existing settings files of a client: those of the user, and those of the project in the current
/// folder.
pub(crate) fn existing(client: &'static ClientApp) -> Vec<ClientFile> {
    let mut all = of_client(client, false);
    // In the home folder, a project's file may be the user's.
    let of_project =
        of_client(client, true).into_iter().filter(|file| all.iter().all(|other| other.path != file.path));
    all.extend(of_project.collect::<Vec<_>>());
    all.retain(|file| file.path.is_file());
    all
}

/// Returns a file that the user named; the end of its path identifies the client.
///
/// # Errors
/// Fails if no client has such a file.
pub(crate) fn named(path: &Path) -> Result<ClientFile, Failure> {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let text = whole.to_string_lossy();
    let known = ClientApp::of_path(&text).or_else(|| ClientApp::named("claude-desktop"));
    let client = known.ok_or_else(|| {
        Failure::usage(format!("{} is not the settings file of a known client", path.display()))
    })?;
    let is_project =
        client.files.iter().any(|file| file.is_project && text.ends_with(&format!("/{}", file.path)));
    let depth =
        client.files.iter().find(|file| file.is_project).map_or(1, |file| file.path.split('/').count());
    let project = is_project.then(|| whole.ancestors().nth(depth).unwrap_or(&whole).to_owned());
    Ok(ClientFile { client, path: path.to_owned(), project })
}

/// Returns a path with `~` and `{config}` replaced; `None` if the user has no home folder.
fn expanded(path: &str) -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = absolute("HOME");
    if let Some(rest) = path.strip_prefix("{config}/") {
        return Some(absolute("XDG_CONFIG_HOME").or_else(|| Some(home?.join(".config")))?.join(rest));
    }
    Some(home?.join(path.strip_prefix("~/")?))
}
