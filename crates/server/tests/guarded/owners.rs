//! One caller cannot use what belongs to another: sessions, streams, calls that wait for answers, tasks.

use std::net::Ipv4Addr;

use serde_json::{Value, json};
use testkit::fixture::Eras;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpSocket;

use crate::place::*;
use crate::support::*;

const EVENTS: (&str, &str) = ("Accept", "text/event-stream");

/// The place with two callers.
async fn two() -> (Place, Http, Http) {
    let place = Place::start("").await;
    let (one, two) = (place.state.new_key(&["one"]).await, place.state.new_key(&["two"]).await);
    let (one, two) = (place.by(&one), place.by(&two));
    (place, one, two)
}

#[tokio::test]
async fn a_session() {
    let (place, one, two) = two().await;
    let session = Legacy::open(one).await;
    let list = request(1, "tools/list", &json!({})).to_string();
    for other in [two, place.by(TOKEN), place.gateway.http().showing(&basic("ann", "battery staple"))] {
        for (what, mut reply) in [
            ("a request", other.post("/mcp", &session.headers(), &list).await),
            ("a stream", other.get("/mcp", &session.headers()).await),
            ("its end", other.delete("/mcp", &session.headers()).await),
        ] {
            let text = reply.text().await;
            assert_eq!(reply.status, 404, "{what}: {text}");
            assert!(!text.contains("good__") && !text.contains(&session.id), "{what}: {text}");
        }
    }
    assert!(is_fine(&session.call("good__echo", &json!({})).await), "it is still there");
    assert_eq!(session.listen().await.status, 200);
}

/// The ID and the data of an event.
fn parts(event: &str) -> (String, String) {
    let field = |name: &str| {
        let line = event.lines().find_map(|line| line.strip_prefix(name));
        line.map(|value| value.trim_start_matches(' ').to_owned()).unwrap_or_default()
    };
    (field("id:"), field("data:"))
}

#[tokio::test]
async fn a_stream_that_is_taken_up_again() {
    let (_place, one, two) = two().await;
    let (mine, theirs) = (Legacy::open(one).await, Legacy::open(two).await);
    let params = json!({"name": "good__test_tool_with_logging", "arguments": {}});
    let mut stream = mine.begin("tools/call", &params).await;
    let mut ids = Vec::new();
    while let Some(event) = stream.event().await {
        ids.extend(Some(parts(&event).0).filter(|id| !id.is_empty()));
    }
    let first = ids.first().expect("an event with an id").as_str();
    let resume = |http: Http, session: &Legacy| {
        let headers = [("Mcp-Session-Id", session.id.clone()), ("MCP-Protocol-Version", LEGACY.to_owned())];
        async move {
            let [id, version] = headers.each_ref().map(|(name, value)| (*name, value.as_str()));
            http.get("/mcp", &[id, version, ("Last-Event-ID", first), EVENTS]).await
        }
    };
    assert_eq!(resume(two, &mine).await.status, 404);
    let mut own = resume(two, &theirs).await;
    assert_eq!(own.status, 400, "an event of another session is none of one's own");
    assert!(!own.text().await.contains("good"));
    let mut rest = resume(one, &mine).await;
    assert_eq!(rest.status, 200);
    assert!(rest.response().await.get("result").is_some());
}

