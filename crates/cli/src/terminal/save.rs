//! Writes a server's content to files in one folder. Their names cannot lead out of the folder, and no existing file
//! is overwritten.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use crate::output::failure::Failure;

/// The maximum number of files with the same name; each file after the first gets a number.
const SAME: usize = 1000;

/// The maximum length of a file's name without its extension, in characters.
const LONGEST: usize = 64;

/// The folder to which files are saved.
#[derive(Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// Opens the folder at `path`; creates it if it does not exist.
    ///
    /// # Errors
    /// Fails if the folder cannot be created.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        fs::create_dir_all(path)
            .map_err(|e| Failure::new(format!("cannot create the folder {}: {e}", path.display())))?;
        Ok(Self(path.to_path_buf()))
    }

    /// Writes a file. The file's name is made from `name`, which may be a URI, and from the MIME type.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub(crate) fn save(&self, name: &str, mime: &str, bytes: &[u8]) -> Result<PathBuf, Failure> {
        let (stem, ending) = file_name(name, mime);
        for number in 1..=SAME {
            let counter = if number == 1 { String::new() } else { format!("-{number}") };
            let path = self.0.join(format!("{stem}{counter}.{ending}"));
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(mut file) => {
                    file.write_all(bytes).map_err(|e| cannot(&path, &e))?;
                    return Ok(path);
                }
                Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
                Err(e) => return Err(cannot(&path, &e)),
            }
        }
        let folder = self.0.display();
        Err(Failure::new(format!("{folder} already has {SAME} files named {stem}.{ending}"))
            .help("choose another folder"))
    }
}

fn cannot(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(format!("cannot write {}: {error}", path.display()))
}

/// Returns a harmless file name: the last part of `name`, with its own extension or one that fits the MIME type.
fn file_name(name: &str, mime: &str) -> (String, String) {
    let path = name.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    let last = path.rsplit(['/', '\\', ':']).next().unwrap_or_default();
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' };
    let clean: String = last.chars().map(plain).collect();
    let clean = clean.trim_matches(['.', '-']);
    let (stem, ending) = match clean.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() && ending.len() <= 8 => (stem, ending),
        _ => (clean, ending(mime)),
    };
    let stem: String = stem.chars().take(LONGEST).collect();
    (if stem.is_empty() { "content".to_owned() } else { stem }, ending.to_owned())
}

/// Returns the usual file extension for a MIME type.
fn ending(mime: &str) -> &str {
    let essence = mime.split(';').next().unwrap_or_default().trim();
    match essence {
        "text/plain" => "txt",
        "text/markdown" => "md",
        "text/html" => "html",
        "image/jpeg" => "jpg",
        "image/svg+xml" => "svg",
        "audio/mpeg" => "mp3",
        "audio/x-wav" => "wav",
        _ => {
            let kind = essence.rsplit('/').next().unwrap_or_default();
            let plain =
                !kind.is_empty() && kind.len() <= 8 && kind.bytes().all(|byte| byte.is_ascii_alphanumeric());
            if plain && kind != "stream" { kind } else { "bin" }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_leave_the_folder() {
        for (name, mime, want) in [
            ("file:///etc/passwd", "text/plain", "passwd.txt"),
            ("../../x", "image/png", "x.png"),
            ("http://h/a/b.tar?x=/y.z", "application/octet-stream", "b.tar"),
            ("demo://greeting/..", "text/plain", "content.txt"),
            (".bashrc", "text/plain", "bashrc.txt"),
            ("C:\\x\\con file.txt", "", "con-file.txt"),
            ("", "application/octet-stream", "content.bin"),
            ("a\u{202e}b", "audio/wav", "a-b.wav"),
        ] {
            let (stem, ending) = file_name(name, mime);
            assert_eq!(format!("{stem}.{ending}"), want, "{name}");
        }
    }

    #[test]
    fn nothing_is_overwritten() {
        let path = std::env::temp_dir().join(format!("dragoman-save-{}", std::process::id()));
        let folder = Folder::open(&path).unwrap();
        let first = folder.save("a.txt", "", b"1").unwrap();
        let second = folder.save("a.txt", "", b"2").unwrap();
        assert_eq!(fs::read(&first).unwrap(), b"1");
        assert!(second.ends_with("a-2.txt"), "{}", second.display());
        fs::remove_dir_all(path).unwrap();
    }
}
