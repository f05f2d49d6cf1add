//! The files that go into several packages: manual pages, completions, the licences of everything in the program,
//! and the changelog. They are in the program's folder, where the recipe of the Debian package expects them.

use super::licences;
use super::release::emptied;
use crate::files::{failed, template};
use crate::run::Log;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const SHELLS: [&str; 3] = ["bash", "zsh", "fish"];

/// Writes the files into the folder `package`, next to the program.
pub(super) fn beside(program: &Path, log: &Log) -> Result<PathBuf, String> {
    let folder = emptied(program.with_file_name("package"))?;
    let pages = folder.join("man");
    log.run(Command::new(program).args(["man", "--save"]).arg(&pages))?;
    // Without the time, so that the same content gives the same bytes.
    log.run(Command::new("gzip").args(["--recursive", "--best", "--no-name"]).arg(&pages))?;
    let completions = emptied(folder.join("completions"))?;
    for shell in SHELLS {
        let file = completions.join(format!("dragoman.{shell}"));
        let said = Command::new(program).args(["completions", shell]).output();
        let said = said.map_err(|error| failed(program, &error))?.stdout;
        fs::write(&file, said).map_err(|error| failed(&file, &error))?;
    }
    for (name, text) in
        [("LICENSES.txt", licences::text(log)?), ("README.md", template("packaging/README.md")?)]
    {
        let file = folder.join(name);
        fs::write(&file, text).map_err(|error| failed(&file, &error))?;
    }
    Ok(folder)
}
