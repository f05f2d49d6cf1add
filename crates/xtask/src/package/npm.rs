//! The two npm packages: `dragoman-mcp` with a launcher, and the package with the program for one platform, on
//! which `dragoman-mcp` depends.

use super::release::{Release, version};
use super::workshop::Workshop;
use crate::files::{failed, template};
use crate::root;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const FOLDER: &str = "packaging/npm";

/// Packs both packages. The platform's package comes first, because it must be published first.
pub(super) fn build(workshop: &Workshop<'_>) -> Result<Vec<PathBuf>, String> {
    let release = workshop.release;
    let platform = release.parts("npm-platform")?;
    let copy = |from: &Path, to: PathBuf| fs::copy(from, &to).map(drop).map_err(|error| failed(&to, &error));
    copy(&release.program, platform.join("dragoman"))?;
    copy(&release.contents.join("LICENSES.txt"), platform.join("LICENSES.txt"))?;
    let main = release.parts("npm-main")?;
    copy(&root::checkout().join(FOLDER).join("launcher.cjs"), main.join("launcher.cjs"))?;
    copy(&release.contents.join("README.md"), main.join("README.md"))?;
    Ok(vec![packed(workshop, "platform.json", &platform)?, packed(workshop, "package.json", &main)?])
}

/// The files that were packed.
pub(super) fn files(release: &Release) -> [PathBuf; 2] {
    ["dragoman-mcp-linux-x64", "dragoman-mcp"].map(|name| release.file(&format!("{name}-{}.tgz", version())))
}

/// Packs a folder with this description file, and sets the version.
fn packed(workshop: &Workshop<'_>, description: &str, folder: &Path) -> Result<PathBuf, String> {
    let file = folder.join("package.json");
    let text =
        template(&format!("{FOLDER}/{description}"))?.replace("\"0.0.0\"", &format!("\"{}\"", version()));
    fs::write(&file, text).map_err(|error| failed(&file, &error))?;
    let mut pack = Command::new("npm");
    pack.args(["pack", "--silent", "--pack-destination"]).arg(&workshop.release.folder).current_dir(folder);
    let said = workshop.log.run(&mut pack)?;
    let name = said.lines().last().ok_or("`npm pack` named no file")?;
    Ok(workshop.release.file(name.trim()))
}
