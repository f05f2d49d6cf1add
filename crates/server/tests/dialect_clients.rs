//! Clients of dialects that cancel, disconnect, and keep listening while servers change.

mod support;

use rustix::process::Signal;
use serde_json::{Value, json};
use support::*;
use testkit::fixture::{Eras, Options, Record, Running, serve_http};

/// A gateway with a dialect in front of a server that keeps a record.
struct Rig {
    gateway: Gateway,
    record: Record,
    up: Running,
    changes: usize,
}

const WATCHED: &str = "test://watched-resource";

impl Rig {
    async fn new() -> Self {
        let record = Record::in_memory();
        let options = Options { eras: Eras::Legacy, record: Some(record.clone()), ..Options::default() };
        let (_, up) = serve_http(([127, 0, 0, 1], 0).into(), options).await.expect("a free port");
        let config = Self::config(&up, "", "up");
        let env = [("DRAGOMAN_LOG", "info")];
        let gateway = Gateway::start_with(&Start { config: &config, env: &env, ..Start::default() }).await;
        Self { gateway, record, up, changes: 0 }
    }

    /// The server `up`, with `more` in its configuration, and another one; the profile has `servers`.
    fn config(up: &Running, more: &str, servers: &str) -> String {
        let url = quoted(&up.url());
        format!(
            "mcpServers: {{ up: {{ url: {url}{more} }}, plain: {{ native: plain }} }}\n\
             profiles: {{ work: {{ servers: [{servers}], dialect: gateway }}, even: {{ servers: [{servers}] }} }}\n\
             endpoints: [ {{ path: /sse, profile: work, dialect: kulturarv, transport: sse, message: /message }} ]\n"
        )
    }

    /// Applies another configuration.
    async fn to(&mut self, more: &str, servers: &str) {
        self.gateway.write(&Self::config(&self.up, more, servers));
        self.gateway.signal(Signal::HUP);
        self.changes += 1;
        self.gateway.log().has_times("reloaded the configuration", self.changes).await;
    }

    /// The server's received messages with this method.
    fn sent(&self, method: &str) -> Vec<Value> {
        let lines = self.record.lines();
        let all = lines.iter().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        all.filter(|line| line["dir"] == "in" && line["message"]["method"] == method)
            .map(|line| line["message"].clone())
            .collect()
    }

    /// Waits until the server has received this number of them.
    async fn was_sent(&self, method: &str, times: usize) -> Vec<Value> {
        until(method, || self.sent(method).len() >= times).await;
        self.sent(method)
    }

    /// An event stream, and the path for its messages.
    async fn stream(&self, path: &str) -> (Reply, String) {
        let mut stream = self.gateway.http().get(path, &[("Accept", "text/event-stream")]).await;
        let first = stream.event().await.expect("an event");
        let place = first.split_once("data: ").expect("the endpoint first").1.to_owned();
        (stream, place)
    }

    /// Starts a request over a separate connection.
    async fn begin(&self, path: &str, body: &str) -> tokio::net::TcpStream {
        let http = self.gateway.http();
        let mut bytes = http.head("POST", path, &[], body.len()).into_bytes();
        bytes.extend_from_slice(body.as_bytes());
        http.raw(&bytes).await
    }
}

/// A slow call.
fn slow(id: &str) -> String {
    request(id, "tools/call", &json!({"name": "up__slow", "arguments": {"ms": 600_000}})).to_string()
}

/// The next message of a stream.
async fn next(stream: &mut Reply) -> Value {
    let event = soon("an event", stream.event()).await.expect("a stream that goes on");
    serde_json::from_str(event.split_once("data: ").expect("data").1).expect("JSON")
}

#[tokio::test]
async fn a_call_on_a_stream_is_cancelled_by_a_notice() {
    let rig = Rig::new().await;
    let http = rig.gateway.http();
    for (at, path) in ["/mcp/work", "/sse"].iter().enumerate() {
        let (mut stream, place) = rig.stream(path).await;
        let calling = rig.begin(&place, &slow("long")).await;
        let called = rig.was_sent("tools/call", 2 * at + 1).await;
        // Neither another client's ID nor an unknown ID has any effect.
        let other = rig.stream(path).await.1;
        let cancel = |id: &str| {
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
                "params": {"requestId": id, "reason": "enough"}})
            .to_string()
        };
        for (place, id) in [(&other, "long"), (&place, "longer"), (&place, "long")] {
            assert_eq!(http.post(place, &[], &cancel(id)).await.status, 202);
        }
        let cancelled = rig.was_sent("notifications/cancelled", at + 1).await;
        let params = &cancelled[at]["params"];
        assert_eq!(params["requestId"], called[2 * at]["id"], "{cancelled:?}");
        assert_eq!(params["reason"], "enough");
        let mut reply = soon("its end", Reply::read(calling)).await;
        assert!(reply.status == 202 && !reply.text().await.contains("jsonrpc"), "{path}: {}", reply.status);
        // The call is not mentioned again, and the ID is free.
        let echo = request("long", "tools/call", &json!({"name": "up__echo", "arguments": {"a": 1}}));
        http.post(&place, &[], &echo.to_string()).await;
        let answer = next(&mut stream).await;
        assert!(answer["id"] == "long" && text(&answer) == "{\"a\":1}", "{answer}");
        assert_eq!(rig.sent("notifications/cancelled").len(), at + 1);
    }
}

