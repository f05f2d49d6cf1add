//! A release: its version, the programs, and the folder of the packages.

use super::contents;
use crate::files::failed;
use crate::root::{self, Programs};
use crate::run::Log;
use crate::tools::Packagers;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The platform, as cargo names it.
pub(super) const TARGET: &str = "x86_64-unknown-linux-gnu";

/// The oldest glibc with which the portable program works: the version in the systems of `manylinux2014`.
const OLDEST_GLIBC: &str = "2.17";

/// The environment variable by which the build is informed that the program is for machines with an older C
/// library.
pub(super) const PORTABLE: &str = "DRAGOMAN_PORTABLE";

/// A release.
#[derive(Debug)]
pub(super) struct Release {
    /// The folder of the packages.
    pub(super) folder: PathBuf,
    /// The program for all Linux systems on x86-64 whose glibc is recent enough.
    pub(super) program: PathBuf,
    /// The statically linked program, for images.
    pub(super) static_program: Option<PathBuf>,
    /// The folder of the files that go into several packages.
    pub(super) contents: PathBuf,
}

impl Release {
    /// Builds both programs and the shared files.
    pub(super) fn build(packagers: &Packagers, log: &Log) -> Result<Self, String> {
        let portable = built(packagers, "portable", &["auditable", "zigbuild"], "", log)?;
        let alone =
            built(packagers, "static", &["auditable", "build"], " -C target-feature=+crt-static", log)?;
        let contents = contents::beside(&portable, log)?;
        let folder = emptied(root::target().join("package").join(version()))?;
        Ok(Self { folder, program: portable, static_program: Some(alone), contents })
    }

    /// A release that contains the program of the tests.
    pub(super) fn of_tests(programs: &Programs, log: &Log) -> Result<Self, String> {
        let program = programs.dragoman();
        let contents = contents::beside(&program, log)?;
        let folder = emptied(root::target().join("package").join("of-tests"))?;
        Ok(Self { folder, program, static_program: None, contents })
    }

    /// A path in the folder of the packages.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// An empty folder for the parts of a package.
    pub(super) fn parts(&self, name: &str) -> Result<PathBuf, String> {
        emptied(self.folder.with_file_name("parts").join(name))
    }

    /// Writes the checksums of all packages, in the format that `sha256sum --check` reads.
    pub(super) fn write_checksums(&self) -> Result<PathBuf, String> {
        let file = self.file("SHA256SUMS");
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(|error| failed(&self.folder, &error))? {
            names.push(entry.map_err(|error| failed(&self.folder, &error))?.file_name());
        }
        names.sort();
        names.retain(|name| *name != "SHA256SUMS");
        let mut command = Command::new("sha256sum");
        let output = command.args(&names).current_dir(&self.folder).output();
        let output = output.map_err(|error| format!("`sha256sum` did not start: {error}"))?;
        fs::write(&file, output.stdout).map_err(|error| failed(&file, &error))?;
        Ok(file)
    }
}

/// The version of all packages.
pub(super) const fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Builds the program into a separate target folder. In a shared folder, everything would be built again each time,
/// because the flags differ.
fn built(
    packagers: &Packagers,
    name: &str,
    command: &[&str],
    flags: &str,
    log: &Log,
) -> Result<PathBuf, String> {
    let folder = folder_of(name);
    let target = if name == "portable" { format!("{TARGET}.{OLDEST_GLIBC}") } else { TARGET.to_owned() };
    let mut cargo = packagers.command("cargo")?;
    cargo.args(command).args([
        "--quiet",
        "--locked",
        "--release",
        "--package",
        "dragoman",
        "--target",
        &target,
    ]);
    cargo.arg("--target-dir").arg(&folder).env("RUSTFLAGS", format!("{}{flags}", without_paths()));
    if name == "portable" {
        cargo.env(PORTABLE, "1");
    }
    log.run(cargo.current_dir(root::checkout()))?;
    Ok(folder.join(TARGET).join("release/dragoman"))
}

/// The target folder for builds with this name.
pub(super) fn folder_of(name: &str) -> PathBuf {
    root::target().join("package").join(name)
}

/// The flags that keep this machine's paths out of the program.
pub(super) fn without_paths() -> String {
    let home = std::env::var("CARGO_HOME")
        .map_or_else(|_| Path::new(&std::env::var("HOME").unwrap_or_default()).join(".cargo"), PathBuf::from);
    let checkout = root::checkout();
    let (home, checkout) = (home.display(), checkout.display());
    format!("--remap-path-prefix={home}=/cargo --remap-path-prefix={checkout}=/dragoman")
}

/// An empty folder.
pub(super) fn emptied(folder: PathBuf) -> Result<PathBuf, String> {
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| failed(&folder, &error))?;
    }
    fs::create_dir_all(&folder).map_err(|error| failed(&folder, &error))?;
    Ok(folder)
}
