//! A gateway in front of a server whose tools the test changes.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::process::Command;

use crate::support::*;

/// A state folder, removed when the test ends.
pub(crate) struct State(PathBuf);

impl State {
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for State {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A server whose tools change.
pub(crate) struct Server {
    pub(crate) puppet: Puppet,
    tools: Arc<Mutex<Value>>,
}

impl Server {
    pub(crate) async fn new(tools: Value) -> Self {
        let tools = Arc::new(Mutex::new(tools));
        let own = tools.clone();
        let puppet = Puppet::start(move |_, received| match received.method() {
            "tools/list" => {
                let tools = own.lock().expect("no test panicked here").clone();
                if tools.is_null() {
                    return Said::Hold(Vec::new());
                }
                Said::Result(json!({ "tools": tools }), String::new())
            }
            _ => Said::Proper,
        })
        .await;
        Self { puppet, tools }
    }

    /// Lists other tools from now on; null means that lists are not answered.
    pub(crate) fn lists(&self, tools: Value) {
        *self.tools.lock().expect("no test panicked here") = tools;
    }
}

/// A gateway in front of the server `up`, and of other servers.
pub(crate) struct Place {
    pub(crate) gateway: Gateway,
    pub(crate) server: Server,
    pub(crate) state: State,
    servers: String,
}

impl Place {
    /// A gateway with this text as the rest of its configuration.
    pub(crate) async fn new(tools: Value, rest: &str) -> Self {
        Self::beside(tools, "", rest).await
    }

    /// A gateway with further entries of `mcpServers`, one per line.
    pub(crate) async fn beside(tools: Value, others: &str, rest: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("definitions-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let state = State(PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name));
        let server = Server::new(tools).await;
        let servers = format!("mcpServers:\n  up: {}\n{others}", server.puppet.config());
        let gateway = start(&config(&state, &servers, rest)).await;
        let place = Self { gateway, server, state, servers };
        place.seen().await;
        place
    }

    /// Stops the gateway and starts it again with the same state.
    pub(crate) async fn again(self, rest: &str) -> Self {
        let Self { gateway, server, state, servers } = self;
        assert_eq!(gateway.stop().await.code, Some(0));
        let gateway = start(&config(&state, &servers, rest)).await;
        Self { gateway, server, state, servers }
    }

    /// The configuration with this text as its rest.
    pub(crate) fn config(&self, rest: &str) -> String {
        config(&self.state, &self.servers, rest)
    }

    /// Lists other tools at the server, and fetches them.
    pub(crate) async fn change(&self, tools: Value) {
        self.server.lists(tools);
        let (status, body) = self.ask("POST", "/api/mcp-servers/up/refresh", &Value::Null).await;
        assert_eq!(status, 200, "{body}");
        // Once the gateway has answered a request for a review, everything is in the file.
        self.ask("GET", "/api/mcp-servers/up/definitions", &Value::Null).await;
    }

    pub(crate) async fn ask(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let text = if body.is_null() { String::new() } else { body.to_string() };
        let mut reply = self.gateway.http().send(method, path, &[], text.as_bytes()).await;
        let status = reply.status;
        (status, serde_json::from_str(&reply.text().await).expect("JSON"))
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        let (status, body) = self.ask("GET", path, &Value::Null).await;
        assert_eq!(status, 200, "{path}: {body}");
        body
    }

    /// The number of changed, new and vanished tools in the server's status.
    pub(crate) async fn counts(&self) -> [u64; 3] {
        let status = self.get("/api/mcp-servers/up/status").await;
        ["changed", "new", "vanished"].map(|key| status["definitions"][key].as_u64().expect("a number"))
    }

    /// The tools that clients without and with a session see.
    pub(crate) async fn seen(&self) -> [Vec<String>; 2] {
        let modern = Modern::new(self.gateway.http()).ask("tools/list", &json!({})).await;
        let legacy = Legacy::open(self.gateway.http()).await.ask("tools/list", &json!({})).await;
        [tool_names(&modern), tool_names(&legacy)]
    }

    /// The tools that all clients see.
    pub(crate) async fn tools(&self) -> Vec<String> {
        let [names, others] = self.seen().await;
        assert_eq!(names, others);
        names
    }

    /// Waits until clients see these tools.
    pub(crate) async fn shows(&self, wanted: &[&str]) {
        let look = async {
            while self.seen().await.iter().any(|names| *names != wanted) {
                tokio::task::yield_now().await;
            }
        };
        soon("the tools", look).await;
    }

    /// Calls a tool; returns the answer.
    pub(crate) async fn call(&self, tool: &str) -> Value {
        Legacy::open(self.gateway.http()).await.call(tool, &json!({})).await
    }

    /// Runs `dragoman definitions` with these arguments; returns the exit code, stdout and stderr.
    pub(crate) async fn definitions(&self, args: &[&str]) -> (Option<i32>, String, String) {
        self.run("definitions", args).await
    }

    /// The record of calls, oldest first: principal, method, server and outcome.
    pub(crate) async fn audit(&self) -> Vec<Value> {
        let (code, out, err) = self.run("audit", &["--json"]).await;
        assert_eq!(code, Some(0), "{err}");
        let one = |line: &str| {
            let entry: Value = serde_json::from_str(line).expect("JSON");
            ["principal", "method", "server", "outcome"].iter().map(|key| entry[*key].clone()).collect()
        };
        out.lines().rev().map(one).collect()
    }

    async fn run(&self, command: &str, args: &[&str]) -> (Option<i32>, String, String) {
        #[expect(clippy::disallowed_methods, reason = "the process under test has no supervisor above it")]
        let mut process = Command::new(env!("CARGO_BIN_EXE_dragoman"));
        process.arg(command).args(args).arg("--state").arg(self.state.path()).kill_on_drop(true);
        let ended = soon("the command", process.output()).await.expect("it runs");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        (ended.status.code(), text(ended.stdout), text(ended.stderr))
    }
}

async fn start(config: &str) -> Gateway {
    Gateway::start_with(&Start { config, env: &[("DRAGOMAN_LOG", "info")], ..Start::default() }).await
}

fn config(state: &State, servers: &str, rest: &str) -> String {
    let folder = quoted(state.path().to_str().expect("a path in UTF-8"));
    format!("stateFolder: {folder}\nmanagement: {{ rate: 10000/1m }}\n{rest}{servers}")
}

/// A tool with this description.
pub(crate) fn tool(name: &str, description: &str) -> Value {
    json!({"name": name, "description": description, "inputSchema": {"type": "object"}})
}
