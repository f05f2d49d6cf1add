//! Files of this checkout and their errors.

use crate::root;
use std::path::Path;
use std::{fs, io};

/// An error of a file.
pub(super) fn failed(file: &Path, error: &io::Error) -> String {
    format!("{}: {error}", file.display())
}

/// Reads a file of this checkout.
pub(super) fn template(path: &str) -> Result<String, String> {
    let file = root::checkout().join(path);
    fs::read_to_string(&file).map_err(|error| failed(&file, &error))
}
