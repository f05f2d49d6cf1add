//! An upstream over HTTP that a test controls call by call: the answer to each call is a stream, on which the test sends
//! messages at any time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tokio::sync::{Mutex, mpsc, watch};

use super::puppet::{Puppet, Received, Said};
use super::{LEGACY, MODERN, soon};

/// The kind of lifecycle of the upstream.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speaks {
    /// Sessions, of the newest version with sessions.
    Handshake,
    /// Stateless requests.
    Stateless,
}

/// The upstream. It has the tools `ok` and `other`, the prompt `p` and any resource below `memo:///`.
pub(crate) struct Actor {
    puppet: Puppet,
    lines: Mutex<(mpsc::UnboundedReceiver<Line>, Vec<Line>)>,
    sessions: Arc<AtomicUsize>,
}

/// A stream that a request opened.
pub(crate) struct Line {
    /// The request.
    pub(crate) received: Received,
    text: watch::Sender<(Vec<u8>, bool)>,
}

impl Line {
    /// Sends a message.
    pub(crate) fn say(&self, message: &Value) {
        self.text.send_modify(|(text, _)| text.extend_from_slice(format!("data: {message}\n\n").as_bytes()));
    }

    /// Sends a question to the client.
    pub(crate) fn ask(&self, id: impl Into<Value>, method: &str, params: &Value) {
        self.say(&json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params}));
    }

    /// Reports progress.
    pub(crate) fn progress(&self, progress: u64) {
        let token = &self.received.body["params"]["_meta"]["progressToken"];
        let params = json!({"progressToken": token, "progress": progress});
        self.say(&json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}));
    }

    /// Ends the stream with a result.
    pub(crate) fn answer(&self, result: &Value) {
        self.say(&json!({"jsonrpc": "2.0", "id": self.received.body["id"], "result": result}));
        self.close();
    }

    /// Ends the stream with a result that contains one text.
    pub(crate) fn answer_text(&self, text: &str) {
        self.answer(&json!({"resultType": "complete", "content": [{"type": "text", "text": text}]}));
    }

    /// Ends the stream.
    pub(crate) fn close(&self) {
        self.text.send_modify(|(_, over)| *over = true);
    }

    /// Waits until the other side has also closed the stream, or already had.
    pub(crate) async fn gone(&self) {
        soon("the end of a stream", self.text.closed()).await;
    }

    /// Returns true if the other side still listens.
    pub(crate) fn is_heard(&self) -> bool {
        !self.text.is_closed()
    }
}

impl Actor {
    pub(crate) async fn start(speaks: Speaks) -> Self {
        let (sender, lines) = mpsc::unbounded_channel();
        let sessions = Arc::new(AtomicUsize::new(1));
        let own = sessions.clone();
        let puppet = Puppet::start(move |_, received| {
            let session = format!("session-{}", own.load(Ordering::SeqCst));
            let stream = || {
                let (text, heard) = watch::channel((Vec::new(), false));
                // A finished test ignores further messages.
                let _ = sender.send(Line { received: received.clone(), text });
                Said::Stream(heard)
            };
            let method = received.method();
            let in_session = received.headers.get("mcp-session-id").is_none_or(|id| *id == session);
            match (speaks, method) {
                (Speaks::Handshake, _) if !in_session => Said::Status(404, "text/plain", String::new()),
                (Speaks::Stateless, "GET") => Said::Status(405, "text/plain", String::new()),
                (_, "tools/call" | "prompts/get" | "resources/read" | "completion/complete" | "GET") => {
                    stream()
                }
                (Speaks::Stateless, "subscriptions/listen") => stream(),
                (_, "DELETE") => Said::Status(200, "text/plain", String::new()),
                _ => match plain(speaks, method) {
                    Some(result) => {
                        let header = format!("Mcp-Session-Id: {session}\r\n");
                        Said::Result(result, if method == "initialize" { header } else { String::new() })
                    }
                    None if speaks == Speaks::Stateless && received.body.get("id").is_some() => {
                        let error =
                            json!({"code": -32601, "message": format!("there is no method {method}")});
                        let body = json!({"jsonrpc": "2.0", "id": received.body["id"], "error": error});
                        Said::Status(404, "application/json", body.to_string())
                    }
                    None => Said::Proper,
                },
            }
        })
        .await;
        Self { puppet, lines: Mutex::new((lines, Vec::new())), sessions }
    }

    /// Its configuration.
    pub(crate) fn config(&self) -> String {
        self.puppet.config()
    }

    /// The next stream that a request with this method opens.
    pub(crate) async fn next(&self, method: &str) -> Line {
        let mut guard = self.lines.lock().await;
        let (lines, held) = &mut *guard;
        loop {
            if let Some(at) = held.iter().position(|line| line.received.method() == method) {
                return held.remove(at);
            }
            held.push(soon(method, lines.recv()).await.expect("the puppet lives"));
        }
    }

    /// The answer that it received to its question with this ID.
    pub(crate) async fn response(&self, id: impl Into<Value>) -> Value {
        let id = id.into();
        let is_it = |one: &Received| one.body.get("method").is_none() && one.body["id"] == id;
        self.puppet.heard("a response", is_it).await.body
    }

    /// Waits for a notification with this method about the request of a stream.
    pub(crate) async fn heard_of(&self, method: &str, line: &Line) {
        let id = &line.received.body["id"];
        let is_it = |one: &Received| one.method() == method && one.body["params"]["requestId"] == *id;
        self.puppet.heard(method, is_it).await;
    }

    /// The number of received messages with this method; `POST` stands for responses.
    pub(crate) fn count(&self, method: &str) -> usize {
        self.puppet.count(method)
    }

    /// Waits until it has received this number of requests with this method.
    pub(crate) async fn was_sent(&self, method: &str, times: usize) {
        self.puppet.was_sent(method, times).await;
    }

    /// Everything that it received.
    pub(crate) fn received(&self) -> Vec<Received> {
        self.puppet.received()
    }

    /// Forgets all sessions that were opened before.
    pub(crate) fn forget_sessions(&self) {
        self.sessions.fetch_add(1, Ordering::SeqCst);
    }
}

/// The immediate answer to a method, if it has one.
fn plain(speaks: Speaks, method: &str) -> Option<Value> {
    let capabilities = json!({
        "tools": {}, "prompts": {}, "logging": {}, "completions": {}, "resources": {"subscribe": true},
    });
    let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
    let mut result = match (method, speaks) {
        ("initialize", Speaks::Handshake) => json!({
            "protocolVersion": LEGACY, "capabilities": capabilities,
            "serverInfo": {"name": "actor", "version": "1"},
        }),
        ("server/discover", Speaks::Stateless) => {
            json!({"supportedVersions": [MODERN], "capabilities": capabilities})
        }
        ("logging/setLevel" | "resources/subscribe" | "resources/unsubscribe", Speaks::Handshake) => {
            json!({})
        }
        ("tools/list", _) => json!({"tools": [tool("ok"), tool("other")]}),
        ("prompts/list", _) => json!({"prompts": [{"name": "p"}]}),
        ("resources/list", _) => json!({"resources": [{"uri": "memo:///a", "name": "a"}]}),
        ("resources/templates/list", _) => {
            json!({"resourceTemplates": [{"uriTemplate": "memo:///{name}", "name": "memo"}]})
        }
        _ => return None,
    };
    if speaks == Speaks::Stateless {
        for (key, value) in
            [("resultType", json!("complete")), ("ttlMs", json!(60_000)), ("cacheScope", json!("public"))]
        {
            result[key] = value;
        }
    }
    Some(result)
}