#[tokio::test]
async fn an_event_stream() {
    let (_place, one, two) = two().await;
    for path in ["/sse", "/events"] {
        let mut stream = one.get(path, &[EVENTS]).await;
        let messages = stream.data().await.expect("where messages go");
        let hello = json!({"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let mut refused =
            two.post(&messages, &[], &request("theirs", "initialize", &hello).to_string()).await;
        if path == "/sse" {
            assert_eq!(refused.status, 404);
        }
        assert!(!refused.text().await.contains("good__"));
        let accepted = one.post(&messages, &[], &request("mine", "initialize", &hello).to_string()).await;
        assert!(accepted.status < 300, "{path}: {}", accepted.status);
        let first = stream.message().await.expect("an answer");
        assert_eq!(first["id"], "mine", "{path}: nothing of somebody else comes first: {first}");
    }
}

#[tokio::test]
async fn a_call_that_waits_for_an_answer() {
    let cases = [
        (Eras::Legacy, "good__test_input_required_result_elicitation", json!({"name": "Ada"}), "Hello, Ada!"),
        (Eras::Modern, "good__test_input_required_result_request_state", json!({"ok": true}), "state-ok"),
    ];
    for (eras, tool, content, told) in cases {
        let good = fixture(eras).await;
        let state = State::new();
        let keys = [state.new_key(&["one"]).await, state.new_key(&["two"]).await];
        let config = config(&format!("good: {{ url: {} }}", quoted(&good.url())), &state, "");
        let start = Start { config: &config, env: &[("TOKEN", TOKEN)], ..Start::default() };
        let gateway = Gateway::start_with(&start).await;
        let client = |key: &str| {
            let http = gateway.http().showing(&bearer(key));
            Modern { capabilities: json!({"elicitation": {"form": {}}}), ..Modern::new(http) }
        };
        let [one, two] = keys.each_ref().map(|key| client(key));
        let params = json!({"name": tool, "arguments": {}});
        let first = one.ask("tools/call", &params).await;
        assert_eq!(first["result"]["resultType"], "input_required", "{first}");
        let answer = json!({"action": "accept", "content": content});
        let keys = first["result"]["inputRequests"].as_object().expect("questions").keys();
        let answers: serde_json::Map<String, Value> = keys.map(|key| (key.clone(), answer.clone())).collect();
        let mut retry = params.clone();
        retry["requestState"] = first["result"]["requestState"].clone();
        retry["inputResponses"] = Value::Object(answers);
        let refused = two.ask("tools/call", &retry).await;
        assert_eq!(error_code(&refused), -32602, "{refused}");
        assert!(!refused.to_string().contains(told), "{refused}");
        let answer = one.ask("tools/call", &retry).await;
        assert!(text(&answer).starts_with(told), "{answer}");
    }
}

/// Polls a task, with the header that mirrors its ID.
async fn about(client: &Modern, method: &str, id: &str) -> Value {
    let params = json!({"taskId": id, "inputResponses": {}, "_meta": meta(&client.capabilities)});
    let headers: Headers<'_> = &[("MCP-Protocol-Version", MODERN), ("Mcp-Method", method), ("Mcp-Name", id)];
    client.http.post("/mcp", headers, &request("t", method, &params).to_string()).await.response().await
}

#[tokio::test]
async fn a_task() {
    let (place, one, two) = two().await;
    let capabilities = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    let client = |http| Modern { capabilities: capabilities.clone(), ..Modern::new(http) };
    let (mine, theirs) = (client(one), client(two));
    let begun = mine.call("good__slow_compute", &json!({"seconds": 60})).await;
    let id = begun["result"]["taskId"].as_str().unwrap_or_else(|| panic!("no task in {begun}"));
    let upstream = |method: &str| place.sent(method).len();
    let before = ["tasks/get", "tasks/update", "tasks/cancel"].map(upstream);
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let refused = about(&theirs, method, id).await;
        assert_eq!(error_code(&refused), -32602, "{method}: {refused}");
    }
    assert_eq!(["tasks/get", "tasks/update", "tasks/cancel"].map(upstream), before);
    assert_eq!(about(&mine, "tasks/get", id).await["result"]["status"], "working");
    // The same applies in sessions.
    let able = json!({"tasks": {"list": {}, "cancel": {}}});
    let session = Legacy::open_at(one, "/mcp", LEGACY, &able).await;
    let other = Legacy::open_at(two, "/mcp", LEGACY, &able).await;
    let params = json!({"name": "good__slow_compute", "arguments": {"seconds": 60}, "task": {"ttl": 60_000}});
    let begun = session.ask("tools/call", &params).await;
    let id = &begun["result"]["task"]["taskId"];
    assert!(id.is_string(), "{begun}");
    for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
        let refused = other.ask(method, &json!({"taskId": id})).await;
        assert_eq!(error_code(&refused), -32602, "{method}: {refused}");
    }
    let listed = other.ask("tasks/list", &json!({})).await;
    assert!(!listed.to_string().contains(id.as_str().expect("an id")), "{listed}");
    let state = session.ask("tasks/get", &json!({"taskId": id})).await;
    assert_eq!(state["result"]["status"], "working", "{state}");
}

#[tokio::test]
async fn a_session_does_not_outlive_the_rights_that_it_was_begun_with() {
    // One caller, from two addresses, only one of which may use more.
    let rules = "access: [{ allow: '*', who: { ip: 127.0.0.1 } }, { allow: good__echo }]\n";
    let place = Place::start(rules).await;
    let session = Legacy::open(place.by(TOKEN)).await;
    assert!(is_fine(&session.call("good__test_simple_text", &json!({})).await));
    let call =
        request(9, "tools/call", &json!({"name": "good__test_simple_text", "arguments": {}})).to_string();
    let authorization = bearer(TOKEN);
    let headers: Vec<_> =
        session.headers().into_iter().chain([("Authorization", authorization.as_str())]).collect();
    let http = place.gateway.http();
    let from = |address: [u8; 4], bytes: Vec<u8>| async move {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.bind((Ipv4Addr::from(address), 0).into()).expect("an address of this machine");
        let mut stream = soon("a connection", socket.connect(http.address)).await.expect("it listens");
        stream.write_all(&bytes).await.expect("it reads");
        Reply::read(stream).await
    };
    let bytes = [http.head("POST", "/mcp", &headers, call.len()).into_bytes(), call.into_bytes()].concat();
    assert_eq!(from([127, 0, 0, 1], bytes.clone()).await.status, 200);
    assert_eq!(from([127, 0, 0, 2], bytes.clone()).await.status, 404);
    assert_eq!(from([127, 0, 0, 1], bytes).await.status, 200, "where it was begun it goes on");
    // An event stream cannot be used either, because answers would arrive there that were meant for another
    // caller.
    let mut stream = place.by(TOKEN).get("/sse", &[EVENTS]).await;
    let messages = stream.data().await.expect("where messages go");
    let ping = request("ping", "ping", &json!({})).to_string();
    let head = http.head("POST", &messages, &[("Authorization", &authorization)], ping.len());
    let bytes = [head.into_bytes(), ping.into_bytes()].concat();
    assert_eq!(from([127, 0, 0, 2], bytes.clone()).await.status, 404);
    assert_eq!(from([127, 0, 0, 1], bytes).await.status, 202);
}
