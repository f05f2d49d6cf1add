//! A managed gateway, with a state folder that outlives it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};
use testkit::fixture::{Eras, Running};

use crate::support::*;

/// A state folder, removed when the test ends.
pub(crate) struct State(PathBuf);

impl State {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("management-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        Self(PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for State {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The gateway in front of the server `good`.
pub(crate) struct Place {
    pub(crate) gateway: Gateway,
    pub(crate) good: Running,
    pub(crate) state: State,
}

/// An answer: status, headers and JSON.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Value,
    pub(crate) headers: std::collections::HashMap<String, String>,
}

impl Answer {
    /// The name of a refusal, with its status.
    pub(crate) fn refusal(&self) -> (u16, &str) {
        (
            self.status,
            self.body["error"]["code"].as_str().unwrap_or_else(|| panic!("no refusal: {}", self.body)),
        )
    }
}

impl Place {
    /// A gateway that everybody on this machine may manage.
    pub(crate) async fn new() -> Self {
        Self::with("management: { rate: 10000/1m }\n").await
    }

    /// A gateway with this text as the rest of the configuration.
    pub(crate) async fn with(rest: &str) -> Self {
        let (good, state) = (fixture(Eras::Both).await, State::new());
        let gateway = start(&config(&good, &state, rest)).await;
        Self { gateway, good, state }
    }

    /// Stops it and starts it again with the same state.
    pub(crate) async fn again(self, rest: &str) -> Self {
        let Self { gateway, good, state } = self;
        assert_eq!(gateway.stop().await.code, Some(0));
        let gateway = start(&config(&good, &state, rest)).await;
        Self { gateway, good, state }
    }

    /// The configuration.
    pub(crate) fn config(&self, rest: &str) -> String {
        config(&self.good, &self.state, rest)
    }

    pub(crate) async fn ask(&self, method: &str, path: &str, body: &Value) -> Answer {
        ask(self.gateway.http(), method, path, body).await
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        let answer = self.ask("GET", path, &Value::Null).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.body
    }

    /// Requests a change, which must succeed.
    pub(crate) async fn make(&self, method: &str, path: &str, body: &Value) -> Value {
        let answer = self.ask(method, path, body).await;
        assert!((200..300).contains(&answer.status), "{method} {path}: {} {}", answer.status, answer.body);
        answer.body
    }

    /// Adds an embedded server.
    pub(crate) async fn add_plain(&self, name: &str) -> String {
        let server = json!({"name": name, "type": "builtin", "config": {"native": "plain"}});
        self.make("POST", "/api/mcp-servers", &server).await["id"].as_str().expect("an id").to_owned()
    }

    /// The tools that a client sees at a profile.
    pub(crate) async fn tools(&self, path: &str) -> Vec<String> {
        let client = Modern { path: path.to_owned(), ..Modern::new(self.gateway.http()) };
        let answer = client.ask("tools/list", &json!({})).await;
        // If no server offers tools, there is no such list.
        if answer["error"].is_object() { Vec::new() } else { tool_names(&answer) }
    }

    /// Asks until a profile shows a tool, or no longer shows it: new lists are fetched first.
    pub(crate) async fn shows(&self, path: &str, tool: &str, wanted: bool) {
        let look = async {
            while self.tools(path).await.iter().any(|name| name == tool) != wanted {
                tokio::task::yield_now().await;
            }
        };
        soon(tool, look).await;
    }
}

async fn start(config: &str) -> Gateway {
    Gateway::start_with(&Start { config, env: &[("DRAGOMAN_LOG", "info")], ..Start::default() }).await
}

fn config(good: &Running, state: &State, rest: &str) -> String {
    let folder = quoted(state.path().to_str().expect("a path in UTF-8"));
    Scene::config(good, &[], &format!("stateFolder: {folder}\n{rest}"))
}

/// Sends a request with a body, unless the body is null.
pub(crate) async fn ask(http: Http, method: &str, path: &str, body: &Value) -> Answer {
    let text = if body.is_null() { String::new() } else { body.to_string() };
    let mut reply = http.send(method, path, &[], text.as_bytes()).await;
    let (status, headers) = (reply.status, reply.headers.clone());
    let text = reply.text().await;
    let body = if text.is_empty() { Value::Null } else { serde_json::from_str(&text).expect("JSON") };
    Answer { status, body, headers }
}
