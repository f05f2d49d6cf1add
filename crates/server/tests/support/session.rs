//! Clients of either era over HTTP.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::http::{Headers, Http, Reply};
use super::soon;

/// The newest version with a handshake.
pub(crate) const LEGACY: &str = "2025-11-25";

/// The stateless version.
pub(crate) const MODERN: &str = "2026-07-28";

/// A request.
pub(crate) fn request(id: impl Into<Value>, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params})
}

/// The metadata of a stateless request.
pub(crate) fn meta(capabilities: &Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": capabilities,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    })
}

/// The text of a tool's result.
pub(crate) fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {answer}"))
}

/// The code of an error.
pub(crate) fn error_code(answer: &Value) -> i64 {
    answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error in {answer}"))
}

/// The message of an error.
pub(crate) fn error_message(answer: &Value) -> &str {
    answer["error"]["message"].as_str().unwrap_or_else(|| panic!("no error in {answer}"))
}

/// The names in an answer to `tools/list`.
pub(crate) fn tool_names(answer: &Value) -> Vec<String> {
    let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("no tools in {answer}"));
    tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
}

/// A client of a version with a handshake, in its session.
pub(crate) struct Legacy {
    pub(crate) http: Http,
    pub(crate) path: String,
    pub(crate) version: String,
    /// The session's id.
    pub(crate) id: String,
    /// The answer to `initialize`.
    pub(crate) hello: Value,
    next: AtomicU64,
}

impl Legacy {
    /// Opens a session of the newest version without capabilities at `/mcp`.
    pub(crate) async fn open(http: Http) -> Self {
        Self::open_at(http, "/mcp", LEGACY, &json!({})).await
    }

    /// Opens a session: `initialize` and `notifications/initialized`.
    pub(crate) async fn open_at(http: Http, path: &str, version: &str, capabilities: &Value) -> Self {
        let mut reply = Self::initialize(http, path, version, capabilities).await;
        let hello = reply.response().await;
        assert_eq!(reply.status, 200, "{hello}");
        let id = reply.header("mcp-session-id").to_owned();
        let version = hello["result"]["protocolVersion"].as_str().expect("a version").to_owned();
        let session = Self { http, path: path.to_owned(), version, id, hello, next: AtomicU64::new(1) };
        session.notify("notifications/initialized", &json!({})).await;
        session
    }

    /// Sends `initialize` alone.
    pub(crate) async fn initialize(http: Http, path: &str, version: &str, capabilities: &Value) -> Reply {
        let params = json!({
            "protocolVersion": version, "capabilities": capabilities,
            "clientInfo": {"name": "test", "version": "1"},
        });
        http.post(path, &[], &request(0, "initialize", &params).to_string()).await
    }

    /// The headers of every message of the session.
    pub(crate) fn headers(&self) -> [(&str, &str); 2] {
        [("Mcp-Session-Id", &self.id), ("MCP-Protocol-Version", &self.version)]
    }

    /// Sends a message with its headers, and more.
    pub(crate) async fn post(&self, more: Headers<'_>, body: &str) -> Reply {
        let headers: Vec<_> = self.headers().into_iter().chain(more.iter().copied()).collect();
        self.http.post(&self.path, &headers, body).await
    }

    /// The id of the request that was sent last.
    pub(crate) fn last(&self) -> u64 {
        self.next.load(Ordering::Relaxed) - 1
    }

    /// Sends a request of a new id; its answer is still to be read.
    pub(crate) async fn begin(&self, method: &str, params: &Value) -> Reply {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        self.post(&[], &request(id, method, params).to_string()).await
    }

    /// Sends a request and waits for its answer.
    pub(crate) async fn ask(&self, method: &str, params: &Value) -> Value {
        self.begin(method, params).await.response().await
    }

    /// Calls a tool and waits for its answer.
    pub(crate) async fn call(&self, tool: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({"name": tool, "arguments": arguments})).await
    }

    /// Sends a notification, which must be accepted.
    pub(crate) async fn notify(&self, method: &str, params: &Value) {
        let body = json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string();
        assert_eq!(self.post(&[], &body).await.status, 202, "{method}");
    }

    /// Opens the standing stream.
    pub(crate) async fn listen(&self) -> Reply {
        self.http.get(&self.path, &self.headers()).await
    }

    /// Ends the session.
    pub(crate) async fn delete(&self) -> Reply {
        self.http.delete(&self.path, &self.headers()).await
    }
}

/// A client of the stateless version.
#[derive(Clone)]
pub(crate) struct Modern {
    pub(crate) http: Http,
    pub(crate) path: String,
    pub(crate) capabilities: Value,
}

impl Modern {
    /// One without capabilities at `/mcp`.
    pub(crate) fn new(http: Http) -> Self {
        Self { http, path: "/mcp".to_owned(), capabilities: json!({}) }
    }

    /// Sends a request with all that belongs to it; its answer is still to be read.
    pub(crate) async fn begin(&self, method: &str, params: &Value) -> Reply {
        let mut params = params.clone();
        let mut own = meta(&self.capabilities);
        for (key, value) in params["_meta"].as_object().into_iter().flatten() {
            own[key] = value.clone();
        }
        params["_meta"] = own;
        let name = params["name"].as_str().or(params["uri"].as_str()).unwrap_or_default().to_owned();
        let mut headers = vec![("MCP-Protocol-Version", MODERN), ("Mcp-Method", method)];
        if !name.is_empty() {
            headers.push(("Mcp-Name", &name));
        }
        self.http.post(&self.path, &headers, &request("m", method, &params).to_string()).await
    }

    /// Sends a request and waits for its answer.
    pub(crate) async fn ask(&self, method: &str, params: &Value) -> Value {
        self.begin(method, params).await.response().await
    }

    /// Calls a tool and waits for its answer.
    pub(crate) async fn call(&self, tool: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({"name": tool, "arguments": arguments})).await
    }
}

/// A call that is certainly under way; its answer is the only one that is still to come.
pub(crate) async fn under_way(session: &Arc<Legacy>, tool: &str, arguments: &Value) -> JoinSet<Value> {
    let call = request("one", "tools/call", &json!({"name": tool, "arguments": arguments})).to_string();
    let mut calls = JoinSet::new();
    for _ in 0..2 {
        let (session, call) = (session.clone(), call.clone());
        calls.spawn(async move { session.post(&[], &call).await.response().await });
    }
    // Of two with the same id one is refused at once: then the other one has begun.
    let refusal = soon("a refusal", calls.join_next()).await.expect("two calls").expect("no panic");
    assert!(error_message(&refusal).contains("id is open"), "{refusal}");
    calls
}