#[tokio::test]
async fn the_call_of_a_client_that_goes_is_cancelled() {
    let rig = Rig::new().await;
    let (stream, place) = rig.stream("/mcp/work").await;
    // The POST ends at once; only the stream counts.
    assert_eq!(rig.gateway.http().post(&place, &[], &slow("streamed")).await.status, 202);
    rig.was_sent("tools/call", 1).await;
    drop(stream);
    rig.was_sent("notifications/cancelled", 1).await;
    // Without a stream, the connection counts.
    for (at, path) in ["/mcp/work", "/message"].iter().enumerate() {
        let calling = rig.begin(path, &slow("alone")).await;
        let called = rig.was_sent("tools/call", at + 2).await;
        drop(calling);
        let cancelled = rig.was_sent("notifications/cancelled", at + 2).await;
        assert_eq!(cancelled[at + 1]["params"]["requestId"], called[at + 1]["id"]);
    }
}

#[tokio::test]
async fn who_hangs_up_beside_a_stream_gets_the_answer_there() {
    let rig = Rig::new().await;
    let (mut stream, place) = rig.stream("/sse").await;
    let call = request(1, "tools/call", &json!({"name": "up__slow", "arguments": {"ms": 300}}));
    let calling = rig.begin(&place, &call.to_string()).await;
    rig.was_sent("tools/call", 1).await;
    drop(calling);
    let answer = next(&mut stream).await;
    assert!(answer["id"] == 1 && text(&answer).contains("300"), "{answer}");
    assert!(rig.sent("notifications/cancelled").is_empty());
}

#[tokio::test]
async fn resources_are_listened_to_as_long_as_their_server_is_there() {
    let mut rig = Rig::new().await;
    let http = rig.gateway.http();
    let (mut stream, place) = rig.stream("/mcp/work").await;
    let subscribe = request("s", "resources/subscribe", &json!({"uri": WATCHED})).to_string();
    http.post(&place, &[], &subscribe).await;
    assert_eq!(next(&mut stream).await["result"], json!({}));
    rig.was_sent("resources/subscribe", 1).await;
    // Another server with the same name: notifications report the changes that may have happened in between, and
    // later ones.
    rig.to(", headers: { X-Other: one }", "up").await;
    rig.was_sent("resources/subscribe", 2).await;
    let told = next(&mut stream).await;
    assert!(
        told["method"] == "notifications/resources/updated" && told["params"]["uri"] == WATCHED,
        "{told}"
    );
    let touch = request("t", "tools/call", &json!({"name": "up__test_touch_watched", "arguments": {}}));
    http.post(&place, &[], &touch.to_string()).await;
    let (one, other) = (next(&mut stream).await, next(&mut stream).await);
    let told = if one["id"] == "t" { &other } else { &one };
    assert_eq!(told["method"], "notifications/resources/updated", "{one} {other}");
    // If the profile no longer has the server, a notification reports that.
    rig.to(", headers: { X-Other: one }", "plain").await;
    let told = rig.was_sent("resources/unsubscribe", 1).await;
    assert_eq!(told[0]["params"]["uri"], WATCHED);
}

/// A stdio server that keeps its state in the process, and clients of every kind: a client that subscribes on one
/// connection is notified of the change by a call on another.
#[tokio::test]
async fn an_update_of_a_child_is_heard_whoever_caused_it() {
    let program = quoted(testkit::fixture::program().to_str().expect("a path in UTF-8"));
    let config = format!(
        "mcpServers: {{ up: {{ command: {program}, args: [--stdio, --version, '{LEGACY}'] }} }}\n\
        dialects: {{ own: {{ base: gateway }} }}\n\
        endpoints: [{{ path: /own, profile: default, dialect: own }}, {{ path: /old, profile: default, transport: sse }}]\n"
    );
    let gateway = Gateway::start(&config).await;
    let http = gateway.http();
    let follow = json!({"uri": WATCHED});
    let subscribe = |id: &str| request(id, "resources/subscribe", &follow).to_string();
    let touch = request("t", "tools/call", &json!({"name": "up__test_touch_watched", "arguments": {}}));
    // One client subscribes on the dialect's event stream, one in a session, one statelessly.
    let mut dialect = http.get("/own", &[("Accept", "text/event-stream")]).await;
    let place = dialect.data().await.expect("where messages go");
    http.post(&place, &[], &subscribe("s")).await;
    assert_eq!(dialect.message().await.expect("an answer")["result"], json!({}));
    let session = Legacy::open(http).await;
    let mut standing = session.listen().await;
    assert_eq!(session.ask("resources/subscribe", &follow).await["result"], json!({}));
    let modern = Modern::new(http);
    let wanted = json!({"notifications": {"resourceSubscriptions": [WATCHED]}});
    let mut listening = modern.begin("subscriptions/listen", &wanted).await;
    let first = listening.message().await.expect("an acknowledgement");
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged", "{first}");
    // Each client calls in turn, on a connection without subscriptions, and all of them are notified.
    let (other, older) =
        (Legacy::open(http).await, Legacy::open_at(http, "/mcp", "2025-06-18", &json!({})).await);
    for turn in 0..4 {
        let answer = match turn {
            0 => http.post("/own", &[], &touch.to_string()).await.response().await,
            1 => other.call("up__test_touch_watched", &json!({})).await,
            2 => modern.call("up__test_touch_watched", &json!({})).await,
            _ => older.call("up__test_touch_watched", &json!({})).await,
        };
        assert!(text(&answer).starts_with("Revision"), "{turn}: {answer}");
        for (who, stream) in
            [("dialect", &mut dialect), ("session", &mut standing), ("stateless", &mut listening)]
        {
            let told = soon(who, stream.message()).await.expect("a notice");
            assert_eq!(told["method"], "notifications/resources/updated", "{turn}, {who}: {told}");
            assert_eq!(told["params"]["uri"], WATCHED, "{turn}, {who}: {told}");
        }
    }
}

