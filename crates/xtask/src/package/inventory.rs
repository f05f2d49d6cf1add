//! The inventory of everything in the program (a software bill of materials), in the format of `CycloneDX`.

use super::release::version;
use super::workshop::Workshop;
use crate::files::failed;
use crate::root;
use std::fs;
use std::path::PathBuf;

/// Writes the inventory of the crate `dragoman` and all its dependencies.
pub(super) fn build(workshop: &Workshop<'_>) -> Result<Vec<PathBuf>, String> {
    let name = format!("dragoman-{}.cdx", version());
    let manifest = root::checkout().join("crates/server/Cargo.toml");
    let mut command = workshop.packagers.command("cargo")?;
    command.args([
        "cyclonedx",
        "--quiet",
        "--format",
        "json",
        "--describe",
        "crate",
        "--no-build-deps",
        "--target",
    ]);
    command.args([super::release::TARGET, "--override-filename", &name, "--manifest-path"]).arg(&manifest);
    workshop.log.run(command.current_dir(root::checkout()))?;
    // It writes beside every manifest that it reads.
    let written = manifest.with_file_name(format!("{name}.json"));
    let file = workshop.release.file(&format!("{name}.json"));
    fs::copy(&written, &file).map_err(|error| failed(&written, &error))?;
    Ok(vec![file])
}
