//! A log message reaches only its caller: two callers with separate keys, each in a separate profile, share one server that
//! logs what its caller sent.

use std::process::Stdio as Pipe;

use serde_json::{Value, json};
use testkit::fixture::{Eras, Running};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::rig::*;
use crate::support::*;

/// The kind of a client.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Speaks {
    EventStream,
    Streamable,
    /// Stateless, with or without a log level.
    Stateless(bool),
}

/// A client, and the log messages that it has received.
struct Client {
    face: Face,
    server: &'static str,
    heard: Vec<String>,
}

enum Face {
    EventStream { http: Http, stream: Reply, place: String, next: u64 },
    Streamable { session: Legacy, standing: Reply },
    Stateless { modern: Modern, wants: bool },
}

/// The stream on which the answer to a call arrives.
enum Turn {
    Id(Value),
    Reply(Box<Reply>),
}

impl Client {
    async fn open(http: Http, path: &str, speaks: Speaks) -> Self {
        let face = match speaks {
            Speaks::EventStream => {
                let mut stream = http.get(path, &[("Accept", "text/event-stream")]).await;
                let place = stream.data().await.expect("where messages go");
                let mut face = Face::EventStream { http, stream, place, next: 1 };
                let info = json!({"name": "t", "version": "1"});
                let hello = json!({"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": info});
                let id = face.send("initialize", &hello).await;
                let Face::EventStream { http, stream, place, .. } = &mut face else { unreachable!() };
                let hello = stream.message().await.expect("an answer");
                assert_eq!(hello["id"], id, "{hello}");
                let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
                http.post(place, &[], &ready.to_string()).await;
                face
            }
            Speaks::Streamable => {
                let session = Legacy::open_at(http, path, LEGACY, &json!({})).await;
                let standing = session.listen().await;
                Face::Streamable { session, standing }
            }
            Speaks::Stateless(wants) => {
                let modern = Modern { path: path.to_owned(), ..Modern::new(http) };
                Face::Stateless { modern, wants }
            }
        };
        let server = "up__test_log_nonce";
        Self { face, server, heard: Vec::new() }
    }

    /// Sets the log level, if the client has a session.
    async fn set_level(&mut self, level: &str) {
        let params = json!({"level": level});
        let answer = match &mut self.face {
            Face::Streamable { session, .. } => session.ask("logging/setLevel", &params).await,
            face @ Face::EventStream { .. } => {
                let id = face.send("logging/setLevel", &params).await;
                self.until(|message| message["id"] == id).await
            }
            Face::Stateless { .. } => return,
        };
        assert_eq!(answer["result"], json!({}), "{answer}");
    }

    async fn begin(&mut self, nonce: &str, together: u64) -> Turn {
        let arguments = json!({"nonce": nonce, "together": together});
        let mut params = json!({"name": self.server, "arguments": arguments});
        match &mut self.face {
            Face::Streamable { session, .. } => {
                Turn::Reply(Box::new(session.begin("tools/call", &params).await))
            }
            Face::Stateless { modern, wants } => {
                if *wants {
                    params["_meta"] = json!({"io.modelcontextprotocol/logLevel": "info"});
                }
                Turn::Reply(Box::new(modern.begin("tools/call", &params).await))
            }
            face @ Face::EventStream { .. } => Turn::Id(face.send("tools/call", &params).await),
        }
    }

    /// Calls the tool that logs its nonce; returns the log messages before the answer.
    async fn call(&mut self, nonce: &str, together: u64) -> Vec<String> {
        let before = self.heard.len();
        let turn = self.begin(nonce, together).await;
        let answer = match turn {
            Turn::Id(id) => self.until(|message| message["id"] == id).await,
            Turn::Reply(mut reply) => loop {
                let message = if reply.is_stream() {
                    reply.message().await.expect("an answer")
                } else {
                    reply.json().await
                };
                if message.get("method").is_none() {
                    break message;
                }
                self.note(&message);
            },
        };
        assert_eq!(text(&answer), nonce, "{answer}");
        self.heard[before..].to_vec()
    }

