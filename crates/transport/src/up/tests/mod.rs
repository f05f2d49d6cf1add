//! Helpers that the tests of links share: a server on a free port that does only what a test requests.

mod sse;
mod sse_failing;

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderValue};
use proto::rpc::FrameLimits;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::{HttpLimits, HttpTarget, MuxRoom};
use crate::net::client::{Client, ClientLimits, Route, Trust};

/// A time that is longer than any test takes on a busy machine.
const LONG: Duration = Duration::from_secs(20);

/// Capacity for a few exchanges.
const ROOM: MuxRoom = MuxRoom { max_calls: 8, unasked: 4, forget: LONG };

/// A received request, with the connection for its answer.
struct Asked {
    head: String,
    body: String,
    conn: TcpStream,
    again: mpsc::UnboundedSender<TcpStream>,
}

impl Asked {
    /// Answers; the connection stays open.
    async fn reply(mut self, status: &str, kind: &str, body: &str) {
        let length = body.len();
        let kind = if kind.is_empty() { String::new() } else { format!("content-type: {kind}\r\n") };
        let text = format!("HTTP/1.1 {status}\r\n{kind}content-length: {length}\r\n\r\n{body}");
        self.conn.write_all(text.as_bytes()).await.unwrap();
        self.again.send(self.conn).unwrap();
    }

    async fn accepted(self) {
        self.reply("202 Accepted", "text/plain", "Accepted").await;
    }

    /// Answers with an event stream, which ends with the connection.
    async fn stream(mut self) -> Stream {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n\r\n";
        self.conn.write_all(head.as_bytes()).await.unwrap();
        Stream(self.conn)
    }
}

/// An event stream that is open.
struct Stream(TcpStream);

impl Stream {
    async fn write(&mut self, text: &str) {
        self.0.write_all(text.as_bytes()).await.unwrap();
        self.0.flush().await.unwrap();
    }

    async fn message(&mut self, json: &str) {
        self.write(&format!("event: message\ndata: {json}\n\n")).await;
    }

    /// Waits until the client has closed the stream.
    async fn closed(mut self) {
        let read = timeout(LONG, self.0.read(&mut [0])).await.expect("closed in time");
        assert!(matches!(read, Ok(0) | Err(_)), "{read:?}");
    }
}

/// A server that hands each request to the test.
struct Server {
    url: String,
    asked: mpsc::UnboundedReceiver<Asked>,
}

impl Server {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/api/sse", listener.local_addr().unwrap());
        let (tx, asked) = mpsc::unbounded_channel();
        let (again, mut kept) = mpsc::unbounded_channel::<TcpStream>();
        tokio::spawn(async move {
            loop {
                let conn = tokio::select! {
                    accepted = listener.accept() => accepted.unwrap().0,
                    Some(conn) = kept.recv() => conn,
                };
                let (tx, again) = (tx.clone(), again.clone());
                tokio::spawn(async move {
                    if let Some((head, body, conn)) = read(conn).await {
                        let _ = tx.send(Asked { head, body, conn, again });
                    }
                });
            }
        });
        Self { url, asked }
    }

    async fn next(&mut self) -> Asked {
        timeout(LONG, self.asked.recv()).await.expect("a request in time").unwrap()
    }

    fn target(&self, patience: Duration) -> Arc<HttpTarget> {
        let frame = FrameLimits::default();
        let limits = HttpLimits { result: 1 << 20, event: 1 << 20, patience, body: LONG, frame };
        let headers = HeaderMap::from_iter([(
            http::header::AUTHORIZATION,
            HeaderValue::from_static("Bearer configured"),
        )]);
        Arc::new(HttpTarget {
            uri: self.url.parse().unwrap(),
            headers,
            credential: Arc::default(),
            limits: limits.into(),
            route: Route::default(),
        })
    }
}

/// Reads one request; `None` if the connection ends instead.
async fn read(mut conn: TcpStream) -> Option<(String, String, TcpStream)> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(conn.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).unwrap();
    let length =
        head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    conn.read_exact(&mut body).await.ok()?;
    Some((head, String::from_utf8(body).unwrap(), conn))
}

fn client() -> Client {
    Client::new(ClientLimits::default(), Trust::default())
}
