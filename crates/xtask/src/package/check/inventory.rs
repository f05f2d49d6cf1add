//! The inventory names the libraries in the program, and the program itself contains the list of its parts.

use crate::files::failed;
use crate::package::workshop::Workshop;
use crate::tally::Tally;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

pub(in crate::package) fn checked(workshop: &Workshop<'_>, files: &[PathBuf]) -> Result<Tally, String> {
    let file = files.first().ok_or("no inventory")?;
    let text = fs::read_to_string(file).map_err(|error| failed(file, &error))?;
    let inventory: Value =
        serde_json::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))?;
    let names = |name: &str| {
        inventory["components"].as_array().into_iter().flatten().any(|component| component["name"] == name)
    };
    let tally = workshop.judged(names("tokio") && names("rustls"), "the inventory names the libraries");
    Ok(tally + workshop.lists_its_parts(&workshop.release.program)?)
}
