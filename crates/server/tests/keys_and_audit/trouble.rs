//! Faulty files, and the messages about them.

use std::fs;

use store::audit::Log;
use store::keys::Keys;

use super::run::{Home, mode};

#[tokio::test]
async fn a_file_of_a_newer_version_is_left_alone() {
    let home = Home::new();
    home.run(&["key", "new", "ann"]).await.good();
    let file = home.state().join("keys.db");
    let open = rusqlite::Connection::open(&file).unwrap();
    open.execute_batch("PRAGMA user_version = 99; PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    drop(open);
    let before = fs::read(&file).unwrap();
    for command in [&["key", "list"][..], &["key", "new", "bob"], &["key", "revoke", "ann"]] {
        home.run(command).await.refused(1, &["keys.db was written by a newer version", "99", "= help: "]);
    }
    assert_eq!(fs::read(&file).unwrap(), before);
}

#[tokio::test]
async fn a_damaged_file_is_told() {
    let home = Home::new();
    for (name, command) in [("keys.db", &["key", "list"][..]), ("audit.db", &["audit"])] {
        fs::create_dir_all(home.state()).unwrap();
        fs::write(home.state().join(name), "no database at all, only a text\n".repeat(200)).unwrap();
        home.run(command).await.refused(1, &[name, "is damaged", "= help: restore a backup"]);
    }
    drop(fs::remove_file(home.state().join("keys.db")));
    drop(Log::open(&home.state().join("keys.db")).unwrap());
    home.run(&["key", "list"])
        .await
        .refused(1, &["keys.db is a database of another program, or for another purpose", "= help: "]);
}

#[tokio::test]
async fn a_folder_that_cannot_be_used_is_told() {
    let home = Home::new().with("file", "x");
    home.run(&["key", "new", "a", "--state", "file"])
        .await
        .refused(1, &["file", "= help: give this user write access"]);
    home.run(&["key", "new", "a", "--state", "/proc/x"]).await.refused(1, &["/proc/x", "stateFolder"]);
    fs::create_dir_all(home.state().join("keys.db")).unwrap();
    home.run(&["key", "list"]).await.refused(1, &["keys.db", "not a file"]);
}

#[tokio::test]
async fn rights_of_others_are_taken_away() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    home.run(&["key", "new", "ann"]).await.good();
    let file = home.state().join("keys.db");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o664)).unwrap();
    home.run(&["key", "list"]).await.good();
    assert_eq!(mode(&file), 0o600);
    assert_eq!(Keys::open(&home.state()).unwrap().list().unwrap().len(), 1);
}

#[tokio::test]
async fn a_configuration_with_faults_is_refused_first() {
    let home = Home::new().with("dragoman.yaml", "mcpServers: { a: { ulr: x } }\n");
    for command in [&["key", "new", "a"][..], &["key", "list"], &["audit"]] {
        home.run(command).await.refused(2, &["ulr"]);
    }
    home.run(&["key", "new", "a", "--state", "here"]).await.good();
}
