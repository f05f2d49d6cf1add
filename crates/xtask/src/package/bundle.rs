//! The MCPB bundle, which desktop clients install.

use super::release::version;
use super::workshop::Workshop;
use crate::files::{failed, template};
use std::fs;
use std::path::{Path, PathBuf};

/// The program that packs and examines bundles.
const TOOL: &str = "@anthropic-ai/mcpb/dist/cli/cli.js";

/// Packs the bundle; the tool refuses a manifest that is not valid.
pub(super) fn build(workshop: &Workshop<'_>) -> Result<Vec<PathBuf>, String> {
    let release = workshop.release;
    let folder = release.parts("bundle")?;
    let server = folder.join("server");
    fs::create_dir_all(&server).map_err(|error| failed(&server, &error))?;
    let copy = |from: &Path, to: PathBuf| fs::copy(from, &to).map(drop).map_err(|error| failed(&to, &error));
    copy(&release.program, server.join("dragoman"))?;
    copy(&release.contents.join("LICENSES.txt"), folder.join("LICENSES.txt"))?;
    let manifest = folder.join("manifest.json");
    let text = template("packaging/mcpb/manifest.json")?.replace("\"0.0.0\"", &format!("\"{}\"", version()));
    fs::write(&manifest, text).map_err(|error| failed(&manifest, &error))?;
    let file = release.file(&format!("dragoman-{}-linux-x64.mcpb", version()));
    let node = workshop.node.with("package", workshop.log)?;
    let mut pack = std::process::Command::new(node.program());
    workshop.log.run(pack.arg(node.module(TOOL)).arg("pack").arg(&folder).arg(&file))?;
    Ok(vec![file])
}
