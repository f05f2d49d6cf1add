//! Limits of simultaneous calls: for a caller without a session, and in a dialect's session.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::place::*;
use crate::record::recorded;
use crate::support::*;

/// A call that takes this number of milliseconds.
fn slow(ms: u64) -> Value {
    json!({"name": "good__slow", "arguments": {"ms": ms}})
}

const LONG: u64 = 600_000;

/// The status and the answer to a call.
async fn called(way: &Way, call: &Value) -> (u16, Value) {
    told(way.begin("tools/call", call).await).await
}

/// The status and the answer; a refusal tells the caller when to try again.
async fn told(mut reply: Reply) -> (u16, Value) {
    if reply.status == 429 {
        assert_eq!(reply.header("retry-after"), "1", "{:?}", reply.headers);
        assert_eq!(reply.header("x-ratelimit-limit"), "", "no time makes room");
    }
    (reply.status, reply.response().await)
}

#[tokio::test]
async fn calls_of_a_caller_without_a_session_are_capped() {
    let place = Place::start("audit: true\nlimits: { callsPerCaller: 2 }\n").await;
    let [ann, bob] = [place.state.new_key(&["ann"]).await, place.state.new_key(&["bob"]).await];
    let http = place.by(&ann);
    let mut open = JoinSet::new();
    // Both calls of one caller count, over any transport.
    open.spawn(async move { called(&Way::Stateless(Modern::new(http)), &slow(LONG)).await });
    open.spawn(async move { called(&Way::Dialect(http, "/gateway"), &slow(LONG)).await });
    until("two calls", || place.sent("tools/call").len() == 2).await;
    let dialects = DIALECTS.map(|path| Way::Dialect(http, path));
    for way in dialects.into_iter().chain([Way::Stateless(Modern::new(http))]) {
        let (status, answer) = called(&way, &slow(0)).await;
        assert_eq!(status, 429, "{}: {answer}", way.name());
        match way.name() {
            "/kulturarv" => assert_eq!(answer["error"]["message"], "Rate limit exceeded"),
            "/buddyboss" => assert_eq!(answer["message"], "Too many requests. Try again in 1 seconds."),
            "/gateway" => assert!(answer["error"]["code"].is_i64(), "{answer}"),
            _ => {
                assert!(error_message(&answer).contains("callsPerCaller") && answer["id"] == "m", "{answer}");
            }
        }
        assert!(!way.tools().await.is_empty(), "what is no call goes on");
    }
    assert_eq!(place.sent("tools/call").len(), 2, "what is refused goes nowhere");
    for way in [Way::Stateless(Modern::new(place.by(&bob))), Way::Session(Legacy::open(http).await)] {
        assert!(
            is_fine(&called(&way, &slow(0)).await.1),
            "{}: others, and sessions, have places of their own",
            way.name()
        );
    }
    // Disconnecting frees capacity.
    open.shutdown().await;
    let way = Way::Stateless(Modern::new(http));
    soon("room", async { while called(&way, &slow(0)).await.0 != 200 {} }).await;
    let (_state, entries, _) = recorded(place).await;
    let denied = entries.iter().filter(|one| one["outcome"] == "denied").count();
    assert!(denied >= 3, "{entries:#?}");
}

/// A client of the dialect that opens sessions; returns its session ID.
async fn introduced(http: Http) -> String {
    let hello = json!({"protocolVersion": "1.0", "clientInfo": {"name": "t"}});
    let mut reply = said_at(http, "/bb", "initialize", &hello).await;
    assert!(reply.response().await.get("result").is_some());
    reply.header("mcp-session-id").to_owned()
}

#[tokio::test]
async fn calls_of_a_dialects_session_are_capped() {
    let place = Place::start("limits: { callsPerSession: 2, callsPerCaller: 1 }\n").await;
    let http = place.by(TOKEN);
    let (one, other) = (introduced(http).await, introduced(http).await);
    let call = async |session: String, id: u64, ms: u64| {
        let body = request(id, "tools/call", &slow(ms)).to_string();
        told(http.post("/bb", &[("Mcp-Session-Id", &session)], &body).await).await
    };
    let mut open = JoinSet::new();
    for _ in 0..2 {
        // A call with an ID that is in use also counts.
        let body = request(7, "tools/call", &slow(LONG)).to_string();
        let session = one.clone();
        open.spawn(
            async move { http.post("/bb", &[("Mcp-Session-Id", &session)], &body).await.response().await },
        );
    }
    until("two calls", || place.sent("tools/call").len() == 2).await;
    let (status, answer) = call(one.clone(), 8, 0).await;
    assert_eq!(
        (status, &answer["error"]["code"], &answer["id"]),
        (429, &json!(-32603), &json!(8)),
        "{answer}"
    );
    let (status, answer) = call(other, 9, 0).await;
    assert_eq!(status, 200, "another session has places of its own: {answer}");
    open.shutdown().await;
    soon("room", async { while call(one.clone(), 10, 0).await.0 != 200 {} }).await;
}

#[tokio::test]
async fn calls_of_a_session_are_capped_and_refused_as_by_a_rate() {
    let place = Place::start("audit: true\nlimits: { callsPerSession: 1 }\n").await;
    let session = Arc::new(Legacy::open(place.by(TOKEN)).await);
    let mut open = JoinSet::new();
    let first = session.clone();
    open.spawn(async move { first.begin("tools/call", &slow(LONG)).await.response().await });
    until("a call", || place.sent("tools/call").len() == 1).await;
    let (status, answer) = told(session.begin("tools/call", &slow(0)).await).await;
    assert_eq!((status, error_code(&answer)), (429, -32000), "{answer}");
    assert!(error_message(&answer).contains("callsPerSession"), "{answer}");
    assert_eq!(place.sent("tools/call").len(), 1, "what is refused goes nowhere");
    session.notify("notifications/cancelled", &json!({"requestId": 1})).await;
    soon("room", async { while told(session.begin("tools/call", &slow(0)).await).await.0 != 200 {} }).await;
    drop(open);
    let (_state, entries, _) = recorded(place).await;
    assert!(entries.iter().any(|one| one["outcome"] == "denied" && one["code"] == -32000), "{entries:#?}");
}
