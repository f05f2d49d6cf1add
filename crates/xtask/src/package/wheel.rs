//! The wheel for `PyPI`: the program, which pip puts beside an environment's other programs.

use super::release::{PORTABLE, TARGET, folder_of, without_paths};
use super::workshop::Workshop;
use crate::root;
use std::path::PathBuf;

/// Builds the wheel. maturin builds the program itself; what cargo built before is used again.
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
    maturin.arg("--target-dir").arg(folder_of("portable")).arg("--out").arg(&release.folder);
    maturin
        .env(PORTABLE, "1")
        .env("RUSTFLAGS", without_paths())
        .current_dir(root::checkout().join("packaging/python"));
    workshop.log.run(&mut maturin)?;
    let name = format!(
        "dragoman_mcp-{}-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
        super::release::version()
    );
    Ok(vec![release.file(&name)])
}
