//! Servers that misbehave during calls, over stdio and over HTTP, with clients of either era. The caller is told in
//! time which server did what, and the profile's other servers answer during and after the failure.

mod support;

use serde_json::{Value, json};
use support::*;

const LIMITS: &str = "limits: { callIdleTimeout: 2s, connectTimeout: 5s, result: 1MiB, line: 1MiB }\n";

/// The gateway with two odd upstreams: the child `pipe`, and `net` over HTTP.
struct Stage {
    scene: Scene,
    clients: (Legacy, Modern),
    _net: OddHttp,
}

impl Stage {
    async fn new() -> Self {
        Self::with(LIMITS).await
    }

    async fn with(limits: &str) -> Self {
        let net = OddHttp::start(&["--modern"]).await;
        let pipe = odd_stdio(&["--modern"]);
        let scene = Scene::new(&[("pipe", &pipe), ("net", &net.config())], limits).await;
        let clients = (Legacy::open(scene.http()).await, Modern::new(scene.http()));
        Self { scene, clients, _net: net }
    }

    /// Calls a tool with clients of both eras, while another client calls the well-behaved server; returns both
    /// answers.
    async fn call(&self, server: &str, tool: &str, arguments: &Value) -> [Value; 2] {
        let name = format!("{server}__{tool}");
        let (legacy, modern) = &self.clients;
        let (old, new, ()) =
            tokio::join!(legacy.call(&name, arguments), modern.call(&name, arguments), self.scene.is_well());
        [old, new]
    }

    /// Checks that the call fails, and that the reason names the server and contains `why`.
    async fn fails(&self, server: &str, tool: &str, arguments: &Value, why: &[&str]) {
        for answer in self.call(server, tool, arguments).await {
            assert_eq!(error_code(&answer), -32603, "{server} {tool}: {answer}");
            assert_eq!(answer["error"]["data"]["server"], server, "{server} {tool}: {answer}");
            let message = error_message(&answer);
            assert!(message.contains(&format!("{server:?}")), "{server} {tool}: {answer}");
            assert!(why.iter().any(|why| message.contains(why)), "{server} {tool}: {answer}");
        }
        self.is_usable(server).await;
    }

    /// Checks that the call succeeds.
    async fn succeeds(&self, server: &str, tool: &str, arguments: &Value) {
        for answer in self.call(server, tool, arguments).await {
            assert_eq!(text(&answer), "ok", "{server} {tool}: {answer}");
        }
        self.is_usable(server).await;
    }

    /// Checks that the odd server itself still answers, or answers again.
    async fn is_usable(&self, server: &str) {
        for answer in self.call(server, "ok", &json!({"text": "again"})).await {
            assert_eq!(text(&answer), "again", "{server}");
        }
    }
}

#[tokio::test]
async fn garbage_instead_of_an_answer() {
    let stage = Stage::new().await;
    // A child may print any text besides its answers, so only a missing answer shows a fault.
    stage.fails("pipe", "garbage", &json!({}), &["did not answer"]).await;
    stage.fails("net", "garbage", &json!({}), &["not a message"]).await;
    stage.scene.gateway.log().has("child{server=pipe}: stdout has lines that are not messages").await;
}

#[tokio::test]
async fn death_in_the_middle_of_a_call() {
    let stage = Stage::new().await;
    for arguments in [json!({"code": 3}), json!({"code": 3, "half": true})] {
        stage.fails("pipe", "die", &arguments, &["exited with code 3"]).await;
        stage.fails("net", "die", &arguments, &["clos", "connection", "ended"]).await;
    }
}

#[tokio::test]
async fn death_takes_all_open_calls_along_at_once() {
    let stage = Stage::new().await;
    let (legacy, _) = &stage.clients;
    let mut waiting = Vec::new();
    for _ in 0..5 {
        let session = Legacy::open(stage.scene.http()).await;
        let call = json!({"name": "pipe__late", "arguments": {"ms": 600_000}});
        let headers: Vec<(String, String)> =
            session.headers().map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let http = session.http;
        let body = request("w", "tools/call", &call).to_string();
        waiting.push(tokio::spawn(async move {
            let headers: Vec<_> =
                headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            http.post("/mcp", &headers, &body).await.response().await
        }));
    }
    // The child receives the calls that will die with it before the call that makes it die.
    let answer = legacy.call("pipe__ok", &json!({})).await;
    assert_eq!(text(&answer), "ok");
    legacy.call("pipe__die", &json!({"code": 4})).await;
    for call in waiting {
        let answer = call.await.expect("a task");
        assert!(error_message(&answer).contains("\"pipe\""), "{answer}");
    }
    stage.is_usable("pipe").await;
}

