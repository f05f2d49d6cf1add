//! Python environments, one for each list of pinned packages.

use super::stamp;
use crate::root;
use crate::run::Log;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// The environments; `tests/peers/python/NAME.txt` lists the packages of each: SDKs, and suites that test
/// servers.
pub(super) const ENVIRONMENTS: [&str; 5] = ["sdk-v0", "sdk-v1", "sdk-v2", "fastmcp", "suites"];

/// Installs one of these environments if needed; returns its interpreter.
pub(super) fn python(name: &str, log: &Log) -> Result<PathBuf, String> {
    environment(&format!("tests/peers/python/{name}.txt"), &format!("py-{name}"), log)
}

/// Installs the packages of a list into an environment of their own if needed; returns its interpreter.
pub(crate) fn environment(list: &str, name: &str, log: &Log) -> Result<PathBuf, String> {
    let list = root::checkout().join(list);
    let pins = fs::read_to_string(&list).map_err(|error| format!("{}: {error}", list.display()))?;
    let folder = root::tools().join(name);
    stamp::once(&folder, &pins, || {
        log.run(Command::new("python3").args(["-m", "venv", "--clear", "venv"]).current_dir(&folder))?;
        let quiet =
            ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--requirement"];
        log.run(Command::new(folder.join("venv/bin/python")).args(quiet).arg(&list)).map(drop)
    })?;
    Ok(folder.join("venv/bin/python"))
}
