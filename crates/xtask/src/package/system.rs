//! A minimal Debian in a folder, made by debootstrap from the sources of this machine: a clean environment for a package, and the base of an
//! image.

use crate::files::failed;
use crate::root;
use crate::run::Log;
use crate::tools::stamp;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The packages beyond the minimum: certificate authorities.
const INCLUDED: &str = "--include=ca-certificates";

/// Creates the minimal Debian if needed; returns its folder, which callers copy before use.
pub(super) fn made(log: &Log) -> Result<PathBuf, String> {
    let (codename, site) = source()?;
    let folder = root::tools().join("debian");
    let system = folder.join("system");
    stamp::once(&folder, &codename, || {
        if system.exists() {
            fs::remove_dir_all(&system).map_err(|error| failed(&system, &error))?;
        }
        let mut command = Command::new("debootstrap");
        log.run(command.args(["--variant=minbase", INCLUDED, &codename]).arg(&system).arg(&site)).map(drop)
    })?;
    Ok(system)
}

/// Copies the minimal Debian to a folder.
pub(super) fn copied(to: &Path, log: &Log) -> Result<(), String> {
    let system = made(log)?;
    log.run(Command::new("cp").args(["--archive", "--no-target-directory"]).arg(system).arg(to)).map(drop)
}

/// The code name of this machine's Debian release, and the URL of its packages.
fn source() -> Result<(String, String), String> {
    let format = "$(CODENAME) $(COMPONENT) $(SITE)";
    let mut command = Command::new("apt-get");
    command.args(["indextargets", "--format", format, "Identifier: Packages"]);
    let output = command.output().map_err(|error| format!("`apt-get` did not start: {error}"))?;
    first_of_main(&String::from_utf8_lossy(&output.stdout)).ok_or_else(|| {
        "this machine has no sources of Debian packages; packages are built on Debian".to_owned()
    })
}

/// Finds, in a list of sources, the first source of a release itself, not of its updates; returns its code name and
/// URL.
fn first_of_main(list: &str) -> Option<(String, String)> {
    list.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let (codename, component, site) = (words.next()?, words.next()?, words.next()?);
        (component == "main" && !codename.contains('-')).then(|| (codename.to_owned(), site.to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::first_of_main;

    #[test]
    fn updates_are_no_release() {
        let list = "bookworm-updates main http://mirror.example/debian\nbookworm contrib http://a.example\nbookworm main http://mirror.example/debian\n";
        assert_eq!(
            first_of_main(list),
            Some(("bookworm".to_owned(), "http://mirror.example/debian".to_owned()))
        );
        assert_eq!(first_of_main(""), None);
    }
}
