//! Clients over HTTP+SSE, the transport of the older versions: one event stream, and one POST per message.

mod support;

use serde_json::{Value, json};
use support::*;
use testkit::client::{Peer, Wire};

const DEMO: &str = "mcpServers:\n  demo: { native: demo }\n";
const EVENTS: (&str, &str) = ("Accept", "text/event-stream");

/// A client with an open stream, which has sent nothing yet.
async fn opened(http: Http, path: &str, version: &Value) -> Peer {
    Peer::new(Wire::sse(http, path, "").await, version, &json!({}))
}

async fn introduced(http: Http, version: &str, capabilities: &Value) -> Peer {
    let mut client = opened(http, "/sse", &json!(version)).await;
    client.capabilities = capabilities.clone();
    let hello = client.introduce().await;
    assert_eq!(hello["result"]["protocolVersion"], version, "{hello}");
    client
}

/// Sends a body unchanged.
async fn post(client: &mut Peer, body: &str) -> Reply {
    client.wire.halves().post(body).await
}

/// Sends a message, which must be accepted.
async fn send(client: &mut Peer, message: &Value) {
    let mut reply = post(client, &message.to_string()).await;
    assert_eq!((reply.status, &*reply.text().await), (202, "Accepted"), "{message}");
}

/// The next message of the stream.
async fn message(client: &mut Peer) -> Value {
    serde_json::from_str(&client.wire.unasked().await).expect("JSON")
}

/// The number of calls that the server `good` was told to cancel.
async fn given_up(scene: &Scene) -> Value {
    let answer = scene.witness().ask("resources/read", &json!({"uri": "test://cancelled-count"})).await;
    answer["result"]["contents"][0]["text"].clone()
}

#[tokio::test]
async fn every_version_with_a_handshake_can_be_spoken() {
    let gateway = Gateway::start(DEMO).await;
    for version in [
        json!(1),
        json!("2024-10-07"),
        json!("2024-11-05"),
        json!("2025-03-26"),
        json!("2025-06-18"),
        json!(LEGACY),
    ] {
        let mut client = opened(gateway.http(), "/sse", &version).await;
        let hello = client.introduce().await;
        assert_eq!(hello["result"]["protocolVersion"], version, "{hello}");
        let list = client.ask("tools/list", &json!({})).await;
        assert!(tool_names(&list).contains(&"demo__hello".to_owned()), "{version}: {list}");
        let answer = client.call("demo__hello", &json!({"name": "Ada"})).await.to_string();
        assert!(answer.contains("Hello, Ada!"), "{version}: {answer}");
    }
    // As over the other transports, the answer to an unknown version is the newest one.
    let hello = opened(gateway.http(), "/sse", &json!("1999-01-01")).await.introduce().await;
    assert_eq!(hello["result"]["protocolVersion"], LEGACY, "{hello}");
}