    /// Reads the only stream of a client that has one until a message is `wanted`.
    async fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let stream = match &mut self.face {
                Face::EventStream { stream, .. } => stream,
                Face::Streamable { standing, .. } => standing,
                Face::Stateless { .. } => unreachable!("it has none"),
            };
            let message = stream.message().await.expect("one more message");
            self.note(&message);
            if wanted(&message) {
                return message;
            }
        }
    }

    fn note(&mut self, message: &Value) {
        if message["method"] == "notifications/message" {
            self.heard.push(message["params"]["data"].as_str().expect("a nonce").to_owned());
        }
    }

    /// Starts a call that never ends, and cancels it once the server has received it.
    async fn give_up(&mut self, nonce: &str) {
        let data = |message: &Value| message["params"]["data"] == nonce;
        match self.begin(nonce, 1_000_000).await {
            Turn::Id(id) => {
                self.until(data).await;
                let Face::EventStream { http, place, .. } = &self.face else { unreachable!() };
                let notice = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
                http.post(place, &[], &notice.to_string()).await;
            }
            Turn::Reply(mut reply) => {
                let said = reply.message().await.expect("a log message");
                assert!(data(&said), "{said}");
                self.note(&said);
                let Face::Streamable { session, .. } = &self.face else { unreachable!() };
                session.notify("notifications/cancelled", &json!({"requestId": session.last()})).await;
            }
        }
    }

    /// All log messages that it received by the end.
    async fn all(mut self) -> Vec<String> {
        if let Face::EventStream { .. } = self.face {
            let id = self.face.send("ping", &json!({})).await;
            self.until(|message| message["id"] == id).await;
        }
        if let Face::Streamable { session, mut standing } = self.face {
            // Its stream ends with the session.
            session.delete().await;
            while let Some(message) = standing.message().await {
                if message["method"] == "notifications/message" {
                    self.heard.push(message["params"]["data"].to_string());
                }
            }
        }
        self.heard
    }
}

impl Face {
    async fn send(&mut self, method: &str, params: &Value) -> Value {
        let Self::EventStream { http, place, next, .. } = self else { unreachable!() };
        *next += 1;
        let body = request(*next, method, params).to_string();
        assert_eq!(http.post(place, &[], &body).await.status, 202, "{method}");
        json!(*next)
    }
}

/// The server that both callers share.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Upstream {
    Pipe(&'static str),
    EventStream,
    Streamable,
    Stateless,
}

/// Starts the server; returns what keeps it running, and its configuration.
async fn start(upstream: Upstream) -> (Option<Child>, Option<Running>, String) {
    let program = testkit::fixture::program();
    let shown = quoted(program.to_str().expect("a path in UTF-8"));
    match upstream {
        Upstream::Pipe(version) => {
            let config = format!("{{ command: {shown}, args: [--stdio, --version, '{version}'] }}");
            (None, None, config)
        }
        Upstream::EventStream => {
            #[expect(clippy::disallowed_methods, reason = "an upstream that nobody supervises")]
            let mut process = Command::new(program);
            process.args(["--sse", "127.0.0.1:0", "--version", "2024-11-05"]);
            process.stdin(Pipe::null()).stdout(Pipe::piped()).stderr(Pipe::null()).kill_on_drop(true);
            let mut child = process.spawn().expect("the program starts");
            let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
            let line = soon("its address", lines.next_line()).await.expect("readable").expect("a line");
            let url = quoted(line.strip_prefix("listening ").expect("its first line"));
            (Some(child), None, format!("{{ type: sse, url: {url} }}"))
        }
        Upstream::Streamable | Upstream::Stateless => {
            let eras = if upstream == Upstream::Streamable { Eras::Legacy } else { Eras::Modern };
            let running = fixture(eras).await;
            let config = format!("{{ url: {} }}", quoted(&running.url()));
            (None, Some(running), config)
        }
    }
}

