//! The socket of a folder: its rights, its owner, and requests over it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use http::Method;

use super::*;
use crate::net::local::{
    LOCK, LocalBindError, LocalClientError, LocalRequest, LocalSocket, SOCKET, ask, serve_local,
};

/// The path of a folder that does not exist yet. If a test creates the folder, it is removed when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("dragoman-local-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn request(path: &str) -> LocalRequest<'_> {
    let body = Some(Bytes::from_static(b"{}"));
    LocalRequest { method: Method::POST, path, accept: "application/json", body, within: LONG }
}

/// A server in a folder, and the signal that stops it.
fn serve_in(folder: &Path) -> (Stop, JoinHandle<Result<(), ServeError>>) {
    let (socket, stop) = (LocalSocket::bind(folder).unwrap(), Stop::new());
    (stop.clone(), tokio::spawn(serve_local(socket, echo, ServerLimits::default(), stop)))
}

async fn finish((stop, done): (Stop, JoinHandle<Result<(), ServeError>>)) {
    stop.stop();
    timeout(LONG, done).await.expect("drained in time").unwrap().unwrap();
}

async fn answer_in(folder: &Path) -> Bytes {
    let answer = ask(folder, &request("/api/x?y=1")).await.unwrap();
    assert_eq!(answer.status, 200);
    answer.whole(1000, LONG).await.unwrap()
}

#[tokio::test]
async fn the_owner_alone_reaches_it_and_nothing_is_left_behind() {
    let folder = Folder::new();
    let served = serve_in(&folder.0);
    assert_eq!(
        (mode(&folder.0), mode(&folder.0.join(SOCKET)), mode(&folder.0.join(LOCK))),
        (0o700, 0o600, 0o600)
    );
    assert_eq!(answer_in(&folder.0).await, "POST /api/x {}");
    let answer = ask(&folder.0, &request("/api/x")).await.unwrap();
    assert!(matches!(answer.whole(3, LONG).await, Err(LocalClientError::TooLong(3))));
    finish(served).await;
    assert!(!folder.0.join(SOCKET).exists());
    assert!(matches!(ask(&folder.0, &request("/")).await, Err(LocalClientError::Nobody(_))));
}

#[tokio::test]
async fn one_process_has_a_folder_and_the_next_one_takes_over() {
    let folder = Folder::new();
    let served = serve_in(&folder.0);
    let Err(LocalBindError::InUse { pid, path }) = LocalSocket::bind(&folder.0) else {
        panic!("bound twice")
    };
    assert_eq!((pid, path), (Some(std::process::id().to_string()), folder.0.join(SOCKET)));
    assert_eq!(answer_in(&folder.0).await, "POST /api/x {}", "the attempt harms nobody");
    finish(served).await;
    let served = serve_in(&folder.0);
    assert_eq!(answer_in(&folder.0).await, "POST /api/x {}");
    finish(served).await;
}

#[tokio::test]
async fn what_a_killed_process_left_is_replaced_but_no_other_file() {
    let folder = Folder::new();
    fs::create_dir(&folder.0).unwrap();
    drop(UnixListener::bind(folder.0.join(SOCKET)).unwrap());
    assert!(matches!(ask(&folder.0, &request("/")).await, Err(LocalClientError::Nobody(_))));
    let served = serve_in(&folder.0);
    assert_eq!(answer_in(&folder.0).await, "POST /api/x {}");
    finish(served).await;
    fs::write(folder.0.join(SOCKET), "mine").unwrap();
    assert!(matches!(LocalSocket::bind(&folder.0), Err(LocalBindError::Other { .. })));
    assert_eq!(fs::read(folder.0.join(SOCKET)).unwrap(), b"mine");
}

#[tokio::test]
async fn others_lose_the_right_to_write_to_the_folder() {
    let folder = Folder::new();
    fs::create_dir(&folder.0).unwrap();
    fs::set_permissions(&folder.0, fs::Permissions::from_mode(0o777)).unwrap();
    drop(LocalSocket::bind(&folder.0).unwrap());
    assert_eq!(mode(&folder.0), 0o755);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_path_may_be_longer_than_a_socket_allows() {
    let folder = Folder::new();
    let deep = folder.0.join("x".repeat(150));
    let served = serve_in(&deep);
    assert_eq!(answer_in(&deep).await, "POST /api/x {}");
    finish(served).await;
    assert!(!deep.join(SOCKET).exists());
}

#[tokio::test]
async fn a_silent_process_holds_nobody_up() {
    let folder = Folder::new();
    fs::create_dir(&folder.0).unwrap();
    let _silent = UnixListener::bind(folder.0.join(SOCKET)).unwrap();
    let request = LocalRequest { within: Duration::from_millis(50), ..request("/") };
    assert!(matches!(ask(&folder.0, &request).await, Err(LocalClientError::Late(_))));
}
