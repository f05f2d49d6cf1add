//! Running the program, and servers for it.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use testkit::fixture::{Eras, Options, Running, serve_http};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

/// The deadline of a run: on a working machine, no run takes longer, however busy the machine is.
pub(crate) const DEADLINE: Duration = Duration::from_mins(2);

/// The outcome of a run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) out: Vec<u8>,
    pub(crate) err: String,
}

impl Run {
    /// Its output as text.
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.out).expect("text")
    }

    /// Its output as JSON.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.out).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }
}

impl Run {
    /// Its output as JSON, one value on each line.
    pub(crate) fn json_lines(&self) -> Vec<serde_json::Value> {
        self.text().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }
}

/// An empty folder for one test, removed when dropped.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("dragoman-cli-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    pub(crate) fn with(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, content).expect("a file");
        self
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

/// The program in `folder`, which is also the user's home, without the rest of this environment.
pub(crate) fn command(folder: &Path) -> Command {
    #[expect(clippy::disallowed_methods, reason = "the program under test, which nobody supervises")]
    let mut command = Command::new(env!("CARGO_BIN_EXE_dragoman"));
    command
        .current_dir(folder)
        .env_clear()
        .env("HOME", folder)
        .env("PATH", "/usr/bin:/bin")
        .kill_on_drop(true);
    command
}

/// Runs the program in `folder` with these arguments, and with `stdin` as its input.
pub(crate) async fn in_folder(folder: &Folder, args: &[&str], stdin: &str) -> Run {
    let mut command = command(&folder.0);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let mut pipe = child.stdin.take().expect("a pipe");
    // It is not a fault if a program does not read its input.
    let _ = pipe.write_all(stdin.as_bytes()).await;
    drop(pipe);
    let ended =
        tokio::time::timeout(DEADLINE, child.wait_with_output()).await.expect("in time").expect("it ends");
    let err = String::from_utf8(ended.stderr).expect("text");
    Run { code: ended.status.code(), out: ended.stdout, err }
}

/// Runs the program in an empty folder.
pub(crate) async fn dragoman(args: &[&str]) -> Run {
    in_folder(&Folder::new(), args, "").await
}

/// A well-behaved server over HTTP in this process, which runs as long as the returned value exists.
pub(crate) async fn server(eras: Eras) -> Running {
    let any = std::net::SocketAddr::from((std::net::Ipv4Addr::LOCALHOST, 0));
    serve_http(any, Options { eras, ..Options::default() }).await.expect("a free port").1
}

/// The program that is the same server over stdio; it is built when this process first asks for it.
pub(crate) fn program() -> &'static str {
    static PATH: OnceLock<String> = OnceLock::new();
    PATH.get_or_init(|| testkit::fixture::program().to_str().expect("a path in UTF-8").to_owned())
}

/// Compares with a file next to the tests; with `DRAGOMAN_UPDATE_GOLDEN` set, writes it instead.
pub(crate) fn golden(name: &str, text: &str) {
    let text = text.replace(env!("CARGO_PKG_VERSION"), "VERSION");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/golden").join(name);
    if std::env::var_os("DRAGOMAN_UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &text).expect("a file");
    }
    let want = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(text == want, "{name} has changed (DRAGOMAN_UPDATE_GOLDEN=1 accepts that); it is now:\n{text}");
}
