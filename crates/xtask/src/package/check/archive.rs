//! The check of the archive: unpacked into an empty folder.

use crate::files::failed;
use crate::package::release::version;
use crate::package::workshop::Workshop;
use crate::tally::Tally;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

pub(in crate::package) fn checked(workshop: &Workshop<'_>, files: &[PathBuf]) -> Result<Tally, String> {
    let folder = Workshop::empty("archive")?;
    workshop
        .log
        .run(Command::new("tar").args(["--extract", "--file"]).args(files).arg("--directory").arg(&folder))?;
    let unpacked = folder.join(format!("dragoman-{}-linux-x64", version()));
    let licences = unpacked.join("LICENSES.txt");
    let text = fs::read_to_string(&licences).map_err(|error| failed(&licences, &error))?;
    let tally = workshop
        .judged(text.contains("tokio") && text.contains("Lucide"), "the licences of others are in it");
    let mut command = Command::new(unpacked.join("dragoman"));
    command.env_clear().env("HOME", &folder).current_dir(&folder);
    Ok(tally + workshop.serves(command)?)
}
