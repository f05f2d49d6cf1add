//! An HTTP/1.1 client that hides nothing: one connection a request, headers as given, events as they come.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::net::SocketAddr;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use super::soon;

/// Names and values of headers. A value of `-` leaves out a header that is sent by default.
pub(crate) type Headers<'a> = &'a [(&'a str, &'a str)];

/// Where to connect to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Http {
    pub(crate) address: SocketAddr,
    /// What every request shows in `Authorization`, unless its own headers say otherwise.
    shows: Option<&'static str>,
}

impl Http {
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self { address, shows: None }
    }

    /// The same as somebody who shows `value` in `Authorization`.
    pub(crate) fn showing(self, value: &str) -> Self {
        // A few bytes for as long as the test lasts, so that clients stay as easily copied as they are.
        Self { shows: Some(Box::leak(value.to_owned().into_boxed_str())), ..self }
    }

    /// A bare connection.
    pub(crate) async fn connect(self) -> TcpStream {
        soon("a connection", TcpStream::connect(self.address)).await.expect("the gateway listens")
    }

    /// Sends these bytes as they are, and leaves the answer unread.
    pub(crate) async fn raw(self, bytes: &[u8]) -> TcpStream {
        let mut stream = self.connect().await;
        // What is refused half-way need not be taken to its end.
        let _ = soon("room to write", stream.write_all(bytes)).await;
        stream
    }

    /// The bytes of a request: `Host`, `Content-Type` and `Accept` as they ought to be, unless `headers` names them.
    pub(crate) fn head(self, method: &str, path: &str, headers: Headers<'_>, length: usize) -> String {
        let host = self.address.to_string();
        let mut all = vec![
            ("Host", host.as_str()),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        all.extend(self.shows.map(|value| ("Authorization", value)));
        all.retain(|(name, _)| headers.iter().all(|(given, _)| !given.eq_ignore_ascii_case(name)));
        all.extend(headers.iter().filter(|(_, value)| *value != "-"));
        let mut head = format!("{method} {path} HTTP/1.1\r\nContent-Length: {length}\r\n");
        for (name, value) in all {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        head.push_str("\r\n");
        head
    }

    /// Sends a request and reads the head of the answer.
    pub(crate) async fn send(self, method: &str, path: &str, headers: Headers<'_>, body: &[u8]) -> Reply {
        let mut bytes = self.head(method, path, headers, body.len()).into_bytes();
        bytes.extend_from_slice(body);
        Reply::read(self.raw(&bytes).await).await
    }

    pub(crate) async fn post(self, path: &str, headers: Headers<'_>, body: &str) -> Reply {
        self.send("POST", path, headers, body.as_bytes()).await
    }

    pub(crate) async fn get(self, path: &str, headers: Headers<'_>) -> Reply {
        self.send("GET", path, headers, b"").await
    }

    pub(crate) async fn delete(self, path: &str, headers: Headers<'_>) -> Reply {
        self.send("DELETE", path, headers, b"").await
    }
}

enum Framing {
    Length(usize),
    Chunked,
    UntilClose,
}

/// An answer whose head has been read.
pub(crate) struct Reply {
    pub(crate) status: u16,
    /// By lower-case name.
    pub(crate) headers: HashMap<String, String>,
    body: BufReader<TcpStream>,
    framing: Framing,
    pending: Vec<u8>,
    over: bool,
}

impl Reply {
    /// Reads the head of an answer.
    pub(crate) async fn read(stream: TcpStream) -> Self {
        soon("the head of an answer", Self::try_read(stream)).await.expect("an answer's head")
    }

    /// Reads the head of an answer if there is one: `None` when the connection ends before.
    pub(crate) async fn try_read(stream: TcpStream) -> Option<Self> {
        let mut body = BufReader::new(stream);
        let mut line = String::new();
        if body.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        let status = line.split(' ').nth(1).and_then(|code| code.parse().ok())?;
        let mut headers = HashMap::new();
        loop {
            line.clear();
            body.read_line(&mut line).await.ok()?;
            match line.trim_end().split_once(':') {
                Some((name, value)) => headers.insert(name.to_ascii_lowercase(), value.trim().to_owned()),
                None => break,
            };
        }
        let length = headers.get("content-length").and_then(|value| value.parse().ok());
        let chunked = headers.get("transfer-encoding").is_some_and(|value| value == "chunked");
        let framing = match length {
            _ if chunked => Framing::Chunked,
            Some(length) => Framing::Length(length),
            None if matches!(status, 204 | 304) => Framing::Length(0),
            None => Framing::UntilClose,
        };
        Some(Self { status, headers, body, framing, pending: Vec::new(), over: false })
    }

    /// The value of a header, or nothing.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(&name.to_ascii_lowercase()).map_or("", String::as_str)
    }

    /// Whether it is an event stream.
    pub(crate) fn is_stream(&self) -> bool {
        self.header("content-type").starts_with("text/event-stream")
    }

    /// Takes more of the body into `pending`; `false` at its end.
    async fn more(&mut self) -> bool {
        if self.over {
            return false;
        }
        let count = match self.framing {
            Framing::Length(count) => {
                self.over = true;
                count
            }
            Framing::UntilClose => {
                let read = self.body.read_buf(&mut self.pending).await;
                self.over = !matches!(read, Ok(1..));
                return !self.over;
            }
            Framing::Chunked => {
                let mut size = String::new();
                if !matches!(self.body.read_line(&mut size).await, Ok(1..)) {
                    self.over = true;
                    return false;
                }
                usize::from_str_radix(size.trim(), 16).expect("a chunk's size")
            }
        };
        let at = self.pending.len();
        self.pending.resize(at + count, 0);
        self.body.read_exact(&mut self.pending[at..]).await.expect("as many bytes as were announced");
        if matches!(self.framing, Framing::Chunked) {
            let mut end = String::new();
            self.body.read_line(&mut end).await.expect("the end of a chunk");
            self.over = count == 0;
        }
        count > 0
    }

    /// The whole body.
    pub(crate) async fn bytes(&mut self) -> Vec<u8> {
        soon("the whole body", async { while self.more().await {} }).await;
        std::mem::take(&mut self.pending)
    }

    /// The whole body; how much of it there was, when the connection ended before it.
    pub(crate) async fn into_body(mut self) -> Result<Vec<u8>, usize> {
        let Framing::Length(length) = self.framing else { return Ok(self.bytes().await) };
        let mut body = Vec::new();
        let mut rest = self.body.take(length as u64);
        // A connection that is reset has ended too.
        let _ = soon("the end of the body", rest.read_to_end(&mut body)).await;
        if body.len() == length { Ok(body) } else { Err(body.len()) }
    }

    /// The whole body, which is text.
    pub(crate) async fn text(&mut self) -> String {
        String::from_utf8(self.bytes().await).expect("UTF-8")
    }

    /// The whole body, which is JSON.
    pub(crate) async fn json(&mut self) -> Value {
        let text = self.text().await;
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("status {}, {e}: {text:?}", self.status))
    }

    /// The next event with all its lines; `None` at the end of the stream.
    pub(crate) async fn event(&mut self) -> Option<String> {
        soon("the next event", async {
            loop {
                if let Some(at) = self.pending.windows(2).position(|two| two == b"\n\n") {
                    let event: Vec<u8> = self.pending.drain(..at + 2).collect();
                    return Some(String::from_utf8(event).expect("UTF-8").trim_end_matches('\n').to_owned());
                }
                if !self.more().await {
                    return None;
                }
            }
        })
        .await
    }

    /// The text of the next message of the stream; `None` at its end.
    pub(crate) async fn data(&mut self) -> Option<String> {
        loop {
            let event = self.event().await?;
            let lines: Vec<&str> = event
                .lines()
                .filter_map(|line| line.strip_prefix("data:"))
                .map(|data| data.strip_prefix(' ').unwrap_or(data))
                .collect();
            if lines.iter().any(|line| !line.is_empty()) {
                return Some(lines.join("\n"));
            }
        }
    }

    /// The next message of the stream; `None` at its end.
    pub(crate) async fn message(&mut self) -> Option<Value> {
        let data = self.data().await?;
        Some(serde_json::from_str(&data).unwrap_or_else(|e| panic!("{e}: {data:?}")))
    }

    /// The response, whether it comes as JSON or as the last message of a stream.
    pub(crate) async fn response(&mut self) -> Value {
        if !self.is_stream() {
            return self.json().await;
        }
        loop {
            let message = self.message().await.expect("a response before the stream ends");
            if message.get("method").is_none() {
                return message;
            }
        }
    }
}
