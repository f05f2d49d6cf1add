//! The inventory of everything in the program (a software bill of materials), in the format of `CycloneDX`.

use super::release::version;
use super::workshop::Workshop;
use crate::files::{failed, read};
use crate::root;
use std::fs;
use std::path::PathBuf;

/// Writes the inventory of the crate `dragoman` and all its dependencies.
pub(super) fn build(workshop: &Workshop<'_>) -> Result<Vec<PathBuf>, String> {
    let name = format!("dragoman-{}.cdx", version());
    let manifest = root::checkout().join("crates/server/Cargo.toml");
    let mut command = workshop.packagers.command("cargo")?;
    command.args(["cyclonedx", "--quiet", "--format", "json", "--no-build-deps", "--target"]);
    command.args([super::release::TARGET, "--override-filename", &name, "--manifest-path"]).arg(&manifest);
    workshop.log.run(command.current_dir(root::checkout()))?;
    let written = manifest.with_file_name(format!("{name}.json"));
    // References contain the path of this checkout, which means nothing on other machines.
    let checkout = root::checkout().display().to_string();
    let text = read(&written)?.replace(&checkout, "/dragoman");
    let file = workshop.release.file(&format!("{name}.json"));
    fs::write(&file, text).map_err(|error| failed(&file, &error))?;
    remove_others(&format!("{name}.json"))?;
    Ok(vec![file])
}

/// Removes the files that `cargo cyclonedx` writes next to every manifest that it reads.
fn remove_others(name: &str) -> Result<(), String> {
    let crates = root::checkout().join("crates");
    for entry in fs::read_dir(&crates).map_err(|error| failed(&crates, &error))? {
        let written = entry.map_err(|error| failed(&crates, &error))?.path().join(name);
        if written.is_file() {
            fs::remove_file(&written).map_err(|error| failed(&written, &error))?;
        }
    }
    Ok(())
}
