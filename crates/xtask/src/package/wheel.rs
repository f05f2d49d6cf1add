//! The wheel for `PyPI`, which contains the program; pip installs it next to the other programs of an environment.

use super::release::{PORTABLE, TARGET, folder_of, version, without_paths};
use super::workshop::Workshop;
use crate::files::failed;
use crate::root;
use std::fs;
use std::path::PathBuf;

/// Builds the wheel. maturin builds the program again in a separate folder, because its flags differ from cargo's.
pub(super) fn build(workshop: &Workshop<'_>) -> Result<Vec<PathBuf>, String> {
    let release = workshop.release;
    let mut maturin = workshop.packagers.command("maturin")?;
    maturin.args([
        "build",
        "--release",
        "--zig",
        "--auditwheel",
        "skip",
        "--compatibility",
        "manylinux2014",
        "--target",
        TARGET,
    ]);
    maturin.arg("--target-dir").arg(folder_of("wheel")).arg("--out").arg(&release.folder);
    maturin
        .env(PORTABLE, "1")
        .env("RUSTFLAGS", without_paths())
        .current_dir(root::checkout().join("packaging/python"));
    // As `cargo auditable` does it: the program contains the list of its parts.
    maturin.env("RUSTC_WORKSPACE_WRAPPER", workshop.packagers.auditable()?);
    maturin.env("CARGO_AUDITABLE_ORIG_ARGS", r#"{"offline":false,"locked":true,"frozen":false,"config":[]}"#);
    workshop.log.run(&mut maturin)?;
    let beginning = format!("dragoman_mcp-{}-py3-none-", version());
    let names = fs::read_dir(&release.folder).map_err(|error| failed(&release.folder, &error))?;
    let mut wheels = names.flatten().map(|entry| entry.path());
    let is_ours = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.starts_with(&beginning) && name.ends_with("_x86_64.whl")
    };
    Ok(vec![wheels.find(is_ours).ok_or("maturin wrote no wheel")?])
}