/// Lets two callers of this kind call one server.
async fn check(upstream: Upstream, speaks: Speaks) {
    let case = format!("{speaks:?} to {upstream:?}");
    let state = State::new();
    let (_child, _running, server) = start(upstream).await;
    let config = format!(
        "mcpServers: {{ up: {server} }}\nprofiles: {{ one: {{}}, two: {{}} }}\nauth: {{ keys: true }}\n{}",
        state.line()
    );
    let gateway = Gateway::start(&config).await;
    let (one, two) = (bearer(&state.new_key(&["one"]).await), bearer(&state.new_key(&["two"]).await));
    // After the first call, the gateway knows the server's version, and which callers share a connection to it.
    let mut first = Client::open(gateway.http().showing(&one), "/mcp/one", speaks).await;
    first.call("a0", 1).await;
    let mut a = Client::open(gateway.http().showing(&one), "/mcp/one", speaks).await;
    let mut b = Client::open(gateway.http().showing(&two), "/mcp/two", speaks).await;

    if matches!(upstream, Upstream::Pipe(MODERN) | Upstream::Stateless) {
        // Each request tells such a server its client's log level.
        for client in [&mut a, &mut b] {
            client.set_level("info").await;
        }
    }
    let is_told = speaks != Speaks::Stateless(false);
    let twice = |nonce: &str| if is_told { vec![nonce.to_owned(); 2] } else { Vec::new() };
    assert_eq!(a.call("a1", 1).await, twice("a1"), "{case}: alone");
    assert_eq!(b.call("b1", 1).await, twice("b1"), "{case}: alone after another");

    // If a call has a dedicated child, it would wait there forever for another call.
    let is_handshake_pipe = upstream == Upstream::Pipe(LEGACY);
    let together = if is_handshake_pipe && speaks == Speaks::Stateless(true) { 1 } else { 2 };
    let (from_a, from_b) = tokio::join!(a.call("a2", together), b.call("b2", together));
    let has_streams = matches!(upstream, Upstream::Streamable | Upstream::Stateless);
    let is_exact = has_streams || (speaks == Speaks::Stateless(true) && upstream != Upstream::Pipe(MODERN));
    for (heard, nonce) in [(from_a, "a2"), (from_b, "b2")] {
        if is_exact {
            assert_eq!(heard, twice(nonce), "{case}: both at once");
        }
    }

    if matches!(speaks, Speaks::EventStream | Speaks::Streamable) {
        a.give_up("a3").await;
        assert_eq!(a.call("a4", 1).await, twice("a4"), "{case}: beside a call of its own that it gave up");
        let heard = b.call("b4", 1).await;
        if has_streams {
            assert_eq!(heard, twice("b4"), "{case}: beside a call that another gave up");
        }
        if upstream == Upstream::Pipe(MODERN) {
            // This holds once the server has read the cancellation.
            soon("its log messages", async { while b.call("b5", 1).await != twice("b5") {} }).await;
        }
    }
    for (client, nonce) in [(a, "a"), (b, "b")] {
        let heard = client.all().await;
        assert!(heard.iter().all(|one| one.starts_with(nonce)), "{case}: {nonce} heard {heard:?}");
    }
}

/// A client's log level is not set on a link while another client's call runs there, because it would also affect that
/// client. The call then gets a dedicated link; if none is possible, the log reports it.
#[tokio::test]
async fn a_log_level_is_not_told_beside_the_call_of_another() {
    let program = quoted(testkit::fixture::program().to_str().expect("a path in UTF-8"));
    let child =
        |more: &str| format!("{{ command: {program}, args: [--stdio, --version, '{LEGACY}']{more} }}");
    for (more, hears) in [("", true), (", asks: never", false)] {
        let config = format!("mcpServers: {{ up: {} }}\n", child(more));
        let with = Start { config: &config, env: &[("DRAGOMAN_LOG", "info")], ..Start::default() };
        let gateway = Gateway::start_with(&with).await;
        let mut a = Client::open(gateway.http(), "/mcp", Speaks::Streamable).await;
        let mut b = Client::open(gateway.http(), "/mcp", Speaks::Streamable).await;
        assert_eq!(a.call("a1", 1).await, ["a1", "a1"]);
        let Turn::Reply(mut open) = b.begin("b1", 1_000_000).await else { unreachable!() };
        assert_eq!(open.message().await.expect("a log message")["params"]["data"], "b1");
        a.set_level("warning").await;
        gateway.log().has("did not pass on a log level").await;
        let heard = a.call("a2", 1).await;
        assert_eq!(heard, if hears { vec!["a2"; 2] } else { Vec::new() }, "{more:?}");
        let Face::Streamable { session, .. } = &b.face else { unreachable!() };
        session.delete().await;
        while let Some(message) = open.message().await {
            assert_ne!(message["params"]["data"], "a2", "{more:?}");
        }
        assert!(a.all().await.iter().all(|one| one.starts_with('a')), "{more:?}");
    }
}

macro_rules! pairs {
    ($($name:ident: $upstream:expr;)*) => {
        $(#[tokio::test]
        async fn $name() {
            for speaks in
                [Speaks::EventStream, Speaks::Streamable, Speaks::Stateless(true), Speaks::Stateless(false)]
            {
                check($upstream, speaks).await;
            }
        })*
    };
}

pairs! {
    a_log_message_of_a_child_reaches_its_caller_alone: Upstream::Pipe(LEGACY);
    a_log_message_of_a_stateless_child_reaches_its_caller_alone: Upstream::Pipe(MODERN);
    a_log_message_on_an_event_stream_reaches_its_caller_alone: Upstream::EventStream;
    a_log_message_over_http_reaches_its_caller_alone: Upstream::Streamable;
    a_log_message_over_stateless_http_reaches_its_caller_alone: Upstream::Stateless;
}
