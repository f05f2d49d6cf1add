//! An answer over HTTP/1.1. A test can read any part of the answer. This module must not know how the connection
//! was opened: any stream works.

use std::collections::HashMap;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};

use super::{soon, within};

enum Framing {
    Length(usize),
    Chunked,
    UntilClose,
}

/// An answer whose head has been read. Dropping it closes the connection.
pub struct Reply {
    /// The status code.
    pub status: u16,
    /// The values by lower-case name; if a name occurs several times, the last value.
    pub headers: HashMap<String, String>,
    /// All lower-case names and values, in the order of arrival.
    pub fields: Vec<(String, String)>,
    body: BufReader<Box<dyn AsyncRead + Send + Sync + Unpin>>,
    framing: Framing,
    pending: Vec<u8>,
    over: bool,
}

impl Reply {
    /// Reads the head of an answer.
    pub async fn read(stream: impl AsyncRead + Send + Sync + Unpin + 'static) -> Self {
        soon("the head of an answer", Self::try_read(stream)).await.expect("an answer's head")
    }

    /// Reads the head of an answer; `None` if the connection ends before the head. It has no deadline.
    pub async fn try_read(stream: impl AsyncRead + Send + Sync + Unpin + 'static) -> Option<Self> {
        let mut body = BufReader::new(Box::new(stream) as Box<dyn AsyncRead + Send + Sync + Unpin>);
        let mut line = String::new();
        body.read_line(&mut line).await.ok()?;
        let status = line.split(' ').nth(1).and_then(|code| code.parse().ok())?;
        let mut fields = Vec::new();
        loop {
            line.clear();
            if body.read_line(&mut line).await.ok()? == 0 {
                return None;
            }
            match line.trim_end().split_once(':') {
                Some((name, value)) => fields.push((name.to_ascii_lowercase(), value.trim().to_owned())),
                None => break,
            }
        }
        let headers: HashMap<String, String> = fields.iter().cloned().collect();
        let length = headers.get("content-length").and_then(|value| value.parse().ok());
        let chunked = headers.get("transfer-encoding").is_some_and(|value| value == "chunked");
        let framing = match length {
            _ if chunked => Framing::Chunked,
            Some(length) => Framing::Length(length),
            None if matches!(status, 204 | 304) => Framing::Length(0),
            None => Framing::UntilClose,
        };
        Some(Self { status, headers, fields, body, framing, pending: Vec::new(), over: false })
    }

    /// The value of a header, or an empty text.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(&name.to_ascii_lowercase()).map_or("", String::as_str)
    }

    /// Returns true if it is an event stream.
    pub fn is_stream(&self) -> bool {
        self.header("content-type").starts_with("text/event-stream")
    }

    /// Reads more of the body into `pending`; returns `false` at its end.
    async fn more(&mut self) -> Result<bool, String> {
        if self.over {
            return Ok(false);
        }
        let count = match self.framing {
            Framing::Length(count) => {
                self.over = true;
                count
            }
            Framing::UntilClose => {
                let read = self.body.read_buf(&mut self.pending).await;
                self.over = !matches!(read, Ok(1..));
                return Ok(!self.over);
            }
            Framing::Chunked => {
                let mut size = String::new();
                if !matches!(self.body.read_line(&mut size).await, Ok(1..)) {
                    self.over = true;
                    return Ok(false);
                }
                usize::from_str_radix(size.trim(), 16).map_err(|e| format!("a chunk of {size:?}: {e}"))?
            }
        };
        let before = self.pending.len();
        let read = (&mut self.body).take(count as u64).read_to_end(&mut self.pending).await;
        let came = self.pending.len() - before;
        if came < count {
            return Err(format!("{count} bytes were announced, and {came} came: {read:?}"));
        }
        if matches!(self.framing, Framing::Chunked) {
            let end = self.body.read_line(&mut String::new()).await;
            end.map_err(|e| format!("the end of a chunk: {e}"))?;
            self.over = count == 0;
        }
        Ok(count > 0)
    }

    /// Reads the whole body; the error describes its fault.
    pub async fn try_bytes(&mut self) -> Result<Vec<u8>, String> {
        let read = async {
            while self.more().await? {}
            Ok::<(), String>(())
        };
        within("the whole body", read).await??;
        Ok(std::mem::take(&mut self.pending))
    }

    /// Reads the whole body.
    pub async fn bytes(&mut self) -> Vec<u8> {
        self.try_bytes().await.unwrap_or_else(|why| panic!("{why}"))
    }

    /// Reads the whole body. If the connection ends early, the error is the number of bytes that arrived.
    pub async fn into_body(mut self) -> Result<Vec<u8>, usize> {
        self.try_bytes().await.map_err(|_| self.pending.len())
    }

    /// Reads the whole body as text.
    pub async fn text(&mut self) -> String {
        String::from_utf8(self.bytes().await).expect("UTF-8")
    }

    /// Reads the whole body as JSON.
    pub async fn json(&mut self) -> Value {
        let text = self.text().await;
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("status {}, {e}: {text:?}", self.status))
    }

    /// The next event with all its lines; `None` at the end of the stream. The error describes a faulty end.
    pub async fn try_event(&mut self) -> Result<Option<String>, String> {
        let next = async {
            loop {
                let end = |at: usize| match &self.pending[at..] {
                    [b'\n', b'\n', ..] => Some(at + 2),
                    [b'\n', b'\r', b'\n', ..] => Some(at + 3),
                    _ => None,
                };
                if let Some(end) = (0..self.pending.len()).find_map(end) {
                    let event = String::from_utf8(self.pending.drain(..end).collect());
                    let event = event.map_err(|e| e.to_string())?;
                    return Ok(Some(event.trim_end_matches(['\r', '\n']).to_owned()));
                }
                if !self.more().await? {
                    return Ok(None);
                }
            }
        };
        within("the next event", next).await?
    }

    /// The next event with all its lines; `None` at the end of the stream.
    pub async fn event(&mut self) -> Option<String> {
        self.try_event().await.unwrap_or_else(|why| panic!("{why}"))
    }

    /// The text of the next message of the stream; `None` at its end.
    pub async fn data(&mut self) -> Option<String> {
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
    pub async fn message(&mut self) -> Option<Value> {
        let data = self.data().await?;
        Some(serde_json::from_str(&data).unwrap_or_else(|e| panic!("{e}: {data:?}")))
    }

    /// The response, either a JSON body or the last message of a stream.
    pub async fn response(&mut self) -> Value {
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
