//! The programs that build packages: from crates.io, `PyPI` and Debian.

use super::{apt, cargo, python};
use crate::run::Log;
use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

const AUDITABLE: (&str, &str) = ("cargo-auditable", "0.7.7");
const CYCLONEDX: (&str, &str) = ("cargo-cyclonedx", "0.5.9");
const DEB: (&str, &str) = ("cargo-deb", "3.8.0");

/// The list of Python packages, with a C compiler that builds for old systems.
const PYTHON: &str = "packaging/tools.txt";

const FOR_DEBIAN: &[apt::Package] =
    &[("debootstrap", &["debootstrap", "--version"]), ("lintian", &["lintian", "--version"])];

/// The package with `systemd-socket-activate`.
const FOR_UNITS: &[apt::Package] = &[("systemd", &["systemd-analyze", "--version"])];

const FOR_CONTAINERS: &[apt::Package] = &[
    ("buildah", &["buildah", "--version"]),
    ("podman", &["podman", "--version"]),
    ("runc", &["runc", "--version"]),
];

/// The folders of the installed programs.
#[derive(Debug)]
pub(crate) struct Packagers {
    cargo: Vec<PathBuf>,
    python: PathBuf,
}

impl Packagers {
    /// Installs what is missing.
    pub(crate) fn install(log: &Log) -> Result<Self, String> {
        apt::install(FOR_DEBIAN, log)?;
        let python = python::environment(PYTHON, "py-packaging", log)?;
        let cargo = [AUDITABLE, CYCLONEDX, DEB].map(|(name, version)| cargo::installed(name, version, log));
        let cargo = cargo.into_iter().collect::<Result<_, _>>()?;
        Ok(Self { cargo, python: python.with_file_name("") })
    }

    /// Returns an empty set, for packages that are built without these programs.
    pub(crate) const fn none() -> Self {
        Self { cargo: Vec::new(), python: PathBuf::new() }
    }

    /// A command that finds these programs.
    pub(crate) fn command(&self, program: &str) -> Result<Command, String> {
        let usual = env::var_os("PATH").unwrap_or_default();
        let own = self.cargo.iter().cloned().chain([self.python.clone()]);
        let path: OsString =
            env::join_paths(own.chain(env::split_paths(&usual))).map_err(|error| format!("PATH: {error}"))?;
        let mut command = Command::new(program);
        command.env("PATH", path);
        Ok(command)
    }

    /// The program by which a compiler adds the list of its parts to a program.
    pub(crate) fn auditable(&self) -> Result<PathBuf, String> {
        let found = self.cargo.iter().map(|folder| folder.join(AUDITABLE.0)).find(|path| path.is_file());
        found.ok_or_else(|| format!("{} is not installed", AUDITABLE.0))
    }

    /// The programs `uv` and `uvx`, for an image.
    pub(crate) fn uv(&self) -> [PathBuf; 2] {
        ["uv", "uvx"].map(|name| self.python.join(name))
    }
}

/// Installs the program that starts services as systemd does.
pub(crate) fn for_units(log: &Log) -> Result<(), String> {
    apt::install(FOR_UNITS, log)
}

/// Installs the programs that build and run images.
pub(crate) fn for_containers(log: &Log) -> Result<(), String> {
    apt::install(FOR_CONTAINERS, log)
}
