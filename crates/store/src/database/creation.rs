//! A new file, written as a whole: under another name until it is complete, with one wait for the disk. Created step by
//! step under its own name, a file would cost a dozen waits. This module must not know the contents.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

use rusqlite::{Connection, OpenFlags};

use super::Purpose;
use crate::private_file;

/// An incomplete file, deleted when it is dropped.
struct Incomplete(PathBuf);

impl Drop for Incomplete {
    fn drop(&mut self) {
        for side in ["", "-wal", "-shm", "-journal"] {
            let mut name = self.0.clone().into_os_string();
            name.push(side);
            // Most of these files do not exist.
            let _ = fs::remove_file(name);
        }
    }
}

/// Creates the file with its newest schema, unless there is a file already. Returns `None` if that is impossible here,
/// for example because the disk is full, or because its file system has no links.
pub(super) fn create(path: &Path, purpose: &Purpose) -> Option<()> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    if path.symlink_metadata().is_ok() {
        return Some(());
    }
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".new-{}-{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
    let name = PathBuf::from(name);
    drop(private_file::create(&name).ok()?);
    let incomplete = Incomplete(name);
    write(&incomplete.0, purpose).ok()?;
    File::open(&incomplete.0).and_then(|file| file.sync_all()).ok()?;
    // Unlike a renamed file, a link never replaces a file that another process has created meanwhile.
    fs::hard_link(&incomplete.0, path).ok()?;
    File::open(path.parent()?).and_then(|folder| folder.sync_all()).ok()
}

fn write(path: &Path, purpose: &Purpose) -> rusqlite::Result<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    let (steps, version, mark) = (purpose.steps.concat(), purpose.steps.len(), purpose.mark);
    let all = format!(
        "PRAGMA synchronous = OFF; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;
         BEGIN; {steps} PRAGMA user_version = {version}; PRAGMA application_id = {mark}; COMMIT;"
    );
    connection.execute_batch(&all)?;
    // Closing the last connection moves everything into the file itself.
    connection.close().map_err(|(_, error)| error)
}
