//! Requests over HTTP/2. This module must not know how the connection was opened: any stream works.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http2;
use hyper::{HeaderMap, Request};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};

use super::{Headers, soon};

/// An HTTP/2 connection. Clones share the connection.
#[derive(Clone)]
pub struct Http2 {
    sender: http2::SendRequest<Full<Bytes>>,
    url: String,
}

impl Http2 {
    /// Starts HTTP/2 without negotiation; `url` is the target of requests.
    pub async fn over(stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static, url: String) -> Self {
        let handshake = Box::pin(http2::handshake(TokioExecutor::new(), TokioIo::new(stream)));
        let (sender, connection) = soon("a handshake", handshake).await.expect("HTTP/2");
        tokio::spawn(connection);
        Self { sender, url }
    }

    /// Sends a POST; returns the status and headers of the answer, and the JSON of its body or of its last
    /// event.
    pub async fn post(&mut self, headers: Headers<'_>, body: &Value) -> (u16, HeaderMap, Value) {
        let mut head = Request::post(&self.url)
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream");
        for (name, value) in headers {
            head = head.header(*name, *value);
        }
        let sent = head.body(Full::from(body.to_string())).expect("a request");
        let response = soon("an answer", self.sender.send_request(sent)).await.expect("an answer");
        let (parts, body) = response.into_parts();
        let body = soon("its body", body.collect()).await.expect("its body").to_bytes();
        let body = std::str::from_utf8(&body).expect("UTF-8");
        let json = body.lines().rev().find_map(|line| line.strip_prefix("data:")).unwrap_or(body);
        let json = serde_json::from_str(json).unwrap_or_else(|e| panic!("{e}: {body}"));
        (parts.status.as_u16(), parts.headers, json)
    }
}