#[tokio::test]
async fn silence() {
    let stage = Stage::new().await;
    for server in ["pipe", "net"] {
        stage.fails(server, "silent", &json!({}), &["did not answer \"tools/call\" within 2 s"]).await;
    }
}

/// After 15 s, a client gets a stream to wait on. The call's later deadline also applies there.
#[tokio::test]
async fn silence_beyond_the_first_word() {
    let stage = Stage::with("limits: { callIdleTimeout: 16s, connectTimeout: 5s }\n").await;
    let (nothing, why) = (json!({}), ["did not answer"]);
    tokio::join!(stage.fails("pipe", "silent", &nothing, &why), stage.fails("net", "silent", &nothing, &why));
}

#[tokio::test]
async fn two_answers_to_one_request() {
    let stage = Stage::new().await;
    for server in ["pipe", "net"] {
        stage.succeeds(server, "twice", &json!({})).await;
        stage.succeeds(server, "twice", &json!({})).await;
    }
}

#[tokio::test]
async fn an_answer_to_somebody_elses_request() {
    let stage = Stage::new().await;
    for server in ["pipe", "net"] {
        stage.succeeds(server, "foreign_id", &json!({})).await;
    }
}

#[tokio::test]
async fn answers_that_are_no_messages() {
    let stage = Stage::new().await;
    let all = ["not a message", "did not answer"];
    for tool in ["bad_jsonrpc", "wrong_type"] {
        stage.fails("pipe", tool, &json!({}), &all).await;
        stage.fails("net", tool, &json!({}), &all[..1]).await;
    }
    for arguments in [json!({"bytes": 500_000}), json!({"bytes": 1000, "balanced": true})] {
        stage.fails("pipe", "deep", &arguments, &all).await;
        stage.fails("net", "deep", &arguments, &all[..1]).await;
    }
}

#[tokio::test]
async fn an_answer_that_is_too_long() {
    let stage = Stage::new().await;
    let arguments = json!({"bytes": 2 << 20});
    for server in ["pipe", "net"] {
        stage.fails(server, "huge_line", &arguments, &["limits.result"]).await;
    }
    // Two messages come as an event stream, in which one event is too long.
    let arguments = json!({"bytes": 2 << 20, "then_answer": true});
    stage.fails("net", "huge_line", &arguments, &["limits.result"]).await;
}

#[tokio::test]
async fn a_long_answer_that_breaks_off_breaks_off_for_the_client() {
    let stage = Stage::new().await;
    let call = json!({
        "name": "net__die",
        "arguments": {"half": true, "text": "x".repeat(512 << 10)},
    });
    let (legacy, modern) = &stage.clients;
    for reply in [legacy.begin("tools/call", &call).await, modern.begin("tools/call", &call).await] {
        // Either the fault is noticed in time for an error, or the body ends before its announced length.
        match reply.into_body().await {
            Ok(body) => assert!(String::from_utf8_lossy(&body).contains("\"net\""), "a whole body"),
            Err(cut) => assert!(cut < 512 << 10, "{cut} bytes"),
        }
    }
    stage.is_usable("net").await;
}

#[tokio::test]
async fn two_gigabytes_in_one_line() {
    let net = OddHttp::start(&[]).await;
    let limits = "limits: { callIdleTimeout: 50s, result: 1MiB, line: 1MiB }\n";
    let scene = Scene::new(&[("pipe", &odd_stdio(&[])), ("net", &net.config())], limits).await;
    let session = Legacy::open(scene.http()).await;
    let before = peak_memory(scene.gateway.pid());
    for server in ["pipe", "net"] {
        let name = format!("{server}__huge_line");
        let arguments = json!({});
        let (answer, ()) = tokio::join!(session.call(&name, &arguments), scene.is_well());
        assert!(error_message(&answer).contains("limits.result"), "{answer}");
        assert_eq!(answer["error"]["data"]["server"], server);
        assert_eq!(text(&session.call(&format!("{server}__ok"), &json!({})).await), "ok");
    }
    scene.is_well().await;
    let grown = peak_memory(scene.gateway.pid()).saturating_sub(before);
    assert!(grown < 32 << 20, "{grown} bytes more");
}