#[tokio::test]
async fn each_endpoint_has_a_stream_of_its_profile() {
    let config = "mcpServers:\n  demo: { native: demo }\n  more: { native: demo }\nprofiles:\n  \
        default: { servers: [demo] }\n  editors: { servers: [more] }\nendpoints:\n  - { path: /tools/mcp, profile: editors }\n";
    let gateway = Gateway::start(config).await;
    let http = gateway.http();
    for (path, place, tool) in [
        ("/sse", "/message?", "demo__hello"),
        ("/sse/", "/message?", "demo__hello"),
        ("/mcp", "/mcp?", "demo__hello"),
        ("/mcp/default", "/mcp/default?", "demo__hello"),
        ("/mcp/editors", "/mcp/editors?", "more__hello"),
        ("/tools/mcp", "/tools/mcp?", "more__hello"),
    ] {
        let mut client = opened(http, path, &json!("2024-11-05")).await;
        let posts_to = &client.wire.halves().path;
        assert!(posts_to.starts_with(&format!("{place}sessionId=")), "{path}: {posts_to}");
        client.introduce().await;
        let names = tool_names(&client.ask("tools/list", &json!({})).await);
        assert!(names.contains(&tool.to_owned()), "{path}: {names:?}");
    }
    // A session is only found at an endpoint of its own profile.
    let mut client = opened(http, "/mcp/editors", &json!("2024-11-05")).await;
    let path = &mut client.wire.halves().path;
    *path = path.replace("/editors", "");
    assert_eq!(post(&mut client, "{}").await.status, 404);
    // At other paths, a client gets this transport only if the client requests it and the client's version has it.
    for (headers, status) in [
        (&[("Accept", "*/*")][..], 400),
        (&[EVENTS, ("MCP-Protocol-Version", LEGACY)], 400),
        (&[EVENTS, ("MCP-Protocol-Version", "never")], 400),
        (&[EVENTS, ("Last-Event-ID", "1-1")], 400),
        (&[EVENTS, ("MCP-Protocol-Version", MODERN)], 405),
        (&[EVENTS, ("Mcp-Session-Id", "x")], 404),
        (&[EVENTS, ("MCP-Protocol-Version", "2024-11-05")], 200),
    ] {
        assert_eq!(http.get("/mcp", headers).await.status, status, "{headers:?}");
    }
    // Its sessions are unknown to the other transport.
    let mut client = introduced(http, "2025-03-26", &json!({})).await;
    let id = client.wire.halves().path.split_once('=').expect("an id").1;
    let ping = request(1, "ping", &json!({})).to_string();
    assert_eq!(http.post("/mcp", &[("Mcp-Session-Id", id)], &ping).await.status, 404);
    assert_eq!(http.delete("/mcp", &[("Mcp-Session-Id", id)]).await.status, 404);
    let (mut page, mut lost) = (http.get("/", &[]).await, http.get("/lost", &[]).await);
    assert!(page.text().await.contains("GET /sse") && lost.text().await.contains("/sse"));
}

#[tokio::test]
async fn what_is_wrong_with_a_request_is_told_at_once() {
    let gateway = Gateway::start(&format!("{DEMO}limits: {{ requestBody: 64KiB }}\n")).await;
    let http = gateway.http();
    let mut client = opened(http, "/sse", &json!(LEGACY)).await;
    let ping = request(1, "ping", &json!({})).to_string();
    for (path, status, says) in [
        ("/message", 400, "sessionId"),
        ("/message?session=1", 400, "sessionId"),
        ("/message?sessionId=", 404, "unknown"),
        ("/message?sessionId=nobody", 404, "unknown"),
        ("/mcp?sessionId=nobody", 404, "unknown"),
    ] {
        let mut reply = http.post(path, &[], &ping).await;
        assert_eq!(reply.status, status, "{path}");
        assert!(error_message(&reply.json().await).contains(says), "{path}");
    }
    let foreign = ("Origin", "https://evil.example");
    assert_eq!(http.get("/sse", &[EVENTS, foreign]).await.status, 403);
    assert_eq!(http.get("/sse", &[EVENTS, ("Host", "evil.example")]).await.status, 403);
    let path = client.wire.halves().path.clone();
    assert_eq!(http.post(&path, &[foreign], &ping).await.status, 403);
    assert_eq!(http.post(&path, &[("Content-Type", "text/plain")], &ping).await.status, 415);
    assert_eq!(post(&mut client, &format!("\"{}\"", "x".repeat(64 << 10))).await.status, 413);
    for body in ["", "{", "nothing", "\"text\""] {
        let mut reply = post(&mut client, body).await;
        assert_eq!(reply.status, 400, "{body:?}");
        assert!(error_code(&reply.json().await) < 0);
    }
    for (method, path, allowed) in [
        ("POST", "/sse", "GET"),
        ("DELETE", "/sse", "GET"),
        ("GET", "/message", "POST"),
        ("PUT", "/message", "POST"),
    ] {
        let reply = http.send(method, path, &[], b"").await;
        assert_eq!((reply.status, reply.header("allow")), (405, allowed), "{method} {path}");
    }
    assert_eq!(http.get("/sse", &[("Accept", "application/json")]).await.status, 406);
    let page = http.send("OPTIONS", &path, &[("Origin", "http://localhost:5173")], b"").await;
    assert_eq!((page.status, page.header("access-control-allow-origin")), (204, "http://localhost:5173"));
}

