//! The gateway in front of a recording fixture, its keys and its record, and the ways to call.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use testkit::fixture::{Options, Record, Running, serve_http};
use tokio::process::Command;

use crate::support::*;

/// The password `battery staple`, cheaply hashed by another program (Node's `crypto.argon2Sync`).
pub(crate) const HASH: &str =
    "$argon2id$v=19$m=64,t=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$gbf/SFxMMbGdacBN7IhMnP5qQZ1Lml+OVTsOtCvCWWc";

/// The one token of `auth.bearer`.
pub(crate) const TOKEN: &str = "to-ken-1111-2222";

/// The message endpoints of the dialects; each is named after its dialect.
pub(crate) const DIALECTS: [&str; 3] = ["/kulturarv", "/buddyboss", "/gateway"];

/// The value of `Authorization` for a token.
pub(crate) fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}

/// The value of `Authorization` for a name and password.
pub(crate) fn basic(user: &str, password: &str) -> String {
    format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}")))
}

/// A gateway that authenticates all callers, in front of the server `good`.
pub(crate) struct Place {
    pub(crate) gateway: Gateway,
    pub(crate) state: State,
    record: Record,
    _good: Running,
}

impl Place {
    /// Starts it; `rest` is the rest of the configuration.
    pub(crate) async fn start(rest: &str) -> Self {
        Self::start_in(State::new(), rest).await
    }

    /// Starts it with existing keys.
    pub(crate) async fn start_in(state: State, rest: &str) -> Self {
        Self::start_beside(state, "", rest).await
    }

    /// Starts it with this default profile.
    pub(crate) async fn start_with_profile(profile: &str) -> Self {
        Self::start_as(State::new(), ("", ""), &format!("default: {profile}")).await
    }

    /// Starts it with other servers in addition to `good`, one per line.
    pub(crate) async fn start_beside(state: State, others: &str, rest: &str) -> Self {
        Self::start_as(state, (others, rest), "default: {}").await
    }

    /// Starts it with a default profile whose tools are found by searching.
    pub(crate) async fn start_searched(rest: &str) -> Self {
        Self::start_as(State::new(), ("", rest), "default: { tools: { mode: search } }").await
    }

    async fn start_as(state: State, (others, rest): (&str, &str), default: &str) -> Self {
        let record = Record::in_memory();
        let options = Options { record: Some(record.clone()), ..Options::default() };
        let (_, good) = serve_http(([127, 0, 0, 1], 0).into(), options).await.expect("a free port");
        let servers = format!("good: {{ url: {} }}\n{others}", quoted(&good.url()));
        let config = config(&servers, &state, rest).replace("default: {}", default);
        let start = Start {
            config: &config,
            env: &[("DRAGOMAN_LOG", "trace"), ("TOKEN", TOKEN)],
            ..Start::default()
        };
        Self { gateway: Gateway::start_with(&start).await, state, record, _good: good }
    }

    /// A caller with a key.
    pub(crate) fn by(&self, key: &str) -> Http {
        self.gateway.http().showing(&bearer(key))
    }

    /// The messages with this method that the server behind it received.
    pub(crate) fn sent(&self, method: &str) -> Vec<Value> {
        let lines = self.record.lines();
        let all = lines.iter().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        let is_it = |line: &Value| line["dir"] == "in" && line["message"]["method"] == method;
        all.filter(is_it).map(|line| line["message"].clone()).collect()
    }

    /// Everything that crossed the wire to the server behind it.
    pub(crate) fn wire(&self) -> String {
        self.record.lines().join("\n")
    }
}

/// The configuration of a gateway with this server, all authentication methods, and an endpoint for each
/// dialect.
pub(crate) fn config(server: &str, state: &State, rest: &str) -> String {
    format!(
        "mcpServers:\n  {server}\nprofiles: {{ default: {{}}, other: {{}} }}\nendpoints:\n\
         \x20 - {{ path: /events, dialect: kulturarv, transport: sse, message: /kulturarv }}\n\
         \x20 - {{ path: /buddyboss, dialect: buddyboss }}\n\
         \x20 - {{ path: /gateway, dialect: gateway }}\n\
         \x20 - {{ path: /bb, dialect: bb }}\n\
         auth: {{ bearer: '${{TOKEN}}', keys: true, users: {{ ann: '{HASH}' }} }}\nstateFolder: '{}'\n{rest}",
        state.path().display(),
    )
}

/// A folder of keys and records, removed when dropped.
pub(crate) struct State(PathBuf);

impl State {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("guarded-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&path).expect("a folder in the target folder");
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Runs `dragoman ARGS` on this folder; returns its output.
    pub(crate) async fn run(&self, args: &[&str]) -> String {
        #[expect(clippy::disallowed_methods, reason = "the process under test has no supervisor above it")]
        let mut process = Command::new(env!("CARGO_BIN_EXE_dragoman"));
        process.args(args).arg("--state").arg(&self.0).kill_on_drop(true);
        let ended = soon("the end of the command", process.output()).await.expect("it runs");
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        String::from_utf8(ended.stdout).expect("UTF-8")
    }

    /// Creates a key with `dragoman key new ARGS`.
    pub(crate) async fn new_key(&self, args: &[&str]) -> String {
        let out = self.run(&[&["key", "new"], args].concat()).await;
        let key = out.split_whitespace().find(|word| word.starts_with("dgm_"));
        key.unwrap_or_else(|| panic!("no key in {out}")).to_owned()
    }
}

impl Drop for State {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A way to call: in a session, without one, or at an endpoint with a dialect.
pub(crate) enum Way {
    Session(Legacy),
    Stateless(Modern),
    Dialect(Http, &'static str),
}

impl Way {
    /// Every way, for one caller.
    pub(crate) async fn all(http: Http) -> Vec<Self> {
        let mut ways = vec![Self::Session(Legacy::open(http).await), Self::Stateless(Modern::new(http))];
        ways.extend(DIALECTS.iter().map(|path| Self::Dialect(http, path)));
        ways
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Session(_) => "in a session",
            Self::Stateless(_) => "without a session",
            Self::Dialect(_, path) => path,
        }
    }

    /// Sends a request; its answer is still to be read.
    pub(crate) async fn begin(&self, method: &str, params: &Value) -> Reply {
        match self {
            Self::Session(session) => session.begin(method, params).await,
            Self::Stateless(client) => client.begin(method, params).await,
            Self::Dialect(http, path) => said_at(*http, path, method, params).await,
        }
    }

    /// Sends a request and waits for its answer.
    pub(crate) async fn ask(&self, method: &str, params: &Value) -> Value {
        self.begin(method, params).await.response().await
    }

    /// Calls a tool and waits for its answer.
    pub(crate) async fn call(&self, tool: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({"name": tool, "arguments": arguments})).await
    }

    /// The names of the tools that are listed.
    pub(crate) async fn tools(&self) -> Vec<String> {
        tool_names(&self.ask("tools/list", &json!({})).await)
    }
}

/// Sends a single request to an endpoint.
pub(crate) async fn said_at(http: Http, path: &str, method: &str, params: &Value) -> Reply {
    http.post(path, &[], &request(7, method, params).to_string()).await
}

/// Returns true if an answer is a result that reports no failure.
pub(crate) fn is_fine(answer: &Value) -> bool {
    answer.get("result").is_some_and(|result| result["isError"] != true)
}