#[tokio::test]
async fn sessions_go_on_listening_at_a_server_that_was_configured_otherwise() {
    let mut rig = Rig::new().await;
    let session = Legacy::open_at(rig.gateway.http(), "/mcp/even", LEGACY, &json!({})).await;
    let mut standing = session.listen().await;
    assert_eq!(session.ask("resources/subscribe", &json!({"uri": WATCHED})).await["result"], json!({}));
    rig.was_sent("resources/subscribe", 1).await;
    rig.to(", headers: { X-Other: one }", "up").await;
    // Without any request, the server is available again.
    rig.was_sent("resources/subscribe", 2).await;
    let mut updates = 0;
    let heard = async {
        while updates < 1 {
            let told = standing.message().await.expect("a notice");
            updates += usize::from(told["method"] == "notifications/resources/updated");
        }
    };
    soon("what may have changed", heard).await;
    rig.to(", headers: { X-Other: one }", "plain").await;
    assert!(session.ask("resources/read", &json!({"uri": WATCHED})).await["error"].is_object());
}

/// Endpoints with dialects that keep sessions, with low limits.
const NARROW: &str = "mcpServers: { plain: { native: plain } }\n\
    profiles: { default: { names: plain } }\n\
    dialects: { gated: { base: gateway, initializeGate: session, sessions: issued } }\n\
    endpoints: [ { path: /gated, dialect: gated }, { path: /bb, dialect: bb }, { path: /site, dialect: buddyboss },\n  \
    { path: /sse, dialect: kulturarv, transport: sse } ]\n\
    limits: { requestBody: 2KiB, sessions: 2 }\n";

#[tokio::test]
async fn who_only_posts_goes_on_with_the_session_that_it_was_named() {
    let gateway = Gateway::start(NARROW).await;
    let http = gateway.http();
    let list = request(2, "tools/list", &json!({})).to_string();
    assert!(
        http.post("/gated", &[], &list).await.json().await["error"].is_object(),
        "initialize comes first"
    );
    let hello =
        json!({"protocolVersion": "1", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}});
    let begun = http.post("/gated", &[], &request(1, "initialize", &hello).to_string()).await;
    let session = begun.header("mcp-session-id").to_owned();
    let listed = http.post("/gated", &[("Mcp-Session-Id", &session)], &list).await.json().await;
    assert!(listed["result"]["tools"].is_array(), "{listed}");
    let other = http.post("/gated", &[("Mcp-Session-Id", "nobody")], &list).await.json().await;
    assert!(other["error"].is_object(), "{other}");
}

#[tokio::test]
async fn a_stream_that_there_is_no_room_for_is_refused_by_its_status() {
    let gateway = Gateway::start(NARROW).await;
    let http = gateway.http();
    let events = [("Accept", "text/event-stream")];
    let (one, other) = (http.get("/sse", &events).await, http.get("/gated", &events).await);
    assert_eq!((one.status, other.status), (200, 200));
    for path in ["/sse", "/gated"] {
        let mut full = http.get(path, &events).await;
        assert_eq!((full.status, full.header("retry-after")), (503, "5"), "{path}");
        assert!(full.json().await["error"]["message"].is_string(), "{path}");
    }
    // If a message is required to open a session, the dialect reports that in its own way.
    let hello =
        json!({"protocolVersion": "1.0", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}});
    let mut full = http.post("/bb", &[], &request(1, "initialize", &hello).to_string()).await;
    assert_eq!((full.status, full.header("retry-after")), (500, "5"));
    assert!(full.json().await["error"]["message"].is_string());
}

#[tokio::test]
async fn a_body_that_is_too_long_is_refused_in_the_dialect() {
    let gateway = Gateway::start(NARROW).await;
    let long = request(1, "ping", &json!({"text": "x".repeat(3000)})).to_string();
    for path in ["/gated", "/bb", "/site", "/message"] {
        let mut refused = gateway.http().post(path, &[], &long).await;
        assert_eq!(refused.status, 413, "{path}");
        assert_eq!(refused.json().await["error"]["code"], -32600, "{path}");
    }
}
