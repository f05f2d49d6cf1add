//! The web server that publishes the metadata of clients, over TLS.

use serde_json::{Value, json};
use testkit::tls::TlsServer;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

use super::rows::{Introduction, ROWS};

/// The running server.
pub(super) struct Documents(TlsServer);

impl Documents {
    pub(super) async fn start() -> Self {
        let serve = |stream, port| async move { answered(stream, port).await.unwrap_or_default() };
        Self(TlsServer::start(&[], serve).await)
    }

    /// The certificate of the authority that signed the server's certificate.
    pub(super) fn authority(&self) -> &str {
        &self.0.authority
    }

    /// The client's id whose document is at this path.
    pub(super) fn id(&self, path: &str) -> String {
        id(self.0.port, path)
    }
}

fn id(port: u16, path: &str) -> String {
    format!("https://localhost:{port}{path}")
}

/// Answers one request, and closes the connection.
async fn answered(stream: TlsStream<TcpStream>, port: u16) -> Option<()> {
    let mut stream = BufReader::new(stream);
    let mut first = String::new();
    stream.read_line(&mut first).await.ok()?;
    let mut line = first.clone();
    while !line.trim_end().is_empty() {
        line.clear();
        stream.read_line(&mut line).await.ok()?;
    }
    let path = first.split(' ').nth(1)?;
    let (status, body) = match document(path) {
        Some(mut document) => {
            document["client_id"] = json!(id(port, path));
            ("200 OK", document.to_string())
        }
        None => ("404 Not Found", String::new()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).await.ok()?;
    stream.shutdown().await.ok()
}

fn document(path: &str) -> Option<Value> {
    ROWS.iter().find_map(|row| match row.introduction {
        Introduction::Document(own, document) if own == path => Some(document()),
        _ => None,
    })
}
