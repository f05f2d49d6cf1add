//! Clients of one HTTP endpoint, request by request: one client for versions with a handshake, one for the
//! stateless version. This module reads only what a test requests.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use super::message::{hello, notification, with_meta};
use super::{Headers, Http, LEGACY, MODERN, Reply, meta, request};

/// A client in a session, for versions with a handshake.
pub struct Legacy {
    /// The server.
    pub http: Http,
    /// The path of the endpoint.
    pub path: String,
    /// The negotiated version.
    pub version: String,
    /// The session's id.
    pub id: String,
    /// The answer to `initialize`.
    pub hello: Value,
    next: AtomicU64,
}

impl Legacy {
    /// Opens a session of the newest version at `/mcp`, without capabilities.
    pub async fn open(http: Http) -> Self {
        Self::open_at(http, "/mcp", LEGACY, &json!({})).await
    }

    /// Opens a session: `initialize` and `notifications/initialized`.
    pub async fn open_at(http: Http, path: &str, version: &str, capabilities: &Value) -> Self {
        let mut reply = Self::initialize(http, path, version, capabilities).await;
        let hello = reply.response().await;
        assert_eq!(reply.status, 200, "{hello}");
        let id = reply.header("mcp-session-id").to_owned();
        let version = hello["result"]["protocolVersion"].as_str().expect("a version").to_owned();
        let session = Self { http, path: path.to_owned(), version, id, hello, next: AtomicU64::new(1) };
        session.notify("notifications/initialized", &json!({})).await;
        session
    }

    /// Sends only `initialize`.
    pub async fn initialize(http: Http, path: &str, version: &str, capabilities: &Value) -> Reply {
        let params = hello(&json!(version), capabilities);
        http.post(path, &[], &request(0, "initialize", &params).to_string()).await
    }

    /// The headers of every message of the session.
    pub fn headers(&self) -> [(&str, &str); 2] {
        [("Mcp-Session-Id", &self.id), ("MCP-Protocol-Version", &self.version)]
    }

    /// Sends a message with the session's headers and the headers `more`.
    pub async fn post(&self, more: Headers<'_>, body: &str) -> Reply {
        let headers: Vec<_> = self.headers().into_iter().chain(more.iter().copied()).collect();
        self.http.post(&self.path, &headers, body).await
    }

    /// The ID of the last request.
    pub fn last(&self) -> u64 {
        self.next.load(Ordering::Relaxed) - 1
    }

    /// Sends a request with a new ID, and leaves the body of the answer unread.
    pub async fn begin(&self, method: &str, params: &Value) -> Reply {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        self.post(&[], &request(id, method, params).to_string()).await
    }

    /// Sends a request and waits for its answer.
    pub async fn ask(&self, method: &str, params: &Value) -> Value {
        self.begin(method, params).await.response().await
    }

    /// Calls a tool and waits for its answer.
    pub async fn call(&self, tool: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({"name": tool, "arguments": arguments})).await
    }

    /// Sends a notification, which must be accepted.
    pub async fn notify(&self, method: &str, params: &Value) {
        let body = notification(method, params).to_string();
        assert_eq!(self.post(&[], &body).await.status, 202, "{method}");
    }

    /// Opens the standing stream.
    pub async fn listen(&self) -> Reply {
        self.http.get(&self.path, &self.headers()).await
    }

    /// Ends the session.
    pub async fn delete(&self) -> Reply {
        self.http.delete(&self.path, &self.headers()).await
    }
}

/// A client of the stateless version.
#[derive(Clone)]
pub struct Modern {
    /// The server.
    pub http: Http,
    /// The path of the endpoint.
    pub path: String,
    /// The capabilities that each request declares.
    pub capabilities: Value,
}

impl Modern {
    /// A client without capabilities at `/mcp`.
    pub fn new(http: Http) -> Self {
        Self { http, path: "/mcp".to_owned(), capabilities: json!({}) }
    }

    /// Sends a request with its metadata and headers, and leaves the body of the answer unread.
    pub async fn begin(&self, method: &str, params: &Value) -> Reply {
        let params = with_meta(params, meta(&self.capabilities));
        let name = params["name"].as_str().or(params["uri"].as_str()).unwrap_or_default();
        let mut headers = vec![("MCP-Protocol-Version", MODERN), ("Mcp-Method", method)];
        if !name.is_empty() {
            headers.push(("Mcp-Name", name));
        }
        self.http.post(&self.path, &headers, &request("m", method, &params).to_string()).await
    }

    /// Sends a request and waits for its answer.
    pub async fn ask(&self, method: &str, params: &Value) -> Value {
        self.begin(method, params).await.response().await
    }

    /// Calls a tool and waits for its answer.
    pub async fn call(&self, tool: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({"name": tool, "arguments": arguments})).await
    }
}
