//! The file that stores a key ring. Several processes may read the file. Only one process at a time changes it, by
//! replacing it with a new file. This module must not know when a ring should change.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use secrecy::zeroize::Zeroizing;

use super::ring::{FreshKey, Ring};
use crate::{Error, private_file};

/// The file's name in the state folder.
const FILE: &str = "keyring";

/// The maximum size of the file, in bytes.
const LONGEST: u64 = 64 << 10;

/// The time to wait for another process that is changing the file.
const PATIENCE: Duration = Duration::from_secs(5);

/// The pause between two tries to lock the file.
const PAUSE: Duration = Duration::from_millis(10);

/// Metadata that changes whenever the file does.
type Stamp = (u64, u64, u64, Option<SystemTime>);

/// A ring's file, and its state when it was last read.
#[derive(Debug)]
pub struct RingFile {
    path: PathBuf,
    seen: Option<Stamp>,
}

impl RingFile {
    /// The path of the ring in a state folder.
    pub fn path_in(folder: &Path) -> PathBuf {
        folder.join(FILE)
    }

    /// Reads the ring from the file at `path`. If the file does not exist, creates it with a new ring of the keys
    /// `fresh`.
    ///
    /// # Errors
    /// Fails if the file cannot be read or created, or is damaged.
    pub fn open(path: &Path, fresh: &[FreshKey; 2], now_ms: u64) -> Result<(Self, Ring), Error> {
        if let Some(opened) = Self::open_existing(path)? {
            return Ok(opened);
        }
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
            made.map_err(|source| Error::Folder { path: folder.to_path_buf(), source })?;
        }
        let _turn = lock(path)?;
        // Another process may have been faster.
        if let Some(opened) = Self::open_existing(path)? {
            return Ok(opened);
        }
        let ring = Ring::new(fresh, now_ms);
        write(path, &ring).map_err(|e| unwritable(path, &e))?;
        Ok((Self { path: path.to_path_buf(), seen: stamp(path) }, ring))
    }

    /// Reads the ring from the file at `path`; `None` if the file does not exist.
    ///
    /// # Errors
    /// Fails if the file cannot be read, or is damaged.
    pub fn open_existing(path: &Path) -> Result<Option<(Self, Ring)>, Error> {
        let seen = stamp(path);
        let ring = read(path)?;
        Ok(ring.map(|ring| (Self { path: path.to_path_buf(), seen }, ring)))
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the ring if the file has changed since the last read; returns `None` if it has not. Each fault is
    /// returned once, and not again until the file changes.
    ///
    /// # Errors
    /// Fails if the file is gone, cannot be read, or is damaged.
    pub fn look(&mut self) -> Result<Option<Ring>, Error> {
        let now = stamp(&self.path);
        if now == self.seen {
            return Ok(None);
        }
        self.seen = now;
        let gone = || unwritable(&self.path, &io::Error::from(io::ErrorKind::NotFound));
        read(&self.path)?.ok_or_else(gone).map(Some)
    }

    /// Changes the ring, and prevents other processes from changing it at the same time. `change` receives the ring
    /// in the file, and returns false if nothing has to be written.
    ///
    /// # Errors
    /// Fails if the file cannot be read or written.
    pub fn change(&mut self, change: impl FnOnce(&mut Ring) -> bool) -> Result<Ring, Error> {
        let _turn = lock(&self.path)?;
        let gone = || unwritable(&self.path, &io::Error::from(io::ErrorKind::NotFound));
        let mut ring = read(&self.path)?.ok_or_else(gone)?;
        if change(&mut ring) {
            write(&self.path, &ring).map_err(|e| unwritable(&self.path, &e))?;
        }
        self.seen = stamp(&self.path);
        Ok(ring)
    }
}

fn unwritable(path: &Path, why: &io::Error) -> Error {
    Error::Unwritable { path: path.to_path_buf(), why: why.to_string() }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let found = fs::metadata(path).ok()?;
    Some((found.dev(), found.ino(), found.len(), found.modified().ok()))
}

/// Reads the file, and removes the access rights of other users. `None` if it does not exist.
fn read(path: &Path) -> Result<Option<Ring>, Error> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(Error::Unreadable { path: path.to_path_buf(), why: e.to_string() }),
    };
    let damaged = |why: String| Error::Damaged { path: path.to_path_buf(), why };
    let unreadable = |e: io::Error| Error::Unreadable { path: path.to_path_buf(), why: e.to_string() };
    let found = file.metadata().map_err(unreadable)?;
    if !found.is_file() {
        return Err(damaged("it is not a file".to_owned()));
    }
    let rights = found.permissions().mode() & 0o777;
    if rights & 0o077 != 0 {
        // A file that another user put there, such as a mounted secret, keeps its access rights.
        let _ = file.set_permissions(fs::Permissions::from_mode(rights & 0o700));
    }
    if found.len() > LONGEST {
        return Err(damaged(format!("it is longer than {LONGEST} bytes")));
    }
    // The capacity suffices for the whole text: a buffer that grows would leave copies of keys behind.
    let mut text = Zeroizing::new(String::with_capacity(usize::try_from(found.len()).unwrap_or(0) + 1));
    file.take(LONGEST).read_to_string(&mut text).map_err(unreadable)?;
    Ring::parse(&text).map(Some).map_err(damaged)
}

/// Replaces the file with one that contains this ring.
fn write(path: &Path, ring: &Ring) -> io::Result<()> {
    // The lock is held, so no other process uses the name.
    let beside = beside(path, "new");
    let text = ring.text();
    let _ = fs::remove_file(&beside);
    let written = private_file::create(&beside).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    let renamed = written.and_then(|()| fs::rename(&beside, path));
    if renamed.is_err() {
        let _ = fs::remove_file(&beside);
    }
    renamed?;
    // The new name must survive a power cut, too. If the folder cannot be synchronized, the system writes it a
    // little later.
    if let Some(folder) = path.parent().and_then(|folder| File::open(folder).ok()) {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// Waits for the lock that allows changing the file. Dropping the result releases it.
#[expect(
    clippy::disallowed_methods,
    reason = "everything here blocks, and the release of a file lock raises no event"
)]
fn lock(path: &Path) -> Result<File, Error> {
    let name = beside(path, "lock");
    let opened = match private_file::create(&name) {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => OpenOptions::new().write(true).open(&name),
        made => made,
    };
    let file = opened.map_err(|e| unwritable(path, &e))?;
    let until = Instant::now() + PATIENCE;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(e)) => return Err(unwritable(path, &e)),
            Err(TryLockError::WouldBlock) if Instant::now() >= until => {
                return Err(Error::Busy { path: path.to_path_buf() });
            }
            Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
        }
    }
}

/// The path of a file in the ring's folder, for example the lock: `what` is appended to the name of the ring's
/// file.
fn beside(path: &Path, what: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".");
    name.push(what);
    path.with_file_name(name)
}
