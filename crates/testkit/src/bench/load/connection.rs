//! One keep-alive connection: it writes a request and reads its response. This module must not know MCP.

use super::inbox::{Head, Inbox};
use std::net::{SocketAddr, ToSocketAddrs};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The smallest free buffer space for one read, in bytes.
const READ: usize = 16 << 10;

/// The destination of requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    address: SocketAddr,
    /// The `Host` header.
    host: String,
    path: String,
    /// Additional headers that every request contains, each with its line ending.
    headers: String,
}

impl std::str::FromStr for Target {
    type Err = String;

    /// Reads `http://HOST:PORT/PATH`.
    fn from_str(url: &str) -> Result<Self, String> {
        let rest = url.strip_prefix("http://").ok_or("the URL must begin with http://")?;
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let address =
            host.to_socket_addrs().map_err(|error| format!("{host}: {error}; give HOST:PORT"))?.next();
        Ok(Self {
            address: address.ok_or_else(|| format!("{host} has no address"))?,
            host: host.to_owned(),
            path: if path.is_empty() { "/".to_owned() } else { path.to_owned() },
            headers: String::new(),
        })
    }
}

impl Target {
    /// The same target, with a bearer token (RFC 6750, section 2.1) in every request.
    pub(super) fn with_bearer(self, token: &str) -> Self {
        Self { headers: format!("Authorization: Bearer {token}\r\n"), ..self }
    }

    /// A request's head up to its last header, without the blank line.
    pub(super) fn head(&self, method: &str, headers: &str) -> String {
        format!("{method} {} HTTP/1.1\r\nHost: {}\r\n{}{headers}", self.path, self.host, self.headers)
    }
}

/// A connection that is reopened if the server closed it after an answer.
#[derive(Debug)]
pub(super) struct Connection {
    address: SocketAddr,
    stream: Option<TcpStream>,
    inbox: Inbox,
}

impl Connection {
    pub(super) fn new(target: &Target) -> Self {
        Self { address: target.address, stream: None, inbox: Inbox::default() }
    }

    /// Sends a request and waits for its whole response, which remains available until the next call.
    pub(super) async fn exchange(&mut self, request: &[u8]) -> Result<(&Head, &[u8]), String> {
        self.send(request).await?;
        let mut ended = false;
        while !self.inbox.has_response(ended)? {
            ended = self.read().await?;
        }
        if ended {
            self.stream = None;
        }
        let head = self.inbox.head().ok_or("no response")?;
        Ok((head, self.inbox.body()))
    }

    /// Sends a request and waits for the response's head; the body may never end.
    pub(super) async fn open_stream(&mut self, request: &[u8]) -> Result<&Head, String> {
        self.send(request).await?;
        while !self.inbox.has_response(false)? && self.inbox.head().is_none() {
            if self.read().await? {
                return Err("the connection was closed without an answer".into());
            }
        }
        self.inbox.head().ok_or_else(|| "no response".into())
    }

    async fn send(&mut self, request: &[u8]) -> Result<(), String> {
        if self.inbox.head().is_some_and(|head| head.close) {
            self.stream = None;
        }
        self.inbox.release();
        if self.stream.is_none() {
            self.inbox.clear();
            let stream = TcpStream::connect(self.address).await;
            let stream = stream.map_err(|error| format!("connecting to {}: {error}", self.address))?;
            stream.set_nodelay(true).map_err(|error| format!("TCP_NODELAY: {error}"))?;
            self.stream = Some(stream);
        }
        match &mut self.stream {
            Some(stream) => stream.write_all(request).await.map_err(|error| format!("writing: {error}")),
            None => Err("not connected".into()),
        }
    }

    /// Reads the available bytes; returns true if the server has closed the connection.
    async fn read(&mut self) -> Result<bool, String> {
        let stream = self.stream.as_mut().ok_or("not connected")?;
        self.inbox.buffer.reserve(READ.max(self.inbox.missing()));
        let read =
            stream.read_buf(&mut self.inbox.buffer).await.map_err(|error| format!("reading: {error}"))?;
        Ok(read == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::Target;

    #[test]
    fn urls_are_read_or_refused() {
        let target: Target = "http://127.0.0.1:8808/mcp".parse().unwrap();
        assert_eq!(target.head("GET", "A: b\r\n"), "GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:8808\r\nA: b\r\n");
        assert_eq!(
            target.with_bearer("abc").head("GET", "A: b\r\n"),
            "GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:8808\r\nAuthorization: Bearer abc\r\nA: b\r\n"
        );
        assert_eq!("http://127.0.0.1:1".parse::<Target>().unwrap().path, "/");
        for url in ["127.0.0.1:1/mcp", "https://127.0.0.1:1/", "http://127.0.0.1/mcp", "http://"] {
            assert!(url.parse::<Target>().is_err(), "{url}");
        }
    }
}
