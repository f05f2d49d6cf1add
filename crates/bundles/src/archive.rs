//! The files in a bundle: read within limits, under names that stay inside a folder. This module must not know the meaning of a file.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use aws_lc_rs::digest::{Context, SHA256};
use zip::ZipArchive;
use zip::result::ZipError;

/// The maximum size of a bundle's file, in bytes.
pub const MAX_BUNDLE_BYTES: u64 = 1 << 30;

/// The maximum number of files and folders in a bundle.
pub const MAX_ENTRIES: usize = 100_000;

/// The maximum size of all files of a bundle together, in bytes.
pub const MAX_UNPACKED_BYTES: u64 = 4 << 30;

/// The maximum size of the manifest, in bytes.
const MAX_MANIFEST_BYTES: u64 = 1 << 20;

/// The name of the manifest.
const MANIFEST: &str = "manifest.json";

/// A failure to read a bundle.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// A file or folder cannot be read or written.
    #[error("{}: {error}", .path.display())]
    Io {
        /// The bundle that could not be read, or the file or folder that could not be written.
        path: PathBuf,
        /// The cause.
        error: io::Error,
    },
    /// The file is not a zip archive, or is damaged.
    #[error("it is not a valid MCPB bundle: {0}")]
    Damaged(String),
    /// The archive exceeds a limit on its size or on the number of its entries.
    #[error("it is too large: {0}")]
    TooLarge(String),
    /// An entry would be written outside of the folder, or is not a plain file or folder.
    #[error("it contains {0:?}, which must not be unpacked: {1}")]
    Unsafe(String, &'static str),
    /// There is no manifest.
    #[error("it contains no manifest.json at its top level")]
    NoManifest,
}

impl ArchiveError {
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |error| Self::Io { path: path.to_path_buf(), error }
    }
}

/// An open bundle.
#[derive(Debug)]
pub struct Archive {
    zip: ZipArchive<File>,
    checksum: String,
    path: PathBuf,
}

/// One file or folder of a bundle.
pub(crate) struct BundleEntry<'a> {
    /// The path inside a folder.
    pub(crate) path: PathBuf,
    pub(crate) is_folder: bool,
    pub(crate) is_executable: bool,
    /// The content; it never yields more than the entry declares.
    pub(crate) content: Box<dyn Read + 'a>,
}

impl Archive {
    /// Opens a bundle and computes its checksum.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, is not a zip archive, or exceeds a limit.
    pub fn open(path: &Path) -> Result<Self, ArchiveError> {
        let mut file = File::open(path).map_err(ArchiveError::io(path))?;
        let bytes = file.metadata().map_err(ArchiveError::io(path))?.len();
        if bytes > MAX_BUNDLE_BYTES {
            return Err(ArchiveError::TooLarge(format!("the file has {bytes} bytes")));
        }
        let checksum = checksum(&mut file).map_err(ArchiveError::io(path))?;
        let zip = ZipArchive::new(file).map_err(damaged)?;
        if zip.len() > MAX_ENTRIES {
            return Err(ArchiveError::TooLarge(format!("it contains {} files", zip.len())));
        }
        Ok(Self { zip, checksum, path: path.to_path_buf() })
    }

    /// The SHA-256 checksum of the bundle, as 64 hexadecimal digits.
    pub fn checksum(&self) -> &str {
        &self.checksum
    }

    /// The text of the manifest.
    ///
    /// # Errors
    /// Returns an error if there is no manifest, or if it is too large or damaged.
    pub fn manifest(&mut self) -> Result<Vec<u8>, ArchiveError> {
        let entry = self.zip.by_name(MANIFEST).map_err(|_| ArchiveError::NoManifest)?;
        let mut text = Vec::new();
        entry
            .take(MAX_MANIFEST_BYTES + 1)
            .read_to_end(&mut text)
            .map_err(|error| ArchiveError::Damaged(error.to_string()))?;
        if text.len() as u64 > MAX_MANIFEST_BYTES {
            return Err(ArchiveError::TooLarge("its manifest is larger than 1 MiB".to_owned()));
        }
        Ok(text)
    }

