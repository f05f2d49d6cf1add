//! The paths of a folder's socket and its lock. This module must not know what the socket is for.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// The name of the socket in its folder.
pub const SOCKET: &str = "control.sock";

/// The name of the file that the listening process keeps locked.
pub const LOCK: &str = "control.lock";

/// The number of bytes that a socket's path may have on every system, with the final zero.
const LONGEST: usize = 104;

/// A path under which a socket can be bound or reached; it is valid as long as this value exists.
#[derive(Debug)]
pub(super) struct SocketPath {
    path: PathBuf,
    _folder: Option<File>,
}

impl SocketPath {
    /// Returns the path of the socket in a folder. A long path is replaced by a short one, which leads through an open
    /// file of this process.
    pub(super) fn of(folder: &Path) -> io::Result<Self> {
        let path = folder.join(SOCKET);
        if path.as_os_str().len() < LONGEST {
            return Ok(Self { path, _folder: None });
        }
        let folder = File::open(folder)?;
        Ok(Self { path: through(&folder)?, _folder: Some(folder) })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(target_os = "linux")]
#[expect(clippy::unnecessary_wraps, reason = "other systems have no such path")]
fn through(folder: &File) -> io::Result<PathBuf> {
    use std::os::fd::AsRawFd as _;
    Ok(format!("/proc/self/fd/{}/{SOCKET}", folder.as_raw_fd()).into())
}

#[cfg(not(target_os = "linux"))]
fn through(_folder: &File) -> io::Result<PathBuf> {
    Err(io::Error::new(io::ErrorKind::InvalidFilename, "the folder's path is too long for a socket"))
}
