//! A client over HTTP/1.1 that sends what a transcript says and shows what came: one connection a request.

use std::fmt::Write as _;
use std::net::SocketAddr;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use crate::process::soon;

/// An answer whose head has been read.
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Names in lower case and values.
    pub(crate) headers: Vec<(String, String)>,
    stream: BufReader<TcpStream>,
    pending: Vec<u8>,
    over: bool,
}

/// Sends a request: as `curl` would, unless `headers` say otherwise.
pub(crate) async fn send(address: SocketAddr, head: &[String], body: &str) -> Result<Answer, String> {
    let (line, headers) = head.split_first().ok_or("a request without a head")?;
    let mut text = format!("{line} HTTP/1.1\r\n");
    let named = |name: &str| {
        let is = |line: &String| line.split_once(':').is_some_and(|(one, _)| one.eq_ignore_ascii_case(name));
        headers.iter().any(is)
    };
    let length = body.len().to_string();
    let posts = line.starts_with("POST ");
    for (name, value, wanted) in [
        ("Host", address.to_string().as_str(), true),
        ("Accept", "*/*", true),
        ("Content-Type", "application/json", posts),
        ("Content-Length", &length, posts || !body.is_empty()),
    ] {
        if wanted && !named(name) {
            let _ = write!(text, "{name}: {value}\r\n");
        }
    }
    for header in headers {
        let _ = write!(text, "{header}\r\n");
    }
    text.push_str("\r\n");
    text.push_str(body);
    let read = async {
        let mut stream = TcpStream::connect(address).await.map_err(|e| format!("no connection: {e}"))?;
        // What is refused half-way need not be taken to its end.
        let _ = stream.write_all(text.as_bytes()).await;
        Answer::read(BufReader::new(stream)).await
    };
    soon("the head of an answer", read).await?
}

impl Answer {
    async fn read(mut stream: BufReader<TcpStream>) -> Result<Self, String> {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            let count = stream.read_line(&mut line).await.map_err(|e| e.to_string())?;
            match line.trim_end() {
                "" if count == 0 => return Err(format!("the connection ended in the head: {lines:?}")),
                "" => break,
                line => lines.push(line.to_owned()),
            }
        }
        let status = lines.first().and_then(|line| line.split(' ').nth(1)?.parse().ok());
        let status = status.ok_or_else(|| format!("no status: {lines:?}"))?;
        let pair = |line: &String| {
            line.split_once(':').map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        };
        let headers = lines.iter().skip(1).filter_map(pair).collect();
        Ok(Self { status, headers, stream, pending: Vec::new(), over: false })
    }

    /// The value of a header by its name in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Whether it is an event stream.
    pub(crate) fn is_stream(&self) -> bool {
        self.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"))
    }

    /// The whole body.
    pub(crate) async fn body(&mut self) -> Result<String, String> {
        soon("the whole body", async {
            while self.more().await? {}
            Ok::<_, String>(())
        })
        .await??;
        String::from_utf8(std::mem::take(&mut self.pending)).map_err(|e| e.to_string())
    }

    /// The lines of the next event; `None` at the end of the stream.
    pub(crate) async fn event(&mut self) -> Result<Option<Vec<String>>, String> {
        soon("the next event", async {
            loop {
                let text = String::from_utf8_lossy(&self.pending).replace("\r\n", "\n");
                if let Some((event, rest)) = text.split_once("\n\n") {
                    let lines = event.lines().map(|line| line.trim_end().to_owned()).collect();
                    self.pending = rest.as_bytes().to_vec();
                    return Ok(Some(lines));
                }
                if !self.more().await? {
                    return Ok(None);
                }
            }
        })
        .await?
    }

    /// Takes more of the body into `pending`; `false` at its end.
    async fn more(&mut self) -> Result<bool, String> {
        if self.over {
            return Ok(false);
        }
        let failed = |e: std::io::Error| format!("the body: {e}");
        if self.header("transfer-encoding") == Some("chunked") {
            let mut size = String::new();
            self.stream.read_line(&mut size).await.map_err(failed)?;
            if size.is_empty() {
                self.over = true;
                return Ok(false);
            }
            let size = usize::from_str_radix(size.trim(), 16).map_err(|e| format!("{size:?}: {e}"))?;
            self.take(size).await?;
            let mut end = String::new();
            self.stream.read_line(&mut end).await.map_err(failed)?;
            self.over = size == 0;
            return Ok(size > 0);
        }
        self.over = true;
        match self.header("content-length").map(str::parse) {
            Some(Ok(length)) => self.take(length).await?,
            _ if matches!(self.status, 204 | 304) => {}
            _ => {
                self.stream.read_to_end(&mut self.pending).await.map_err(failed)?;
            }
        }
        Ok(!self.pending.is_empty())
    }

    async fn take(&mut self, count: usize) -> Result<(), String> {
        let at = self.pending.len();
        self.pending.resize(at + count, 0);
        let read = self.stream.read_exact(&mut self.pending[at..]).await;
        read.map(drop).map_err(|e| format!("{count} bytes were announced: {e}"))
    }
}