    /// Passes all files and folders to `take`, in the archive's order, after all of them have been checked.
    pub(crate) fn each(
        &mut self,
        mut take: impl FnMut(BundleEntry<'_>) -> Result<(), ArchiveError>,
    ) -> Result<(), ArchiveError> {
        let mut total = 0_u64;
        for index in 0..self.zip.len() {
            let entry = self.zip.by_index_raw(index).map_err(damaged)?;
            safe_path(&entry.name().map_err(damaged)?, entry.unix_mode())?;
            total = total.saturating_add(entry.size());
        }
        if total > MAX_UNPACKED_BYTES {
            return Err(ArchiveError::TooLarge(format!("its files total {total} bytes")));
        }
        for index in 0..self.zip.len() {
            let entry = self.zip.by_index(index).map_err(damaged)?;
            let name = entry.name().map_err(damaged)?.into_owned();
            let path = safe_path(&name, entry.unix_mode())?;
            let is_folder = name.ends_with('/');
            let is_executable = entry.unix_mode().is_some_and(|mode| mode & 0o111 != 0);
            let declared = entry.size();
            take(BundleEntry { path, is_folder, is_executable, content: Box::new(entry.take(declared)) })?;
        }
        Ok(())
    }

    /// The bundle's file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it converts errors, for `map_err`")]
fn damaged(error: ZipError) -> ArchiveError {
    ArchiveError::Damaged(error.to_string())
}

/// The bits of a Unix mode that contain the type of a file, and the values for plain files and folders.
const TYPE_BITS: u32 = 0o170_000;
const PLAIN: u32 = 0o100_000;
const FOLDER: u32 = 0o040_000;

/// Returns the path of an entry below a folder. On systems with file modes, the mode contains the type of the file.
fn safe_path(name: &str, mode: Option<u32>) -> Result<PathBuf, ArchiveError> {
    let refused = |why| Err(ArchiveError::Unsafe(name.chars().take(200).collect(), why));
    if mode.is_some_and(|mode| !matches!(mode & TYPE_BITS, 0 | PLAIN | FOLDER)) {
        return refused("a bundle may contain only plain files and folders, no links or devices");
    }
    if name.contains(['\\', ':', '\0']) {
        return refused("a name must not contain \\, : or NUL");
    }
    let parts: Vec<&str> = name.trim_end_matches('/').split('/').collect();
    if parts.iter().any(|part| matches!(*part, "" | "." | "..")) {
        return refused("the path must stay inside the bundle's folder");
    }
    Ok(parts.iter().collect())
}

/// Computes the SHA-256 checksum of a file as hexadecimal digits, and goes back to its beginning.
fn checksum(file: &mut File) -> io::Result<String> {
    use io::Seek as _;
    let mut context = Context::new(&SHA256);
    let mut buffer = vec![0; 1 << 16];
    loop {
        let length = file.read(&mut buffer)?;
        if length == 0 {
            break;
        }
        context.update(&buffer[..length]);
    }
    file.rewind()?;
    Ok(hexadecimal(context.finish().as_ref()))
}

/// The SHA-256 checksum of some bytes, as hexadecimal digits.
pub fn checksum_of(bytes: &[u8]) -> String {
    hexadecimal(aws_lc_rs::digest::digest(&SHA256, bytes).as_ref())
}

fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::safe_path;

    #[test]
    fn paths_stay_inside_the_folder() {
        for bad in ["../x", "/etc/passwd", "a/../../x", "a//b", "./a", "a\\b", "c:x", "a\0b", "", "/"] {
            assert!(safe_path(bad, None).is_err(), "{bad}");
        }
        for good in ["manifest.json", "server/index.js", "server/", "ä/ö.txt", "..a/b..", "a b"] {
            assert!(safe_path(good, Some(0o100_644)).is_ok(), "{good}");
        }
    }

    #[test]
    fn links_and_devices_are_refused() {
        for mode in [0o120_777, 0o020_666, 0o060_666, 0o010_644, 0o140_755] {
            assert!(safe_path("x", Some(mode)).is_err(), "{mode:o}");
        }
        assert!(safe_path("x", Some(0o755)).is_ok());
    }
}
