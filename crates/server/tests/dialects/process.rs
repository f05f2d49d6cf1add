//! Processes of Dragoman: a server with its address, one that uses pipes, one that prints and ends.

use std::path::PathBuf;
use std::process::Stdio as Pipe;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::{Pid, Signal, kill_process};
use testkit::client::within;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::watch;

/// A started process in a separate folder. Dropping it kills the process and removes the folder.
pub(crate) struct Process {
    child: Child,
    input: Option<ChildStdin>,
    lines: BufReader<ChildStdout>,
    log: watch::Receiver<(String, bool)>,
    folder: PathBuf,
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Process {
    /// Starts `dragoman ARGS`, with a configuration if there is one.
    pub(crate) fn start(args: &[&str], env: &[(String, String)], config: &str) -> Result<Self, String> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("dialects-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
        #[expect(clippy::disallowed_methods, reason = "the process under test has no supervisor above it")]
        let mut process = Command::new(env!("CARGO_BIN_EXE_dragoman"));
        process.args(args);
        if !config.is_empty() {
            let file = folder.join("extension.yaml");
            std::fs::write(&file, config).map_err(|e| e.to_string())?;
            process.arg("--config").arg(file);
        }
        process.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", &folder);
        process.envs(env.iter().map(|(name, value)| (name, value))).current_dir(&folder);
        process.stdin(Pipe::piped()).stdout(Pipe::piped()).stderr(Pipe::piped()).kill_on_drop(true);
        let mut child = process.spawn().map_err(|e| e.to_string())?;
        let input = child.stdin.take();
        let lines = BufReader::new(child.stdout.take().ok_or("a pipe")?);
        let mut errors = BufReader::new(child.stderr.take().ok_or("a pipe")?);
        let (sender, log) = watch::channel((String::new(), false));
        tokio::spawn(async move {
            let mut line = Vec::new();
            while matches!(errors.read_until(b'\n', &mut line).await, Ok(1..)) {
                sender.send_modify(|(text, _)| text.push_str(&String::from_utf8_lossy(&line)));
                line.clear();
            }
            sender.send_modify(|(_, ended)| *ended = true);
        });
        Ok(Self { child, input, lines, log, folder })
    }

    /// Sends a line.
    pub(crate) async fn send(&mut self, line: &str) -> Result<(), String> {
        let input = self.input.as_mut().ok_or("the input is closed")?;
        let written = within("room in stdin", input.write_all(format!("{line}\n").as_bytes())).await?;
        written.map_err(|e| format!("stdin: {e}\n{}", self.logged()))
    }

    /// The next line; `None` at the end.
    pub(crate) async fn line(&mut self) -> Result<Option<String>, String> {
        let mut line = String::new();
        let count = within("a line", self.lines.read_line(&mut line)).await?.map_err(|e| e.to_string())?;
        Ok((count > 0).then(|| line.trim_end_matches('\n').to_owned()))
    }

    /// Closes the input and waits for the end, without another line.
    pub(crate) async fn close(&mut self) -> Result<(), String> {
        let rest = self.rest().await?;
        if rest.is_empty() { Ok(()) } else { Err(format!("more came before the end: {rest}")) }
    }

    /// Closes its input and returns everything that it prints until it ends; an error if it fails.
    pub(crate) async fn rest(&mut self) -> Result<String, String> {
        drop(self.input.take());
        let mut rest = String::new();
        within("the end of stdout", self.lines.read_to_string(&mut rest))
            .await?
            .map_err(|e| e.to_string())?;
        let status = within("its end", self.child.wait()).await?.map_err(|e| e.to_string())?;
        if status.success() { Ok(rest) } else { Err(format!("{status}: {rest}{}", self.logged())) }
    }

    /// Tells it to stop.
    pub(crate) fn stop(&self) -> Result<(), String> {
        let pid = self.child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        kill_process(pid.ok_or("it has ended")?, Signal::TERM).map_err(|e| e.to_string())
    }

    /// Its log.
    pub(crate) fn logged(&self) -> String {
        self.log.borrow().0.clone()
    }

    /// Waits until a line of its log satisfies `fits`.
    pub(crate) async fn has_logged(&self, mut fits: impl FnMut(&str) -> bool) -> bool {
        let mut log = self.log.clone();
        let seen = log.wait_for(|(text, ended)| *ended || text.lines().any(&mut fits));
        // The log is complete only after its writer has ended.
        within("a line of the log", async { drop(seen.await) }).await.ok();
        self.logged().lines().any(fits)
    }
}
