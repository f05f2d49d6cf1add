//! Running the program in a folder that outlives the run.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::Value;
use tokio::process::Command;

/// The deadline of a step: on a working machine, no step takes longer, however busy the machine is.
pub(crate) const DEADLINE: Duration = Duration::from_mins(2);

/// The outcome of a run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Run {
    /// Its output as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    /// The same run, which must have succeeded.
    pub(crate) fn good(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:?}");
        self
    }

    /// The same run, which must have ended with this exit code, with these texts on stderr and nothing on stdout.
    pub(crate) fn refused(self, code: i32, said: &[&str]) -> Self {
        assert_eq!((self.code, self.out.as_str()), (Some(code), ""), "{self:?}");
        assert!(said.iter().all(|part| self.err.contains(part)), "{said:?} in {self:?}");
        self
    }
}

/// A user's home folder for one test, removed when dropped.
pub(crate) struct Home(pub(crate) PathBuf);

impl Home {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("dragoman-keys-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    /// The same folder with one more file.
    pub(crate) fn with(self, name: &str, text: &str) -> Self {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
        self
    }

    /// The default state folder.
    pub(crate) fn state(&self) -> PathBuf {
        self.0.join(".local/share/dragoman")
    }

    /// The program in this folder, without the rest of this environment.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        #[expect(clippy::disallowed_methods, reason = "the program under test, which nobody supervises")]
        let mut command = Command::new(env!("CARGO_BIN_EXE_dragoman"));
        command.args(args).current_dir(&self.0).env_clear().env("HOME", &self.0);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        command
    }

    /// Runs the program.
    pub(crate) async fn run(&self, args: &[&str]) -> Run {
        ended(self.command(args)).await
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// Runs a command to its end.
pub(crate) async fn ended(mut command: Command) -> Run {
    let output = tokio::time::timeout(DEADLINE, command.output()).await.expect("in time").expect("it starts");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    Run { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// The permissions of a file or folder.
pub(crate) fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("it is there").permissions().mode() & 0o777
}

/// Returns true if a text appears in any file of a folder or its subfolders.
pub(crate) fn holds(folder: &Path, text: &str) -> bool {
    fs::read_dir(folder).expect("a folder").any(|entry| {
        let path = entry.expect("it can be listed").path();
        if path.is_dir() {
            return holds(&path, text);
        }
        fs::read(path).expect("a file").windows(text.len()).any(|window| window == text.as_bytes())
    })
}

/// Compares with a file next to the tests; with `DRAGOMAN_UPDATE_GOLDEN` set, writes it instead.
pub(crate) fn golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/keys_and_audit/golden").join(name);
    if std::env::var_os("DRAGOMAN_UPDATE_GOLDEN").is_some() {
        fs::write(&path, text).expect("a file");
    }
    let want = fs::read_to_string(&path).unwrap_or_default();
    assert!(text == want, "{name} has changed (DRAGOMAN_UPDATE_GOLDEN=1 accepts that); it is now:\n{text}");
}