#[tokio::test]
async fn what_is_wrong_with_a_message_is_told_on_the_stream() {
    let gateway = Gateway::start(DEMO).await;
    let mut client = opened(gateway.http(), "/sse", &json!("2024-11-05")).await;
    let refusal = client.ask("tools/list", &json!({})).await;
    assert!(error_code(&refusal) == -32600 && error_message(&refusal).contains("initialize"), "{refusal}");
    send(&mut client, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    let refusal = client.ask("initialize", &json!({"protocolVersion": "2024-11-05"})).await;
    assert_eq!(error_code(&refusal), -32602, "{refusal}");
    client.introduce().await;
    let again = json!({"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}});
    let refusal = client.ask("initialize", &again).await;
    assert!(error_code(&refusal) == -32600 && error_message(&refusal).contains("already"), "{refusal}");
    let refusal = client.ask("tools/list", &json!({"_meta": meta(&json!({}))})).await;
    assert!(error_message(&refusal).contains("Streamable HTTP"), "{refusal}");
    send(&mut client, &json!([request(1, "ping", &json!({}))])).await;
    assert_eq!(error_code(&message(&mut client).await), -32600);
    send(&mut client, &json!({"jsonrpc": "2.0", "id": "odd", "method": 7})).await;
    let refusal = message(&mut client).await;
    assert!(refusal["id"] == "odd" && error_code(&refusal) == -32600, "{refusal}");
    assert_eq!(error_code(&client.ask("no/such", &json!({})).await), -32601);
    assert_eq!(client.ask("ping", &json!({})).await["result"], json!({}));

    // In the only version with arrays, arrays are answered with arrays.
    let mut client = introduced(gateway.http(), "2025-03-26", &json!({})).await;
    send(&mut client, &json!([request("a", "ping", &json!({})), request("b", "ping", &json!({}))])).await;
    let answers = message(&mut client).await;
    assert_eq!((&answers[0]["id"], &answers[1]["id"]), (&json!("a"), &json!("b")), "{answers}");
}

#[tokio::test]
async fn progress_and_questions_come_on_the_stream() {
    let scene = Scene::new(&[], "").await;
    let mut client = introduced(scene.http(), "2025-03-26", &json!({"sampling": {}})).await;
    let params = json!({"name": "good__test_tool_with_progress", "_meta": {"progressToken": "t"}});
    let id = client.begin("tools/call", &params).await.id;
    for step in [0, 50, 100] {
        let notice = message(&mut client).await;
        let params = json!({"progressToken": "t", "progress": step, "total": 100});
        assert_eq!(notice["params"], params, "{notice}");
    }
    assert_eq!(message(&mut client).await["id"], id);

    let params = json!({"name": "good__test_sampling", "arguments": {"prompt": "?"}});
    let id = client.begin("tools/call", &params).await.id;
    let question = message(&mut client).await;
    assert_eq!(question["method"], "sampling/createMessage", "{question}");
    let said = json!({"role": "assistant", "content": {"type": "text", "text": "Paris"}, "model": "m"});
    send(&mut client, &json!({"jsonrpc": "2.0", "id": question["id"], "result": said})).await;
    let answer = message(&mut client).await;
    assert_eq!((&answer["id"], text(&answer)), (&id, "LLM response: Paris"));
    scene.is_well().await;
}

#[tokio::test]
async fn calls_are_cancelled_by_their_client_and_by_the_end_of_its_stream() {
    let scene = Scene::new(&[], "").await;
    let mut client = introduced(scene.http(), LEGACY, &json!({})).await;
    let slow = json!({"name": "good__slow", "arguments": {"ms": 600_000}});
    let begun = json!({"a": "the server has taken what came before"});
    let id = client.begin("tools/call", &slow).await.id;
    assert_eq!(text(&client.call("good__echo", &begun).await), begun.to_string());
    client.notify("notifications/cancelled", &json!({"requestId": id})).await;
    soon("the first to be given up", async { while given_up(&scene).await != "1" {} }).await;

    // No further message about it was sent.
    client.begin("tools/call", &slow).await;
    let echo = client.begin("tools/call", &json!({"name": "good__echo", "arguments": begun})).await.id;
    assert_eq!(message(&mut client).await["id"], echo);
    let (http, path) = (scene.http(), client.wire.halves().path.clone());
    drop(client);
    soon("the second to be given up", async { while given_up(&scene).await != "2" {} }).await;
    soon("the session to be unknown", async {
        while http.post(&path, &[], &request(9, "ping", &json!({})).to_string()).await.status != 404 {}
    })
    .await;
    scene.is_well().await;
}

#[tokio::test]
async fn sessions_do_not_hear_each_other() {
    let scene = Scene::new(&[], "").await;
    let mut one = introduced(scene.http(), LEGACY, &json!({})).await;
    let mut two = introduced(scene.http(), "2025-03-26", &json!({})).await;
    assert_ne!(one.wire.halves().path, two.wire.halves().path);
    for round in 0..20 {
        let (a, b) = (json!({"of": "one", "round": round}), json!({"of": "two", "round": round}));
        let (one, two) = tokio::join!(one.call("good__echo", &a), two.call("good__echo", &b));
        assert_eq!((text(&one), text(&two)), (&*a.to_string(), &*b.to_string()));
    }
}

#[tokio::test]
async fn who_does_not_read_is_cut_off() {
    let start = Start { config: DEMO, env: &[("DRAGOMAN_LOG", "info")], ..Start::default() };
    let gateway = Gateway::start_with(&start).await;
    let mut client = introduced(gateway.http(), LEGACY, &json!({})).await;
    let long = json!({"name": "demo__echo", "arguments": {"text": "x".repeat(1 << 20)}});
    let ping = json!({});
    soon("the end of the session", async {
        for round in 0.. {
            let (method, params) = if round < 24 { ("tools/call", &long) } else { ("ping", &ping) };
            client.next += 1;
            let body = request(client.next, method, params).to_string();
            let reply = post(&mut client, &body).await;
            if reply.status == 404 {
                break;
            }
            assert_eq!(reply.status, 202);
        }
    })
    .await;
    gateway.log().has("disconnected a client").await;
    let mut other = introduced(gateway.http(), LEGACY, &json!({})).await;
    assert!(other.call("demo__hello", &json!({})).await.to_string().contains("Hello"));
}

#[tokio::test]
async fn open_streams_count_as_sessions_and_end_when_the_gateway_stops() {
    let gateway = Gateway::start(&format!("{DEMO}limits: {{ sessions: 2 }}\n")).await;
    let http = gateway.http();
    let first = opened(http, "/sse", &json!(LEGACY)).await;
    let mut second = introduced(http, LEGACY, &json!({})).await;
    assert_eq!(http.get("/sse", &[EVENTS]).await.status, 503);
    assert_eq!(Legacy::initialize(http, "/mcp", LEGACY, &json!({})).await.status, 503);
    drop(first);
    soon("a place", async { while http.get("/sse", &[EVENTS]).await.status != 200 {} }).await;
    gateway.signal(rustix::process::Signal::TERM);
    while second.wire.halves().events.event().await.is_some() {}
    assert_eq!(gateway.ended().await.code, Some(0));
}

#[tokio::test]
async fn session_ids_are_not_logged() {
    let start = Start { config: DEMO, env: &[("DRAGOMAN_LOG", "trace")], ..Start::default() };
    let gateway = Gateway::start_with(&start).await;
    let mut client = introduced(gateway.http(), LEGACY, &json!({})).await;
    client.call("demo__hello", &json!({})).await;
    let id = client.wire.halves().path.split_once('=').expect("an id").1.to_owned();
    assert!(id.len() >= 32, "{id}");
    drop(client);
    let ended = gateway.stop().await;
    assert!(!ended.err.contains(&id), "{}", ended.err);
}

#[tokio::test]
async fn what_behaves_as_another_system_has_no_door_that_this_one_has_not() {
    for preset in ["bb", "buddyboss", "wordpress"] {
        let env = [("WORDPRESS_URL", "http://127.0.0.1:9")];
        let args = ["--preset", preset];
        let gateway =
            Gateway::start_with(&Start { config: "{}\n", args: &args, env: &env, ..Start::default() }).await;
        let reply = gateway.http().get("/sse", &[EVENTS]).await;
        assert_eq!(reply.status, 404, "{preset}");
        let mut front = gateway.http().get("/", &[]).await;
        assert!(front.status == 200 && !front.text().await.contains("/sse"), "{preset}");
    }
}
