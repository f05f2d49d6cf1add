//! A client of `dragoman stdio`.

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStdin, ChildStdout};

use super::gateway::{Ended, Output, Start, Started, start};
use super::session::{LEGACY, request};
use super::soon;

/// The process with its two pipes; killed when dropped.
pub(crate) struct Stdio {
    process: Started,
    input: Option<ChildStdin>,
    lines: BufReader<ChildStdout>,
    next: u64,
}

impl Stdio {
    /// Starts it with this configuration.
    pub(crate) fn start(config: &str) -> Self {
        Self::start_with(&Start { config, ..Start::default() })
    }

    /// The same with arguments and environment variables.
    pub(crate) fn start_with(with: &Start<'_>) -> Self {
        let mut process = start("stdio", with);
        let input = process.child.stdin.take();
        let lines = BufReader::new(process.out.take().expect("a pipe"));
        Self { process, input, lines, next: 1 }
    }

    /// Starts it and shakes hands in the newest version that has a handshake.
    pub(crate) async fn open(config: &str) -> Self {
        let mut client = Self::start(config);
        client.initialize(LEGACY, &json!({})).await;
        client
    }

    /// Shakes hands; the answer to `initialize`.
    pub(crate) async fn initialize(&mut self, version: &str, capabilities: &Value) -> Value {
        let params = json!({
            "protocolVersion": version, "capabilities": capabilities,
            "clientInfo": {"name": "test", "version": "1"},
        });
        let hello = self.ask("initialize", &params).await;
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string()).await;
        hello
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.process.child.id().expect("it has not been awaited")
    }

    /// What it has logged.
    pub(crate) fn log(&self) -> &Output {
        &self.process.err
    }

    /// Sends a line as it is.
    pub(crate) async fn send(&mut self, line: &str) {
        self.send_bytes(line.as_bytes()).await;
        self.send_bytes(b"\n").await;
    }

    /// Sends bytes as they are.
    pub(crate) async fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("stdin is open");
        soon("room in stdin", input.write_all(bytes)).await.expect("it reads");
    }

    /// The next line as it came; `None` at the end.
    pub(crate) async fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let count = soon("a line", self.lines.read_line(&mut line)).await.expect("UTF-8");
        (count > 0).then(|| line.trim_end_matches('\n').to_owned())
    }

    /// The next message.
    pub(crate) async fn message(&mut self) -> Value {
        let Some(line) = self.line().await else { panic!("stdout has ended:\n{}", self.process.err.text()) };
        serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line:?}"))
    }

    /// The next message that answers `id`; others are left out.
    pub(crate) async fn answer(&mut self, id: &Value) -> Value {
        loop {
            let message = self.message().await;
            if message.get("method").is_none() && message.get("id") == Some(id) {
                return message;
            }
        }
    }

    /// Sends a request and tells its id.
    pub(crate) async fn begin(&mut self, method: &str, params: &Value) -> Value {
        let id = self.next;
        self.next += 1;
        self.send(&request(id, method, params).to_string()).await;
        json!(id)
    }

    /// Sends a request and waits for its answer.
    pub(crate) async fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.begin(method, params).await;
        self.answer(&id).await
    }

    /// Calls a tool and waits for its answer.
    pub(crate) async fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({"name": tool, "arguments": arguments})).await
    }

    /// Waits for an end that comes by itself; nothing more is read.
    pub(crate) async fn ended(mut self) -> Ended {
        let status = soon("its end", self.process.child.wait()).await.expect("a child can be awaited");
        Ended { code: status.code(), out: String::new(), err: self.process.err.ended().await }
    }

    /// Closes stdin and waits for the end; `out` is what came after the last message that was read.
    pub(crate) async fn close(mut self) -> Ended {
        drop(self.input.take());
        let mut out = String::new();
        while let Some(line) = self.line().await {
            out.push_str(&line);
            out.push('\n');
        }
        let status = soon("its end", self.process.child.wait()).await.expect("a child can be awaited");
        Ended { code: status.code(), out, err: self.process.err.ended().await }
    }
}
