//! The process under test.

use std::path::PathBuf;
use std::process::Stdio as Pipe;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::Signal;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};
use tokio::sync::watch;

use super::process::kill;
use super::{Http, soon};

/// The output of a process so far, and a way to wait for more.
#[derive(Clone)]
pub(crate) struct Output(Arc<watch::Sender<(Vec<u8>, bool)>>);

impl Output {
    pub(crate) fn of(mut pipe: impl AsyncRead + Unpin + Send + 'static) -> Self {
        let output = Self(Arc::new(watch::Sender::default()));
        let own = output.clone();
        tokio::spawn(async move {
            let mut chunk = vec![0; 64 << 10];
            while let Ok(count @ 1..) = pipe.read(&mut chunk).await {
                own.0.send_modify(|(text, _)| text.extend_from_slice(&chunk[..count]));
            }
            own.0.send_modify(|(_, ended)| *ended = true);
        });
        output
    }

    /// All output so far.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.borrow().0).into_owned()
    }

    /// Waits until it contains `wanted`.
    pub(crate) async fn has(&self, wanted: &str) {
        let mut seen = self.0.subscribe();
        let wait = seen.wait_for(|(text, ended)| *ended || String::from_utf8_lossy(text).contains(wanted));
        soon(wanted, async { drop(wait.await) }).await;
        let text = self.text();
        assert!(text.contains(wanted), "the output ended without {wanted:?}:\n{text}");
    }

    /// Waits until it contains `wanted` this number of times.
    pub(crate) async fn has_times(&self, wanted: &str, times: usize) {
        let mut seen = self.0.subscribe();
        let count = |text: &[u8]| String::from_utf8_lossy(text).matches(wanted).count();
        let wait = seen.wait_for(|(text, ended)| *ended || count(text) >= times);
        soon(wanted, async { drop(wait.await) }).await;
        assert!(count(&self.0.borrow().0) >= times, "not {times} times {wanted:?}:\n{}", self.text());
    }

    /// Waits for its end.
    pub(crate) async fn ended(&self) -> String {
        let mut seen = self.0.subscribe();
        soon("the end of the output", async { drop(seen.wait_for(|(_, ended)| *ended).await) }).await;
        self.text()
    }
}

/// A folder for one test, removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("gateway-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&path).expect("a folder in the target folder");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The settings for starting a process of ours.
#[derive(Clone, Default)]
pub(crate) struct Start<'a> {
    /// The configuration file's text.
    pub(crate) config: &'a str,
    /// Arguments after the command and `--config FILE`.
    pub(crate) args: &'a [&'a str],
    /// Environment variables in addition to the few that it needs.
    pub(crate) env: &'a [(&'a str, &'a str)],
    /// Further files next to the configuration: name and text.
    pub(crate) files: &'a [(&'a str, &'a str)],
    /// True to listen on the configured address; otherwise, at a free port of this machine.
    pub(crate) own_listen: bool,
    /// A program with its arguments that executes the command after them.
    pub(crate) under: &'a [&'a str],
}

/// The outcome of a process.
pub(crate) struct Ended {
    /// The exit code, if no signal ended it.
    pub(crate) code: Option<i32>,
    /// Everything that it wrote to stdout.
    pub(crate) out: String,
    /// Everything that it wrote to stderr.
    pub(crate) err: String,
}

/// A started process with its folder.
pub(crate) struct Started {
    pub(crate) child: Child,
    pub(crate) out: Option<tokio::process::ChildStdout>,
    pub(crate) err: Output,
    folder: Folder,
}

/// Its log explains a failed test better than the test can.
impl Drop for Started {
    #[expect(clippy::print_stderr, reason = "the test harness shows it with the failure")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the log of the process under test:\n{}", self.err.text());
        }
    }
}

/// The default time for which a list waits for servers: long enough for a busy machine. Tests list at once, and expect the
/// final list.
const LIST_WAIT: &str = "listWait: 8s";

/// A configuration with which lists wait for servers.
fn patient(config: &str) -> String {
    if config.contains("listWait") || !config.contains("mcpServers:") || config.starts_with('{') {
        return config.to_owned();
    }
    let config = format!("\n{config}");
    let patient = if config.contains("\nlimits: {}") {
        config.replacen("\nlimits: {}", &format!("\nlimits: {{ {LIST_WAIT} }}"), 1)
    } else if config.contains("\nlimits: {") {
        config.replacen("\nlimits: {", &format!("\nlimits: {{ {LIST_WAIT},"), 1)
    } else if config.contains("\nlimits:\n") {
        config.replacen("\nlimits:\n", &format!("\nlimits:\n  {LIST_WAIT}\n"), 1)
    } else {
        format!("{}\nlimits: {{ {LIST_WAIT} }}\n", config.trim_end())
    };
    patient[1..].to_owned()
}

/// The program under test.
const DRAGOMAN: &str = env!("CARGO_BIN_EXE_dragoman");

