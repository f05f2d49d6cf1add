//! Node and the pinned npm packages of `tests/peers/npm` and `tests/auth/npm`.

use super::stamp;
use crate::root;
use crate::run::Log;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The oldest accepted version, which the conformance suite needs.
const OLDEST: u32 = 22;

/// A Node that is recent enough, with packages and the scripts that use them.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    program: PathBuf,
    /// The scripts' folder below `tests`.
    scripts: &'static str,
    folder: PathBuf,
}

impl Node {
    /// Installs what is missing: the peers, and a current Node from npm if the system's Node is too old.
    pub(crate) fn install(log: &Log) -> Result<Self, String> {
        let program = match system_version() {
            Some(major) if major >= OLDEST => PathBuf::from("node"),
            Some(_) => {
                let modules = npm_ci("peers/node", "node", log)?;
                let arch = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
                modules.join(format!("node-linux-{arch}/bin/node"))
            }
            None => {
                return Err(
                    "there is no node here; install Node with npm (Debian: apt-get install nodejs npm)"
                        .to_owned(),
                );
            }
        };
        let modules = npm_ci("peers/npm", "npm", log)?;
        Ok(Self { program, scripts: "peers", folder: modules })
    }

    /// The same program with the scripts in `tests/NAME` and the packages in `tests/NAME/npm`.
    pub(crate) fn with(&self, scripts: &'static str, log: &Log) -> Result<Self, String> {
        let folder = npm_ci(&format!("{scripts}/npm"), scripts, log)?;
        Ok(Self { program: self.program.clone(), scripts, folder })
    }

    /// The same program with the scripts in `tests/NAME`.
    pub(crate) fn scripts_of(&self, scripts: &'static str) -> Self {
        Self { scripts, ..self.clone() }
    }

    /// A command that runs a script.
    pub(crate) fn script(&self, name: &str) -> Result<Command, String> {
        let mut command = Command::new(&self.program);
        command.arg(self.staged(name)?);
        Ok(command)
    }

    /// Copies the scripts, together with the files that the scripts of all folders share, to the folder of the
    /// packages, where Node finds the packages; returns the path of one script.
    pub(crate) fn staged(&self, name: &str) -> Result<PathBuf, String> {
        let all = root::checkout().join("tests");
        let to = self.folder.with_file_name(self.scripts);
        fs::create_dir_all(&to).map_err(|error| format!("{}: {error}", to.display()))?;
        copied(&all, &self.folder.with_file_name(""))?;
        copied(&all.join(self.scripts), &to)?;
        Ok(to.join(name))
    }

    /// The node program.
    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// A file of an installed package.
    pub(crate) fn module(&self, path: &str) -> PathBuf {
        self.folder.join(path)
    }
}

/// Copies the files of a folder.
fn copied(from: &Path, to: &Path) -> Result<(), String> {
    let said = |error: std::io::Error| format!("{}: {error}", to.display());
    for entry in fs::read_dir(from).map_err(said)? {
        let path = entry.map_err(said)?.path();
        if let Some(file) = path.file_name().filter(|_| path.is_file()) {
            fs::copy(&path, to.join(file)).map_err(said)?;
        }
    }
    Ok(())
}

fn system_version() -> Option<u32> {
    let said = Command::new("node").arg("--version").output().ok()?.stdout;
    String::from_utf8_lossy(&said).trim().trim_start_matches('v').split('.').next()?.parse().ok()
}

/// Installs exactly the versions in `tests/PINS/package-lock.json` below `target/tools/NAME`; returns the folder
/// of the modules.
fn npm_ci(pins: &str, name: &str, log: &Log) -> Result<PathBuf, String> {
    let pins = root::checkout().join("tests").join(pins);
    let folder = root::tools().join(name);
    let read = |file: &str| {
        fs::read_to_string(pins.join(file)).map_err(|error| format!("{}: {error}", pins.join(file).display()))
    };
    let (package, lock) = (read("package.json")?, read("package-lock.json")?);
    stamp::once(&folder, &lock, || {
        let write = |file: &str, text: &str| {
            fs::write(folder.join(file), text).map_err(|error| format!("{file}: {error}"))
        };
        write("package.json", &package)?;
        write("package-lock.json", &lock)?;
        let quiet = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
        log.run(Command::new("npm").args(quiet).current_dir(&folder)).map(drop)
    })?;
    Ok(folder.join("node_modules"))
}
