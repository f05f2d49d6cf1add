//! The Debian package. Its recipe is `[package.metadata.deb]` in the manifest of the crate `dragoman`.

use super::release::{TARGET, folder_of, version};
use super::workshop::Workshop;
use crate::root;
use std::path::PathBuf;

/// Builds the package of the portable program.
pub(super) fn build(workshop: &Workshop<'_>) -> Result<Vec<PathBuf>, String> {
    let file = workshop.release.file(&format!("dragoman_{}_amd64.deb", version()));
    let mut command = workshop.packagers.command("cargo")?;
    command.args([
        "deb",
        "--quiet",
        "--no-build",
        "--no-strip",
        "--locked",
        "--package",
        "dragoman",
        "--target",
        TARGET,
    ]);
    command.args(["--deb-version", version(), "--output"]).arg(&file);
    command.env("CARGO_TARGET_DIR", folder_of("portable")).current_dir(root::checkout());
    workshop.log.run(&mut command)?;
    Ok(vec![file])
}
