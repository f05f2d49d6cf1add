//! Unpacks a bundle into a folder that is named after the bundle's checksum. Each bundle is therefore unpacked only
//! once, and a changed bundle never runs with the files of an older one. This module must not know what the files
//! are for.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::archive::{Archive, ArchiveError};

/// Returns the folder with the bundle's files, below the absolute path `cache`. If this folder does not exist,
/// unpacks the bundle into it. The folder appears only when it is complete, and processes that unpack the same
/// bundle at once do not disturb each other.
///
/// # Errors
/// Returns an error if the bundle is damaged, contains a file that must not be unpacked, or cannot be written.
pub fn unpacked(archive: &mut Archive, cache: &Path) -> Result<PathBuf, ArchiveError> {
    let folder = cache.join(archive.checksum());
    if folder.is_dir() {
        return Ok(folder);
    }
    let begun = cache.join(format!(".{}-{}", archive.checksum(), std::process::id()));
    if begun.exists() {
        fs::remove_dir_all(&begun).map_err(ArchiveError::io(&begun))?;
    }
    create_folder(&begun)?;
    let written = write_all(archive, &begun).and_then(|()| match fs::rename(&begun, &folder) {
        // Another process was faster.
        Err(_) if folder.is_dir() => Ok(()),
        renamed => renamed.map_err(ArchiveError::io(&folder)),
    });
    if begun.exists() {
        let _ = fs::remove_dir_all(&begun);
    }
    written.map(|()| folder)
}

fn write_all(archive: &mut Archive, folder: &Path) -> Result<(), ArchiveError> {
    archive.each(|mut item| {
        let path = folder.join(&item.path);
        if item.is_folder {
            return create_folder(&path);
        }
        create_folder(path.parent().unwrap_or(folder))?;
        let mut options = OpenOptions::new();
        // A name that occurs twice would replace a file that was checked.
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, if item.is_executable { 0o700 } else { 0o600 });
        let mut file = options.open(&path).map_err(ArchiveError::io(&path))?;
        io::copy(&mut item.content, &mut file).map(drop).map_err(ArchiveError::io(&path))
    })
}

/// Creates a folder and its missing parent folders; only their owner can access them.
fn create_folder(path: &Path) -> Result<(), ArchiveError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(ArchiveError::io(path))
}