#[tokio::test]
async fn an_answer_longer_than_allowed_whatever_lines_may_be() {
    let stage = Stage::with("limits: { result: 64KiB, line: 1MiB }\n").await;
    for server in ["pipe", "net"] {
        stage.fails(server, "ok", &json!({"text": "x".repeat(100_000)}), &["limits.result"]).await;
    }
}

#[tokio::test]
async fn a_server_that_does_not_read() {
    let stage = Stage::new().await;
    for server in ["pipe", "net"] {
        stage.succeeds(server, "deaf", &json!({"ms": 300})).await;
    }
}

#[tokio::test]
async fn much_noise_on_stderr() {
    let stage = Stage::new().await;
    let before = peak_memory(stage.scene.gateway.pid());
    stage.succeeds("pipe", "noise", &json!({"bytes": 64 << 20})).await;
    let grown = peak_memory(stage.scene.gateway.pid()).saturating_sub(before);
    assert!(grown < 16 << 20, "{grown} bytes more");
}

#[tokio::test]
async fn slow_answers_hold_up_nobody() {
    let stage = Stage::new().await;
    for server in ["pipe", "net"] {
        stage.succeeds(server, "late", &json!({"ms": 1500})).await;
    }
}

#[tokio::test]
async fn a_schema_that_cannot_be_used_is_named_once() {
    let puppet = Puppet::start(|_, request| match request.method() {
        "tools/list" => {
            let schema = json!({"type": "object", "$ref": "http://127.0.0.1:9/schema"});
            let tools = json!([{"name": "ok", "inputSchema": schema}, {"name": "other", "inputSchema": {}}]);
            Said::Result(json!({"tools": tools}), String::new())
        }
        _ => Said::Proper,
    })
    .await;
    let gateway = Gateway::start(&format!("mcpServers: {{ far: {} }}\n", puppet.config())).await;
    for _ in 0..2 {
        let (legacy, modern) = (Legacy::open(gateway.http()).await, Modern::new(gateway.http()));
        assert_eq!(text(&legacy.call("far__ok", &json!({"any": 1})).await), "ok");
        assert_eq!(text(&modern.call("far__ok", &json!({})).await), "ok");
        assert_eq!(text(&legacy.call("far__other", &json!({})).await), "ok");
    }
    let log = gateway.stop().await.err;
    let named: Vec<&str> = log.lines().filter(|line| line.contains("without validation")).collect();
    assert!(named.len() == 1 && named[0].contains("far__ok"), "{log}");
}

#[tokio::test]
async fn a_tool_has_time_limits_of_its_own() {
    let puppet = Puppet::start(|_, request| match request.method() {
        "tools/list" => {
            let tool = |name| json!({"name": name, "inputSchema": {"type": "object"}});
            Said::Result(json!({"tools": [tool("ok"), tool("silent"), tool("talking")]}), String::new())
        }
        "tools/call" if request.body["params"]["name"] != "ok" => Said::Hold(Vec::new()),
        _ => Said::Proper,
    })
    .await;
    let rules = "{ silent: { timeout: 300ms }, \"talk*\": { callTimeout: 400ms } }";
    let config = format!("{{ url: {}, timeout: 1h, toolCalls: {rules} }}", quoted(&puppet.url()));
    let scene = Scene::new(&[("u", &config)], "").await;
    let session = scene.witness();
    for tool in ["u__silent", "u__talking"] {
        let answer = soon("the deadline", session.call(tool, &json!({}))).await;
        assert!(error_message(&answer).contains("did not answer"), "{answer}");
        assert_eq!(answer["error"]["data"]["executed"], "maybe", "{answer}");
    }
    assert_eq!(text(&session.call("u__ok", &json!({})).await), "ok");
    scene.is_well().await;
}
