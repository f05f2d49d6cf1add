//! Low-level requests over HTTP/1.1: one connection per request, with headers as given. This module must not know MCP.

use std::fmt::Write as _;
use std::net::SocketAddr;

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::{Reply, soon};

/// Names and values of headers. A value of `-` leaves out a header that is sent by default.
pub type Headers<'a> = &'a [(&'a str, &'a str)];

/// A server's address, and the caller's credentials.
#[derive(Clone, Copy, Debug)]
pub struct Http {
    /// The address that each request connects to.
    pub address: SocketAddr,
    /// The `Authorization` header of every request, unless the request's own headers contain one.
    shows: Option<&'static str>,
    /// Additional headers of every request, unless the request's own headers contain them.
    carries: &'static [(&'static str, &'static str)],
}

impl Http {
    /// A client without an `Authorization` header.
    pub fn new(address: SocketAddr) -> Self {
        Self { address, shows: None, carries: &[] }
    }

    /// The same client with `value` in `Authorization`.
    #[must_use]
    pub fn showing(self, value: &str) -> Self {
        // Leaks a few bytes until the test ends, so that clients stay `Copy`.
        Self { shows: Some(Box::leak(value.to_owned().into_boxed_str())), ..self }
    }

    /// The same client with one more header on each request.
    #[must_use]
    pub fn carrying(self, name: &str, value: &str) -> Self {
        // Leaked as above.
        let one = (&*name.to_owned().leak(), &*value.to_owned().leak());
        let carries = self.carries.iter().copied().chain([one]).collect::<Vec<_>>().leak();
        Self { carries, ..self }
    }

    /// Opens a bare connection.
    pub async fn connect(self) -> TcpStream {
        soon("a connection", TcpStream::connect(self.address)).await.expect("the server listens")
    }

    /// Sends these bytes unchanged, and leaves the answer unread.
    pub async fn raw(self, bytes: &[u8]) -> TcpStream {
        let mut stream = self.connect().await;
        // A server that refuses a request early need not read it to its end.
        let _ = soon("room to write", stream.write_all(bytes)).await;
        stream
    }

    /// The head of a request, with correct `Host`, `Content-Type` and `Accept` headers unless `headers` names them.
    pub fn head(self, method: &str, path: &str, headers: Headers<'_>, length: usize) -> String {
        let host = self.address.to_string();
        let mut all = vec![
            ("Host", host.as_str()),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        all.extend(self.shows.map(|value| ("Authorization", value)));
        all.extend(self.carries);
        all.retain(|(name, _)| headers.iter().all(|(given, _)| !given.eq_ignore_ascii_case(name)));
        all.extend(headers.iter().filter(|(_, value)| *value != "-"));
        let mut head = format!("{method} {path} HTTP/1.1\r\nContent-Length: {length}\r\n");
        for (name, value) in all {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        head.push_str("\r\n");
        head
    }

    /// Sends a request, and leaves the answer unread.
    pub async fn start(self, method: &str, path: &str, headers: Headers<'_>, body: &[u8]) -> TcpStream {
        let mut bytes = self.head(method, path, headers, body.len()).into_bytes();
        bytes.extend_from_slice(body);
        self.raw(&bytes).await
    }

    /// Sends a request and reads the head of the answer.
    pub async fn send(self, method: &str, path: &str, headers: Headers<'_>, body: &[u8]) -> Reply {
        Reply::read(self.start(method, path, headers, body).await).await
    }

    /// Sends a POST and reads the head of the answer.
    pub async fn post(self, path: &str, headers: Headers<'_>, body: &str) -> Reply {
        self.send("POST", path, headers, body.as_bytes()).await
    }

    /// Sends a GET and reads the head of the answer.
    pub async fn get(self, path: &str, headers: Headers<'_>) -> Reply {
        self.send("GET", path, headers, b"").await
    }

    /// Sends a DELETE and reads the head of the answer.
    pub async fn delete(self, path: &str, headers: Headers<'_>) -> Reply {
        self.send("DELETE", path, headers, b"").await
    }
}
