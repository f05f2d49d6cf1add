//! Programs from crates.io, each in a folder of its own.

use super::stamp;
use crate::root;
use crate::run::Log;
use std::path::PathBuf;
use std::process::Command;

/// Installs exactly this version of a program if needed; returns the program's folder. The program is built without
/// optimization, because such programs do little work themselves. The build uses only processor time that no other
/// program needs.
pub(super) fn installed(name: &str, version: &str, log: &Log) -> Result<PathBuf, String> {
    let folder = root::tools().join(name);
    stamp::once(&folder, version, || {
        let quiet = ["-n", "19", "cargo", "install", "--quiet", "--locked", "--debug", "--force", "--root"];
        log.run(Command::new("nice").args(quiet).arg(&folder).args(["--version", version, name])).map(drop)
    })?;
    Ok(folder.join("bin"))
}

/// mdBook, which makes a site of the documentation.
pub(crate) fn mdbook(log: &Log) -> Result<PathBuf, String> {
    Ok(installed("mdbook", "0.5.4", log)?.join("mdbook"))
}
