//! Files with one secret each, which only their owner can read. This module must not know what a secret is for.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use clients::import::FoundSecret;

use crate::commands::configuration::config_file::ConfigFile;
use crate::commands::configuration::text_file::folder_of;
use crate::output::failure::Failure;

/// Writes the secrets to files beside the configuration file.
///
/// # Errors
/// Fails if a file already exists with other content, or cannot be written.
pub(super) fn write<'s>(
    file: &ConfigFile,
    secrets: impl Iterator<Item = &'s FoundSecret>,
) -> Result<(), Failure> {
    let folder = folder_of(&file.path);
    for secret in secrets {
        let path = folder.join(&secret.path);
        write_one(&path, &secret.value).map_err(|e| {
            let help =
                "nothing was added to the configuration; move the file away, and run the command again";
            Failure::new(format!("cannot write the secret to {}: {e}", path.display())).help(help)
        })?;
    }
    Ok(())
}

fn write_one(path: &Path, secret: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let mut file = match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(file) => file,
        Err(e)
            if e.kind() == io::ErrorKind::AlreadyExists && fs::read_to_string(path)?.trim_end() == secret =>
        {
            return Ok(());
        }
        Err(e) => return Err(e),
    };
    file.write_all(secret.as_bytes())?;
    file.write_all(b"\n")?;
    file.sync_all()
}
