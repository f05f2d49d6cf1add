//! The archive for all Linux systems: the program with its manual pages, completions, licences and service files.

use super::release::version;
use super::workshop::Workshop;
use crate::files::failed;
use crate::root;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Builds the archive. It contains one folder, which has the archive's name.
pub(super) fn build(workshop: &Workshop<'_>) -> Result<Vec<PathBuf>, String> {
    let release = workshop.release;
    let name = format!("dragoman-{}-linux-x64", version());
    let parts = release.parts("archive")?;
    let folder = parts.join(&name);
    let run = |command: &mut Command| workshop.log.run(command).map(drop);
    run(Command::new("cp").arg("--recursive").arg(&release.contents).arg(&folder))?;
    let program = folder.join("dragoman");
    fs::copy(&release.program, &program).map_err(|error| failed(&program, &error))?;
    run(Command::new("cp").arg("--recursive").arg(root::checkout().join("deploy/systemd")).arg(&folder))?;
    let file = release.file(&format!("{name}.tar.gz"));
    // The same content gives the same bytes.
    let same = [
        "--sort=name",
        "--owner=0",
        "--group=0",
        "--numeric-owner",
        "--mtime=@0",
        "--gzip",
        "--create",
        "--file",
    ];
    run(Command::new("tar").args(same).arg(&file).arg("--directory").arg(&parts).arg(&name))?;
    Ok(vec![file])
}
