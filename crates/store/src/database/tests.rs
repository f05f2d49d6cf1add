use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Barrier};

use super::*;

/// A folder for one test, deleted at its end.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("dragoman-store-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// All files in the folder, with their contents.
    pub(crate) fn files(&self) -> Vec<(String, Vec<u8>)> {
        let files = fs::read_dir(&self.0).unwrap().map(|entry| {
            let path = entry.unwrap().path();
            (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(path).unwrap())
        });
        files.collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

const ONE: &str = "CREATE TABLE notes (text TEXT NOT NULL); INSERT INTO notes VALUES ('first');";
const TWO: &str = "ALTER TABLE notes ADD COLUMN stars INTEGER NOT NULL DEFAULT 3;";

const OLD: Purpose = Purpose { mark: 4711, steps: &[ONE], durable: false, examined: true };
const GROWN: Purpose = Purpose { steps: &[ONE, TWO], ..OLD };

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn files_and_folders_are_their_owners_alone() {
    let folder = Folder::new();
    let path = folder.path().join("new/deep/notes.db");
    let mut notes = Database::open(&path, &OLD).unwrap();
    notes.write(|file| file.execute("INSERT INTO notes VALUES ('more')", [])).unwrap();
    let parent = path.parent().unwrap();
    assert_eq!((mode(parent), mode(parent.parent().unwrap())), (0o700, 0o700));
    for file in ["notes.db", "notes.db-wal", "notes.db-shm"] {
        assert_eq!(mode(&parent.join(file)), 0o600, "{file}");
    }
    drop(notes);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    drop(Database::open(&path, &OLD).unwrap());
    assert_eq!(mode(&path), 0o600);
}

#[test]
fn a_new_file_appears_when_it_is_complete() {
    let folder = Folder::new();
    let path = folder.path().join("notes.db");
    creation::create(&path, &GROWN).unwrap();
    let files = folder.files();
    assert_eq!(files.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["notes.db"]);
    let notes = Database::open(&path, &GROWN).unwrap();
    assert_eq!(notes.number("SELECT stars FROM notes").unwrap(), 3);
    assert_eq!(notes.number("PRAGMA auto_vacuum").unwrap(), 2, "incremental");
    assert_eq!(mode(&path), 0o600);
    drop(notes);
    let before = fs::read(&path).unwrap();
    creation::create(&path, &OLD).unwrap();
    assert_eq!(fs::read(&path).unwrap(), before, "an existing file is never replaced");
}

#[test]
fn a_file_that_cannot_be_completed_leaves_nothing() {
    let folder = Folder::new();
    let faulty = Purpose { steps: &[ONE, "no SQL"], ..OLD };
    assert_eq!(creation::create(&folder.path().join("notes.db"), &faulty), None);
    assert_eq!(folder.files(), []);
}

#[test]
fn opening_a_file_that_is_up_to_date_writes_nothing() {
    let folder = Folder::new();
    let path = folder.path().join("notes.db");
    drop(Database::open(&path, &OLD).unwrap());
    let before = fs::read(&path).unwrap();
    let mut writer = Database::open(&path, &OLD).unwrap();
    // The writer holds the only write lock, so another writer would wait for it in vain.
    writer
        .write(|file| {
            file.execute("INSERT INTO notes VALUES ('more')", [])?;
            let reader = Database::open(&path, &OLD).unwrap();
            assert_eq!(reader.number("SELECT count(*) FROM notes").unwrap(), 1);
            Ok(())
        })
        .unwrap();
    assert_eq!(fs::read(&path).unwrap(), before, "what is written goes to the journal first");
}

#[test]
fn an_older_file_grows_and_keeps_what_it_has() {
    let folder = Folder::new();
    let path = folder.path().join("notes.db");
    drop(Database::open(&path, &OLD).unwrap());
    for _ in 0..2 {
        let notes = Database::open(&path, &GROWN).unwrap();
        assert_eq!(notes.number("SELECT stars FROM notes WHERE text = 'first'").unwrap(), 3);
        assert_eq!(notes.number("SELECT count(*) FROM notes").unwrap(), 1);
        assert_eq!(notes.number("PRAGMA user_version").unwrap(), 2);
        assert_eq!(notes.number("PRAGMA auto_vacuum").unwrap(), 2);
        let mode: String =
            notes.read(|file| file.query_row("PRAGMA journal_mode", [], |row| row.get(0))).unwrap();
        assert_eq!(mode, "wal");
    }
}

#[test]
fn a_step_that_fails_leaves_the_file_as_it_was() {
    const BROKEN: Purpose =
        Purpose { steps: &[ONE, "CREATE TABLE other (a); CREATE TABLE notes (b);"], ..OLD };
    let folder = Folder::new();
    let path = folder.path().join("notes.db");
    drop(Database::open(&path, &OLD).unwrap());
    assert!(matches!(Database::open(&path, &BROKEN), Err(Error::Database { .. })));
    let notes = Database::open(&path, &OLD).unwrap();
    assert_eq!(notes.number("SELECT count(*) FROM sqlite_schema").unwrap(), 1);
}

#[test]
fn a_newer_file_is_refused_and_left_as_it_is() {
    let folder = Folder::new();
    let path = folder.path().join("notes.db");
    drop(Database::open(&path, &GROWN).unwrap());
    let before = fs::read(&path).unwrap();
    let refused = Database::open(&path, &OLD).unwrap_err();
    assert!(matches!(refused, Error::Newer { found: 2, known: 1, .. }), "{refused}");
    assert!(refused.to_string().contains("notes.db was written by a newer version"), "{refused}");
    assert!(refused.help().contains("newer version"));
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_file_of_something_else_is_refused() {
    let folder = Folder::new();
    let path = folder.path().join("notes.db");
    drop(Database::open(&path, &OLD).unwrap());
    let other = Purpose { mark: 4712, ..OLD };
    assert!(matches!(Database::open(&path, &other), Err(Error::Foreign { .. })));
    let foreign = folder.path().join("foreign.db");
    Connection::open(&foreign).unwrap().execute_batch("CREATE TABLE theirs (a)").unwrap();
    let before = fs::read(&foreign).unwrap();
    assert!(matches!(Database::open(&foreign, &OLD), Err(Error::Foreign { .. })));
    assert_eq!(fs::read(&foreign).unwrap(), before);
}

#[test]
fn damaged_files_are_told_apart_from_sound_ones() {
    let folder = Folder::new();
    let path = folder.path().join("notes.db");
    fs::write(&path, "this is a text, and no database whatever its name says".repeat(40)).unwrap();
    let refused = Database::open(&path, &OLD).unwrap_err();
    assert!(matches!(refused, Error::Corrupt { .. }) && refused.help().contains(".recover"), "{refused}");

    let path = folder.path().join("broken.db");
    let mut notes = Database::open(&path, &OLD).unwrap();
    for _ in 0..200 {
        notes.write(|file| file.execute("INSERT INTO notes VALUES (hex(randomblob(200)))", [])).unwrap();
    }
    drop(notes);
    let mut bytes = fs::read(&path).unwrap();
    let size = bytes.len();
    bytes[8192..size - 4096].fill(0xAA);
    fs::write(&path, bytes).unwrap();
    assert!(matches!(Database::open(&path, &OLD), Err(Error::Corrupt { .. })));
}

#[test]
fn a_file_that_was_cut_to_nearly_nothing_is_not_taken_for_an_empty_one() {
    let folder = Folder::new();
    let path = folder.path().join("notes.db");
    for left in ["x", &"x".repeat(99)] {
        fs::write(&path, left).unwrap();
        assert!(matches!(Database::open(&path, &OLD), Err(Error::Corrupt { .. })));
        assert_eq!(fs::read_to_string(&path).unwrap(), left, "it is left as it is");
    }
    fs::write(&path, "").unwrap();
    Database::open(&path, &OLD).unwrap();
}

#[test]
fn places_that_cannot_be_used_are_named() {
    let folder = Folder::new();
    fs::write(folder.path().join("file"), "x").unwrap();
    let refused = Database::open(&folder.path().join("file/notes.db"), &OLD).unwrap_err();
    assert!(matches!(refused, Error::Folder { .. }) && refused.to_string().contains("file"), "{refused}");
    assert!(refused.help().contains("choose another folder"));
    // A path that cannot be examined yields an error that says so.
    let refused = Database::open_existing(&folder.path().join("file/notes.db"), &OLD).unwrap_err();
    assert!(matches!(refused, Error::Unwritable { .. }), "{refused}");
    fs::create_dir(folder.path().join("notes.db")).unwrap();
    let refused = Database::open(&folder.path().join("notes.db"), &OLD).unwrap_err();
    assert!(matches!(refused, Error::Unwritable { .. }), "{refused}");
    // A folder that nobody can write to, not even root.
    let refused = Database::open(Path::new("/proc/dragoman/notes.db"), &OLD).unwrap_err();
    assert!(matches!(refused, Error::Folder { .. }), "{refused}");
    assert!(Database::open_existing(&folder.path().join("none.db"), &OLD).unwrap().is_none());
    assert!(!folder.path().join("none.db").exists());
}

#[test]
fn a_path_like_a_url_is_a_path() {
    let folder = Folder::new();
    let path = folder.path().join("file:notes.db?mode=memory");
    drop(Database::open(&path, &OLD).unwrap());
    assert!(fs::metadata(&path).unwrap().len() > 0);
}

#[test]
fn many_open_a_new_file_at_once() {
    const COUNT: u8 = 8;
    let folder = Folder::new();
    let path = folder.path().join("notes.db");
    let start = Arc::new(Barrier::new(COUNT.into()));
    let threads: Vec<_> = (0..COUNT)
        .map(|_| {
            let (path, start) = (path.clone(), start.clone());
            std::thread::spawn(move || {
                start.wait();
                let mut notes = Database::open(&path, &GROWN).unwrap();
                for _ in 0..10 {
                    notes.write(|file| file.execute("INSERT INTO notes (text) VALUES ('x')", [])).unwrap();
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let notes = Database::open(&path, &GROWN).unwrap();
    assert_eq!(notes.number("SELECT count(*) FROM notes").unwrap(), i64::from(COUNT) * 10 + 1);
}

#[test]
fn opening_begins_again_after_a_refusal_without_waiting() {
    let busy = || Error::Busy { path: "/x/notes.db".into() };
    let mut refusals = vec![busy(), busy()];
    let opened = opened_in(PATIENCE, || refusals.pop().map_or(Ok(7), Err));
    assert_eq!((opened.unwrap(), refusals.len()), (7, 0));
    let mut attempts = 0;
    let refused = opened_in(PAUSE * 3, || {
        attempts += 1;
        Err::<(), Error>(busy())
    });
    assert!(matches!(refused, Err(Error::Busy { .. })) && (2..=4).contains(&attempts), "{attempts}");
    attempts = 0;
    let foreign = opened_in(PATIENCE, || {
        attempts += 1;
        Err::<(), Error>(Error::Foreign { path: "/x/notes.db".into() })
    });
    assert!(matches!(foreign, Err(Error::Foreign { .. })) && attempts == 1);
}

#[test]
fn errors_of_the_database_have_a_meaning() {
    use rusqlite::ffi;
    let of = |code| {
        let error = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
        Error::of(Path::new("/x/notes.db"), &error)
    };
    assert!(matches!(of(ffi::SQLITE_FULL), Error::Full { .. }));
    assert!(matches!(of(ffi::SQLITE_BUSY_SNAPSHOT), Error::Busy { .. }));
    assert!(matches!(of(ffi::SQLITE_READONLY_DIRECTORY), Error::Unwritable { .. }));
    assert!(matches!(of(ffi::SQLITE_IOERR_READ), Error::Database { .. }));
    for code in
        [ffi::SQLITE_FULL, ffi::SQLITE_BUSY, ffi::SQLITE_READONLY, ffi::SQLITE_IOERR, ffi::SQLITE_NOTADB]
    {
        let error = of(code);
        assert!(error.to_string().contains("/x/notes.db") && !error.help().is_empty(), "{error}");
    }
}
