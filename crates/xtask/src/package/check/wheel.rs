//! The wheel in an empty Python environment, without any index.

use super::traces::Traces;
use crate::package::workshop::Workshop;
use crate::tally::Tally;
use std::path::PathBuf;
use std::process::Command;

pub(in crate::package) fn checked(workshop: &Workshop<'_>, files: &[PathBuf]) -> Result<Tally, String> {
    let folder = Workshop::empty("wheel")?;
    let environment = folder.join("environment");
    workshop.log.run(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
    let before = Traces::of(&environment, &["__pycache__"])?;
    let pip = || {
        let mut command = Command::new(environment.join("bin/pip"));
        command.env_clear().env("HOME", &folder);
        command
    };
    workshop.log.run(pip().args(["install", "--no-index", "--no-cache-dir"]).args(files))?;
    let mut command = Command::new(environment.join("bin/dragoman"));
    command.env_clear().env("HOME", &folder).current_dir(&folder);
    let mut tally = workshop.serves(command)?;
    tally += workshop.lists_its_parts(&environment.join("bin/dragoman"))?;
    workshop.log.run(pip().args(["uninstall", "--yes", "dragoman-mcp"]))?;
    tally += workshop.is_removed(&before)?;
    Ok(tally)
}
