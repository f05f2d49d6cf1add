//! Requests over HTTP/1.1 as transcripts write them: one connection per request.

use std::fmt::Write as _;
use std::net::SocketAddr;

use testkit::client::{Reply, within};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

/// Sends a request like `curl`, unless `headers` differ.
pub(crate) async fn send(address: SocketAddr, head: &[String], body: &str) -> Result<Reply, String> {
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
        // A server that refuses a request early need not read it to its end.
        let _ = stream.write_all(text.as_bytes()).await;
        Reply::try_read(stream).await.ok_or_else(|| "the connection ended in the head".to_owned())
    };
    within("the head of an answer", read).await?
}
