//! Debian packages, for programs that cannot be installed into one of our folders.

use crate::run::Log;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// The name of a package, and a command that succeeds if the package is installed.
pub(super) type Package = (&'static str, &'static [&'static str]);

/// The packages for the peers.
pub(super) const FOR_PEERS: &[Package] = &[
    ("python3", &["python3", "--version"]),
    ("python3-venv", &["python3", "-c", "import ensurepip, venv"]),
    ("valgrind", &["valgrind", "--version"]),
];

/// A lock for steps that run at the same time: apt itself waits for other processes only during installation, not
/// while it updates its lists.
static TURN: Mutex<()> = Mutex::new(());

/// Installs the packages that are missing; calls apt only if there are any.
pub(super) fn install(packages: &[Package], log: &Log) -> Result<(), String> {
    let missing: Vec<&str> =
        packages.iter().filter(|(_, probe)| !answers(probe)).map(|(name, _)| *name).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let install = format!("apt-get install {}", missing.join(" "));
    if !answers(&["sh", "-c", "test \"$(id -u)\" = 0 && command -v apt-get"]) {
        return Err(format!("missing: {}. As root: {install}", missing.join(", ")));
    }
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    // Another process may be using apt.
    let patient = ["-q", "-o", "DPkg::Lock::Timeout=300"];
    log.run(Command::new("apt-get").args(patient).arg("update"))?;
    log.run(
        Command::new("apt-get")
            .args(patient)
            .args(["-y", "--no-install-recommends", "install"])
            .args(&missing)
            .env("DEBIAN_FRONTEND", "noninteractive"),
    )
    .map(drop)
}

/// Updates apt's lists if they do not contain this package: a fresh machine may have no lists at all.
pub(super) fn know(package: &str, log: &Log) -> Result<(), String> {
    if answers(&["apt-cache", "show", package]) {
        return Ok(());
    }
    log.run(Command::new("apt-get").args(["-q", "-o", "DPkg::Lock::Timeout=300", "update"])).map(drop)
}

/// Returns true if a command succeeds.
fn answers(probe: &[&str]) -> bool {
    let Some((program, args)) = probe.split_first() else { return false };
    let quiet = Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    quiet.is_ok_and(|status| status.success())
}
