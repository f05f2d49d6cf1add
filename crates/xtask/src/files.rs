//! Files and their errors. This module must not know what is in a file.

use crate::root;
use std::path::Path;
use std::{fs, io};

/// The message for an error with a file.
pub(crate) fn failed(file: &Path, error: &io::Error) -> String {
    format!("{}: {error}", file.display())
}

/// Reads a file of this checkout.
pub(crate) fn template(path: &str) -> Result<String, String> {
    let file = root::checkout().join(path);
    read(&file)
}

/// Reads a file.
pub(crate) fn read(file: &Path) -> Result<String, String> {
    fs::read_to_string(file).map_err(|error| failed(file, &error))
}
