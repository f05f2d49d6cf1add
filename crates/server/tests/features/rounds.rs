//! Results that ask for input, and the states that pass through the client; clients with the same IDs.

use serde_json::{Value, json};

use crate::place::{Place, everything};
use crate::support::{Over, error_code, error_message, text};

const STATE_TOOL: &str = "up__test_input_required_result_request_state";
const OTHER_TOOL: &str = "up__test_input_required_result_tampered_state";

fn accept() -> Value {
    json!({"confirm": {"action": "accept", "content": {"ok": true}}})
}

/// A state is valid only for the request for which it was issued.
pub(crate) async fn states(place: Place) {
    let mut up = place.client(&everything()).await;
    let client = &mut up.client;
    let call = |tool: &str, arguments: Value| json!({"name": tool, "arguments": arguments});
    let asked = client.ask("tools/call", &call(STATE_TOOL, json!({"b": [1.0], "a": "é"}))).await;
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let state = asked["result"]["requestState"].as_str().expect("a state").to_owned();
    let retry = |tool: &str, arguments: Value, state: &str| {
        let mut params = call(tool, arguments);
        params["requestState"] = json!(state);
        params["inputResponses"] = accept();
        params
    };
    let own = || json!({"b": [1.0], "a": "é"});
    let mut altered = state.clone().into_bytes();
    let middle = altered.len() / 2;
    altered[middle] = if altered[middle] == b'A' { b'B' } else { b'A' };
    let altered = String::from_utf8(altered).expect("ASCII");
    for (why, params) in [
        ("altered", retry(STATE_TOOL, own(), &altered)),
        ("cut", retry(STATE_TOOL, own(), &state[..state.len() - 1])),
        ("another tool's", retry(OTHER_TOOL, own(), &state)),
        ("other arguments'", retry(STATE_TOOL, json!({"b": [1.0], "a": "e"}), &state)),
        ("made up", retry(STATE_TOOL, own(), "c3RhdGU")),
        ("empty", retry(STATE_TOOL, own(), "")),
    ] {
        let answer = client.ask("tools/call", &params).await;
        assert_eq!(error_code(&answer), -32602, "{why}: {answer}");
        assert!(error_message(&answer).contains("requestState"), "{why}: {answer}");
    }
    let answer = client.ask("tools/call", &retry(STATE_TOOL, own(), &state)).await;
    assert!(text(&answer).starts_with("state-ok"), "{answer}");
}

/// A state of another gateway, or of this one before a restart, is refused.
pub(crate) async fn foreign_state(place: Place) {
    let mut one = place.client(&everything()).await;
    let mut two = place.client(&everything()).await;
    let asked = one.client.call(STATE_TOOL, &json!({})).await;
    let state = asked["result"]["requestState"].clone();
    let params =
        json!({"name": STATE_TOOL, "arguments": {}, "requestState": state, "inputResponses": accept()});
    let answer = two.client.ask("tools/call", &params).await;
    assert_eq!(error_code(&answer), -32602, "{answer}");
    assert!(text(&one.client.ask("tools/call", &params).await).starts_with("state-ok"));
}

/// Simultaneous requests with the same ID, from independent clients, each get their own answer.
pub(crate) async fn same_ids(place: Place) {
    assert_eq!(place.client, Over::Http);
    let mut up = place.client(&json!({})).await;
    let id = json!("same");
    let mut turns = Vec::new();
    if place.is_stateless() {
        for number in 0..20 {
            let params = json!({"name": "up__echo", "arguments": {"number": number}});
            turns.push(up.client.begin_as(&id, "tools/call", &params).await);
        }
    } else {
        // In one session, two open requests must not have the same ID; one of the two requests is refused, and the other
        // continues.
        let params = json!({"name": "up__slow", "arguments": {"ms": 3000}});
        let first = up.client.begin_as(&id, "tools/call", &params).await;
        let second = up.client.begin_as(&id, "tools/call", &params).await;
        let answers = [up.client.finish(second).await.1, up.client.finish(first).await.1];
        let (refused, done): (Vec<_>, Vec<_>) =
            answers.iter().partition(|answer| answer.get("error").is_some());
        assert_eq!(refused.iter().map(|answer| error_code(answer)).collect::<Vec<_>>(), [-32600]);
        assert_eq!(done.iter().map(|answer| text(answer)).collect::<Vec<_>>(), ["Answered after 3000 ms"]);
        let (http, _) = up.client.wire.web();
        let mut others = Vec::new();
        for _ in 0..20 {
            others.push(crate::support::Legacy::open_at(http, "/mcp", place.version, &json!({})).await);
        }
        let mut replies = Vec::new();
        for (number, other) in others.iter().enumerate() {
            let params = json!({"name": "up__echo", "arguments": {"number": number}});
            let text = crate::support::request("same", "tools/call", &params).to_string();
            replies.push(other.post(&[], &text).await);
        }
        for (number, mut reply) in replies.into_iter().enumerate() {
            let answer = reply.response().await;
            assert_eq!((&answer["id"], text(&answer)), (&id, &*format!(r#"{{"number":{number}}}"#)));
        }
    }
    for (number, turn) in turns.into_iter().enumerate() {
        let (_, answer) = up.client.finish(turn).await;
        assert_eq!((&answer["id"], text(&answer)), (&id, &*format!(r#"{{"number":{number}}}"#)));
    }
}