/// Starts `dragoman COMMAND --config FILE ARGS` in a separate folder, with all three pipes.
pub(crate) fn start(command: &str, start: &Start<'_>) -> Started {
    let folder = Folder::new();
    let file = folder.0.join("dragoman.yaml");
    std::fs::write(&file, patient(start.config)).expect("a file in the own folder");
    for (name, text) in start.files {
        std::fs::write(folder.0.join(name), text).expect("a file in the own folder");
    }
    #[expect(clippy::disallowed_methods, reason = "the process under test has no supervisor above it")]
    let mut process = Command::new(start.under.first().unwrap_or(&DRAGOMAN));
    if let Some(args) = start.under.get(1..) {
        process.args(args).arg(DRAGOMAN);
    }
    process.arg(command).arg("--config").arg(&file).args(start.args);
    // Tests read the log as people do.
    process.env("DRAGOMAN_LOG_FORMAT", "pretty");
    process.env_remove("DRAGOMAN_LOG").env("HOME", &folder.0).env_remove("XDG_CONFIG_HOME");
    process.envs(start.env.iter().copied()).current_dir(&folder.0);
    process.stdin(Pipe::piped()).stdout(Pipe::piped()).stderr(Pipe::piped()).kill_on_drop(true);
    let mut child = process.spawn().expect("the program starts");
    let err = Output::of(child.stderr.take().expect("a pipe"));
    let out = child.stdout.take();
    Started { child, out, err, folder }
}

/// Runs a command that ends by itself.
pub(crate) async fn run_to_end(command: &str, with: &Start<'_>) -> Ended {
    let mut started = start(command, with);
    drop(started.child.stdin.take());
    let out = Output::of(started.out.take().expect("a pipe"));
    let status = soon("the program's end", started.child.wait()).await.expect("a child can be awaited");
    Ended { code: status.code(), out: out.ended().await, err: started.err.ended().await }
}

/// A gateway that serves over HTTP; killed when dropped.
pub(crate) struct Gateway {
    process: Started,
    out: Output,
    http: Http,
}

impl Gateway {
    /// Starts `dragoman serve` with this configuration on a free port and waits until it is ready.
    pub(crate) async fn start(config: &str) -> Self {
        Self::start_with(&Start { config, ..Start::default() }).await
    }

    /// Starts it with arguments and environment variables, and waits until it is ready.
    pub(crate) async fn start_with(with: &Start<'_>) -> Self {
        let ours: &[&str] =
            if with.own_listen { &["--json"] } else { &["--json", "--listen", "127.0.0.1:0"] };
        let args: Vec<&str> = ours.iter().chain(with.args).copied().collect();
        let mut process = start("serve", &Start { args: &args, ..with.clone() });
        let out = Output::of(process.out.take().expect("a pipe"));
        out.has("\n").await;
        let hello: Value = serde_json::from_str(out.text().trim())
            .unwrap_or_else(|e| panic!("{e}: {}\n{}", out.text(), process.err.text()));
        let url = hello["urls"][0].as_str().unwrap_or_else(|| panic!("no URL: {hello}"));
        let (scheme, rest) = url.split_once("://").expect("its form");
        let address = rest.strip_suffix("/mcp").expect("its form");
        let gateway = Self { process, out, http: Http::new(address.parse().expect("an address")) };
        // Tests of TLS have separate clients.
        if scheme == "http" {
            assert_eq!(gateway.http.get("/health", &[]).await.status, 200);
        }
        gateway
    }

    /// Waits until `/ready` reports success.
    pub(crate) async fn ready(&self) {
        let look = async { while self.http.get("/ready", &[]).await.status != 200 {} };
        soon("ready", look).await;
    }

    /// A client of it.
    pub(crate) fn http(&self) -> Http {
        self.http
    }

    /// Its process, which must be kept, and a client.
    pub(crate) fn parts(self) -> (Started, Http) {
        (self.process, self.http)
    }

    /// Its process ID.
    pub(crate) fn pid(&self) -> u32 {
        self.process.child.id().expect("it has not been awaited")
    }

    /// Its log.
    pub(crate) fn log(&self) -> &Output {
        &self.process.err
    }

    /// Its output.
    pub(crate) fn printed(&self) -> &Output {
        &self.out
    }

    /// The folder of its configuration, which no other gateway uses.
    pub(crate) fn folder(&self) -> &std::path::Path {
        &self.process.folder.0
    }

    /// Replaces its configuration file.
    pub(crate) fn write(&self, config: &str) {
        let folder = &self.process.folder.0;
        // This replaces the file atomically, because a reader must not see half of it.
        let new = folder.join("dragoman.yaml.new");
        std::fs::write(&new, patient(config)).expect("a file in the own folder");
        std::fs::rename(new, folder.join("dragoman.yaml")).expect("a file in the own folder");
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        kill(self.pid(), signal);
    }

    /// Waits for its end.
    pub(crate) async fn ended(mut self) -> Ended {
        let status =
            soon("the gateway's end", self.process.child.wait()).await.expect("a child can be awaited");
        Ended { code: status.code(), out: self.out.ended().await, err: self.process.err.ended().await }
    }

    /// Stops it with a regular shutdown.
    pub(crate) async fn stop(self) -> Ended {
        self.signal(Signal::TERM);
        self.ended().await
    }
}
