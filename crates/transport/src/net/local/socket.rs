//! The listening socket of a folder. At most one process listens in a folder: the process that holds the lock. That
//! process may replace a socket that an earlier process left behind. This module must not know what is served.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, fchmod};
use socket2::{Domain, SockAddr, Socket, Type};

use super::path::{LOCK, SOCKET, SocketPath};

/// The number of connections that can wait to be accepted.
const BACKLOG: i32 = 64;

/// The permission of other users to write to a folder.
const OTHERS_WRITE: u32 = 0o022;

/// The reason why a process cannot listen in a folder.
#[derive(Debug, thiserror::Error)]
pub enum LocalBindError {
    /// Another process listens there.
    #[error("the process {} already listens on {}", pid.as_deref().unwrap_or("(unknown)"), path.display())]
    InUse {
        /// The path of the socket.
        path: PathBuf,
        /// The id of the other process.
        pid: Option<String>,
    },
    /// Other users may replace files in the folder.
    #[error("other users may write to the folder {}", .0.display())]
    Exposed(PathBuf),
    /// Any other error.
    #[error("cannot listen on {}: {source}", path.display())]
    Other {
        /// The path that cannot be used.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

/// A listening socket. Dropping it removes the socket's file.
#[derive(Debug)]
pub struct LocalSocket {
    path: PathBuf,
    pub(super) listener: UnixListener,
    /// The lock; it is released after the file has been removed.
    _lock: File,
}

impl LocalSocket {
    /// Listens in a folder, which is created if it is missing. This blocks.
    ///
    /// # Errors
    /// Fails if another process listens there, if other users may write to the folder, or if the system refuses.
    pub fn bind(folder: &Path) -> Result<Self, LocalBindError> {
        let other = |path: PathBuf| move |source| LocalBindError::Other { path, source };
        let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.and_then(|()| protect(folder)).map_err(other(folder.to_path_buf()))?;
        if rights(folder).map_err(other(folder.to_path_buf()))? & OTHERS_WRITE != 0 {
            return Err(LocalBindError::Exposed(folder.to_path_buf()));
        }
        let path = folder.join(SOCKET);
        let lock = lock(&folder.join(LOCK), &path)?;
        let listener = remove_left_over(&path).and_then(|()| listen(folder));
        Ok(Self { listener: listener.map_err(other(path.clone()))?, path, _lock: lock })
    }

    /// Listens on a path that an operator chose, in a folder that exists. The owner and the group of the file may connect; the operator
    /// decides on the permissions of the folder. This blocks.
    ///
    /// # Errors
    /// Fails if another process listens there, if the path is too long for a socket, or if the system refuses.
    pub fn bind_at(path: &Path) -> Result<Self, LocalBindError> {
        let mut name = path.as_os_str().to_owned();
        name.push(".lock");
        let lock = lock(Path::new(&name), path)?;
        let listener = remove_left_over(path).and_then(|()| listen_at(path, 0o660));
        let failed = |source| LocalBindError::Other { path: path.to_path_buf(), source };
        Ok(Self { listener: listener.map_err(failed)?, path: path.to_path_buf(), _lock: lock })
    }

    /// Returns the path of the socket.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for LocalSocket {
    fn drop(&mut self) {
        // If this fails, the next process replaces the file.
        let _ = fs::remove_file(&self.path);
    }
}

fn rights(folder: &Path) -> io::Result<u32> {
    Ok(fs::metadata(folder)?.permissions().mode() & 0o777)
}

/// Removes the right of other users to write to the folder, if this process may change it.
fn protect(folder: &Path) -> io::Result<()> {
    let rights = rights(folder)?;
    if rights & OTHERS_WRITE != 0 {
        // The caller reports a folder that stays as it was.
        let _ = fs::set_permissions(folder, fs::Permissions::from_mode(rights & !OTHERS_WRITE));
    }
    Ok(())
}

/// Takes the lock of the socket at `socket`, and writes this process's id into the locked file.
fn lock(path: &Path, socket: &Path) -> Result<File, LocalBindError> {
    let failed = |source| LocalBindError::Other { path: path.to_path_buf(), source };
    let opened =
        OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path);
    let mut file = opened.map_err(failed)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut pid = String::new();
            let is_read = file.take(20).read_to_string(&mut pid).is_ok();
            let pid = Some(pid.trim().to_owned()).filter(|pid| is_read && !pid.is_empty());
            return Err(LocalBindError::InUse { path: socket.to_path_buf(), pid });
        }
        Err(TryLockError::Error(source)) => return Err(failed(source)),
    }
    let id = format!("{}\n", std::process::id());
    file.set_len(0)
        .and_then(|()| file.rewind())
        .and_then(|()| file.write_all(id.as_bytes()))
        .map_err(failed)?;
    Ok(file)
}

/// Removes the socket of an earlier process. No process can still be listening on it.
fn remove_left_over(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.file_type().is_socket() => fs::remove_file(path),
        Ok(_) => Err(io::Error::new(io::ErrorKind::AlreadyExists, "the file there is not a socket")),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(e),
    }
}

fn listen(folder: &Path) -> io::Result<UnixListener> {
    listen_at(SocketPath::of(folder)?.path(), 0o600)
}

/// Listens on a path, and gives the file these permissions.
fn listen_at(path: &Path, rights: u32) -> io::Result<UnixListener> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.set_nonblocking(true)?;
    // On Linux, the file gets the rights that the socket has before it is bound, so there is no moment at which others
    // can connect.
    let early = fchmod(&socket, Mode::from_raw_mode(rights));
    if cfg!(target_os = "linux") {
        early?;
    }
    socket.bind(&SockAddr::unix(path)?)?;
    fs::set_permissions(path, fs::Permissions::from_mode(rights))?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}
