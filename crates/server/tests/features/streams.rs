//! Streams that break and resume, and batches.

use serde_json::{Value, json};

use testkit::client::{Peer, Turn};

use crate::place::{Place, everything};
use crate::support::{Reply, error_message, text};

/// Starts a call that asks; returns the stream, the ID of its last event, and the question.
async fn asked(client: &mut Peer) -> (Turn, String, Value) {
    let params = json!({"name": "up__test_sampling", "arguments": {"prompt": "?"}});
    let mut turn = client.begin("tools/call", &params).await;
    let (id, question) = loop {
        let event = turn.stream.reply().await.event().await.expect("a question before the stream ends");
        let (id, data) = parts(&event);
        if !data.is_empty() {
            break (id, serde_json::from_str::<Value>(&data).expect("JSON"));
        }
    };
    assert_eq!(question["method"], "sampling/createMessage", "{question}");
    (turn, id, question)
}

/// The ID and the data of an event.
fn parts(event: &str) -> (String, String) {
    let field = |name: &str| {
        let line = event.lines().find_map(|line| line.strip_prefix(name));
        line.map(|value| value.trim_start_matches(' ').to_owned()).unwrap_or_default()
    };
    (field("id:"), field("data:"))
}

async fn resume(client: &Peer, last: &str) -> Reply {
    let (http, session) = client.wire.web();
    let version = client.wire.version();
    let headers = [("Mcp-Session-Id", session), ("MCP-Protocol-Version", version), ("Last-Event-ID", last)];
    http.get("/mcp", &headers).await
}

fn sampled() -> Value {
    json!({"role": "assistant", "content": {"type": "text", "text": "late"}, "model": "m"})
}

/// A client that loses its connection during a call gets the rest by the ID of the last event that it saw.
pub(crate) async fn resumption(place: Place) {
    let mut up = place.client(&everything()).await;
    let (turn, last, question) = asked(&mut up.client).await;
    drop(turn);
    up.client.reply(&question["id"], &Ok(sampled())).await;
    let mut rest = resume(&up.client, &last).await;
    let answer = rest.message().await.expect("the answer");
    assert_eq!(text(&answer), "LLM response: late");
    assert_eq!(rest.message().await, None, "the stream ends with the answer");
    // The rest can be requested again, and contains nothing of another stream.
    let mut again = resume(&up.client, &last).await;
    assert_eq!(again.message().await, Some(answer));
    assert_eq!(again.message().await, None);
}

/// A stream that begins with an event to resume from sends everything after that event again.
pub(crate) async fn from_the_start(place: Place) {
    let mut up = place.client(&everything()).await;
    let params = json!({"name": "up__test_sampling", "arguments": {"prompt": "?"}});
    let mut turn = up.client.begin("tools/call", &params).await;
    let event = turn.stream.reply().await.event().await.expect("an event");
    let (first, data) = parts(&event);
    assert!(!first.is_empty() && data.is_empty(), "{event}");
    let question = turn.stream.reply().await.message().await.expect("the question");
    drop(turn);
    let mut rest = resume(&up.client, &first).await;
    assert_eq!(rest.message().await.as_ref(), Some(&question));
    up.client.reply(&question["id"], &Ok(sampled())).await;
    assert_eq!(text(&rest.message().await.expect("the answer")), "LLM response: late");
}

/// A client that reconnects to a call may miss notifications, but never the answer; an unknown event ID is refused
/// with a message.
pub(crate) async fn gaps(place: Place) {
    let fixture = place.fixture().await;
    let config = format!("limits: {{ replayEvents: 1 }}\nmcpServers:\n  up: {}\n", fixture.config());
    let mut client = place.client_of(&config, &json!({})).await;
    let mut turn = client.begin("tools/call", &json!({"name": "up__test_tool_with_logging"})).await;
    let mut ids = Vec::new();
    while let Some(event) = turn.stream.reply().await.event().await {
        ids.extend(Some(parts(&event).0).filter(|id| !id.is_empty()));
    }
    assert!(ids.len() >= 4, "{ids:?}");
    // Log messages of the call may be missed, but not its answer.
    let mut back = resume(&client, &ids[0]).await;
    assert_eq!(back.status, 200);
    let mut last = None;
    while let Some(message) = back.message().await {
        last = Some(message);
    }
    assert!(last.is_some_and(|answer| answer["result"].is_object()));
    let mut refused = resume(&client, "99-0").await;
    assert_eq!(refused.status, 400);
    assert!(error_message(&refused.json().await).contains("send the request again"));
    for unknown in ["made up", "-1", ""] {
        assert_eq!(resume(&client, unknown).await.status, 400, "{unknown}");
    }
    // The end is still available: the last event is kept, and nothing comes after it.
    let mut rest = resume(&client, ids.last().expect("some")).await;
    assert_eq!((rest.status, rest.message().await), (200, None));
}

