//! Messages over pipes, one per line. This module must not know the program at the other end.

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};

use super::message::{hello, notification};
use super::{request, soon};

/// Both pipes, and the next ID.
pub struct Lines {
    input: Option<Box<dyn AsyncWrite + Send + Sync + Unpin>>,
    output: BufReader<Box<dyn AsyncRead + Send + Sync + Unpin>>,
    next: u64,
}

impl Lines {
    /// A client that writes to the other side's `input`, and reads its `output`.
    pub fn new(
        input: impl AsyncWrite + Send + Sync + Unpin + 'static,
        output: impl AsyncRead + Send + Sync + Unpin + 'static,
    ) -> Self {
        Self { input: Some(Box::new(input)), output: BufReader::new(Box::new(output)), next: 1 }
    }

    /// Performs the handshake; returns the answer to `initialize`.
    pub async fn initialize(&mut self, version: &str, capabilities: &Value) -> Value {
        let answer = self.ask("initialize", &hello(&json!(version), capabilities)).await;
        self.send(&notification("notifications/initialized", &Value::Null).to_string()).await;
        answer
    }

    /// Sends a line unchanged.
    pub async fn send(&mut self, line: &str) {
        self.send_bytes(line.as_bytes()).await;
        self.send_bytes(b"\n").await;
    }

    /// Sends bytes unchanged.
    pub async fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("stdin is open");
        soon("room in stdin", input.write_all(bytes)).await.expect("it reads");
    }

    /// Closes the pipe to the other side.
    pub fn close_input(&mut self) {
        self.input = None;
    }

    /// The next line, unchanged; `None` at the end.
    pub async fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let count = soon("a line", self.output.read_line(&mut line)).await.expect("UTF-8");
        (count > 0).then(|| line.trim_end_matches('\n').to_owned())
    }

    /// The next message.
    pub async fn message(&mut self) -> Value {
        let line = self.line().await.expect("a line before stdout ends");
        serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line:?}"))
    }

    /// The next message that answers `id`; other messages are skipped.
    pub async fn answer(&mut self, id: &Value) -> Value {
        loop {
            let message = self.message().await;
            if message.get("method").is_none() && message.get("id") == Some(id) {
                return message;
            }
        }
    }

    /// Sends a request and returns its id.
    pub async fn begin(&mut self, method: &str, params: &Value) -> Value {
        let id = self.next;
        self.next += 1;
        self.send(&request(id, method, params).to_string()).await;
        json!(id)
    }

    /// Sends a request and waits for its answer.
    pub async fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.begin(method, params).await;
        self.answer(&id).await
    }

    /// Calls a tool and waits for its answer.
    pub async fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({"name": tool, "arguments": arguments})).await
    }
}
