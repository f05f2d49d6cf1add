//! The check of both npm packages in an empty folder, without running any package's scripts and without a registry.

use super::inspected::endpoint;
use super::traces::Traces;
use crate::package::workshop::Workshop;
use crate::run::Service;
use crate::tally::Tally;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The options of every npm command: no registry, no scripts.
const QUIET: [&str; 6] =
    ["--global", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];

pub(in crate::package) fn checked(workshop: &Workshop<'_>, files: &[PathBuf]) -> Result<Tally, String> {
    let home = Workshop::empty("npm")?;
    let before = Traces::of(&home, super::inspected::OF_USERS)?;
    let npm = |action: &str| {
        let mut command = Command::new("npm");
        command.arg(action).args(QUIET).arg("--prefix").arg(home.join("prefix")).env("HOME", &home);
        command.env("npm_config_cache", home.join(".npm")).current_dir(&home);
        command
    };
    // The launcher runs with the Node of the tests, which replaces itself by the program, and with an older one, which stays.
    let mut tally = Tally::default();
    workshop.log.run(npm("install").args(files))?;
    let launcher = home.join("prefix/bin/dragoman");
    for node in [workshop.node.program(), Path::new("node")] {
        tally += workshop.serves(launched(node, &launcher, &home))?;
        tally += exit_codes(workshop, launched(node, &launcher, &home))?;
        tally += signals(workshop, launched(node, &launcher, &home))?;
    }
    workshop.log.run(npm("uninstall").args(["dragoman-mcp", "dragoman-mcp-linux-x64"]))?;
    tally += workshop.is_removed(&before)?;
    // Without the package of the platform, the launcher must report what is missing.
    let main = files.last().ok_or("no package with a launcher")?;
    workshop.log.run(npm("install").arg("--omit=optional").arg(main))?;
    let (good, said) = workshop.log.status(&mut launched(Path::new("node"), &launcher, &home))?;
    tally += workshop
        .judged(!good && said.contains("--include=optional"), "a missing platform is told with its fix");
    Ok(tally)
}

fn launched(node: &Path, launcher: &Path, home: &Path) -> Command {
    let mut command = Command::new(node);
    command.arg(launcher).env("HOME", home).current_dir(home);
    command
}

/// Checks that the launcher exits with the exit code of the program.
fn exit_codes(workshop: &Workshop<'_>, mut command: Command) -> Result<Tally, String> {
    let status =
        command.args(["list", "nosuch"]).output().map_err(|error| format!("the launcher: {error}"))?.status;
    Ok(workshop.judged(status.code() == Some(2), &format!("the exit code is passed on: {status}")))
}

/// Checks that a launcher passes SIGTERM on to its program, which then ends without an error.
fn signals(workshop: &Workshop<'_>, mut command: Command) -> Result<Tally, String> {
    command.args(["serve", "--listen", "127.0.0.1:0"]);
    let (service, url) = Service::start(&mut command, workshop.log, endpoint)?;
    let status = service.ended()?;
    let ended = status.code() == Some(0) && status.signal().is_none();
    let address = url.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
    let closed = std::net::TcpStream::connect(&address).is_err();
    Ok(workshop.judged(ended && closed, &format!("SIGTERM reaches the program: {status}")))
}