/// The gateway reconnects if an upstream closes its stream during a call; the client may have to do the same.
pub(crate) async fn reconnection(place: Place) {
    let mut up = place.client(&json!({})).await;
    let mut turn = up.client.begin("tools/call", &json!({"name": "up__test_reconnection"})).await;
    let (mut last, mut answer) = (String::new(), None);
    if !turn.stream.reply().await.is_stream() {
        answer = Some(turn.stream.reply().await.json().await);
    }
    while answer.is_none() {
        let Some(event) = turn.stream.reply().await.event().await else { break };
        let (id, data) = parts(&event);
        last = if id.is_empty() { last } else { id };
        answer = serde_json::from_str::<Value>(&data).ok();
    }
    let answer = match answer {
        Some(answer) => answer,
        None => resume(&up.client, &last).await.message().await.expect("the answer"),
    };
    assert_eq!(text(&answer), "Reconnection test completed successfully");
}

/// An array of messages is split: each request is answered, notifications are not.
pub(crate) async fn batches(place: Place) {
    let up = place.client(&json!({})).await;
    let (http, session) = up.client.wire.web();
    let headers = [("Mcp-Session-Id", session)];
    let post = async |body: Value| http.post("/mcp", &headers, &body.to_string()).await;
    let call = |id: Value, tool: &str| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool}});
    let note = json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"});
    let ping = json!({"jsonrpc": "2.0", "id": "p", "method": "ping"});
    let batch = json!([call(json!(1), "up__echo"), note, ping, call(json!("1"), "up__nothing"), {"id": 7}]);
    let mut reply = post(batch).await;
    let mut answers = Vec::new();
    while let Some(answer) = reply.message().await {
        answers.push(answer);
    }
    let of = |id: Value| {
        answers.iter().find(|answer| answer["id"] == id).unwrap_or_else(|| panic!("{id}: {answers:?}"))
    };
    assert_eq!(answers.len(), 4, "{answers:?}");
    assert_eq!(text(of(json!(1))), "{}");
    assert_eq!(of(json!("p"))["result"], json!({}));
    assert_eq!(of(json!("1"))["error"]["code"], -32602);
    assert_eq!(of(json!(7))["error"]["code"], -32600);
    let mut reply = post(json!([ping, {"jsonrpc": "2.0", "id": "q", "method": "ping"}])).await;
    assert_eq!(reply.json().await.as_array().map(Vec::len), Some(2), "all at hand: one array");
    assert_eq!(post(json!([note, note])).await.status, 202);
    let mut reply = post(json!([])).await;
    assert_eq!((reply.status, reply.json().await["error"]["code"].clone()), (400, json!(-32600)));
    let hello = json!({"jsonrpc": "2.0", "id": "h", "method": "initialize", "params": {}});
    assert_eq!(post(json!([hello])).await.json().await[0]["error"]["code"], -32600);
}

/// Versions without batches refuse them.
pub(crate) async fn no_batches(place: Place) {
    let up = place.client(&json!({})).await;
    let (http, session) = up.client.wire.web();
    let headers = [("Mcp-Session-Id", session), ("MCP-Protocol-Version", place.version)];
    let headers = &headers[usize::from(session.is_empty())..];
    let batch = json!([{"jsonrpc": "2.0", "id": "p", "method": "ping"}]).to_string();
    let mut reply = http.post("/mcp", headers, &batch).await;
    assert_eq!(reply.status, 400);
    assert_eq!(reply.json().await["error"]["code"], -32600);
}
