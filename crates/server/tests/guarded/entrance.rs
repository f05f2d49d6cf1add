//! Nobody gets access without a valid credential, and a refusal has the endpoint's own form.

use serde_json::{Value, json};

use crate::place::*;
use crate::support::*;

const CALL: &str = "tools/call";

fn echo() -> Value {
    json!({"name": "good__echo", "arguments": {"a": 1}})
}

/// The answer of each endpoint to a request with these headers: path and reply.
async fn everywhere(http: Http) -> Vec<(&'static str, Reply)> {
    let hello =
        json!({"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let mut replies = vec![
        ("/mcp", said_at(http, "/mcp", "initialize", &hello).await),
        ("/mcp", Modern::new(http).begin(CALL, &echo()).await),
        (
            "/mcp/other",
            Modern { path: "/mcp/other".to_owned(), ..Modern::new(http) }.begin(CALL, &echo()).await,
        ),
    ];
    for path in DIALECTS {
        replies.push((path, said_at(http, path, CALL, &echo()).await));
    }
    replies
}

/// Checks that the refusal of an endpoint has its own form.
fn is_told(path: &str, body: &Value) {
    let error = |code: i64, message: &str| json!({"jsonrpc": "2.0", "id": null, "error": {"code": code, "message": message}});
    match path {
        "/kulturarv" => assert_eq!(*body, error(-32001, "Authentication required")),
        "/buddyboss" => {
            let data = json!({"status": 401});
            assert_eq!(
                *body,
                json!({"code": "rest_forbidden", "message": "Authentication required.", "data": data})
            );
        }
        "/gateway" => assert_eq!(body["error"]["code"], -32003, "{body}"),
        _ => assert!(error_code(body) < 0 && body["id"].is_null(), "{body}"),
    }
}

#[tokio::test]
async fn each_credential_is_asked_for_at_each_way_in() {
    let state = State::new();
    let (ann, gone) = (state.new_key(&["ann"]).await, state.new_key(&["gone"]).await);
    let brief = state.new_key(&["brief", "--expires", "1s"]).await;
    let elsewhere = State::new().new_key(&["ann"]).await;
    state.run(&["key", "revoke", "gone"]).await;
    let place = Place::start_in(state, "").await;
    let http = place.gateway.http();
    for good in [bearer(TOKEN), bearer(&ann), basic("ann", "battery staple")] {
        for (path, mut reply) in everywhere(http.showing(&good)).await {
            let answer = reply.response().await;
            assert!(reply.status == 200 && is_fine(&answer), "{path}: {answer}");
        }
    }
    // It is refused after it has expired; until then, it may have been accepted.
    soon("the end of a key", async {
        while Modern::new(place.by(&brief)).begin(CALL, &echo()).await.status != 401 {}
    })
    .await;
    let until_then = place.sent(CALL).len();
    let (cut, last) = ann.split_at(ann.len() - 1);
    let mistyped = format!("{cut}{}", if last == "a" { "b" } else { "a" });
    let wrong = [
        bearer("to-ken-3333-4444"),
        bearer(&TOKEN[1..]),
        bearer(&mistyped),
        bearer(&elsewhere),
        bearer(&gone),
        bearer(&brief),
        bearer("battery staple"),
        basic("ann", "battery"),
        basic("bob", "battery staple"),
        basic("ann", TOKEN),
        basic("ann", &ann),
        TOKEN.to_owned(),
        "Basic".to_owned(),
    ];
    for shown in wrong.iter().map(|value| http.showing(value)).chain([http]) {
        for (path, mut reply) in everywhere(shown).await {
            assert_eq!(reply.status, 401, "{path} {shown:?}");
            let challenge = reply.header("www-authenticate").to_owned();
            assert!(challenge.contains("Bearer") && challenge.contains("Basic"), "{path}: {challenge}");
            assert_eq!(reply.header("mcp-session-id"), "");
            let text = reply.text().await;
            is_told(path, &serde_json::from_str(&text).expect("JSON"));
            for part in wrong.iter().flat_map(|value| value.split(' ')).filter(|part| part.len() > 8) {
                assert!(!text.contains(part) && !challenge.contains(part), "{path}: {text} {challenge}");
            }
            assert!(!text.contains("good__"), "{text}");
        }
    }
    assert_eq!(place.sent(CALL).len(), until_then, "nothing went further");
}

#[tokio::test]
async fn a_key_for_some_profiles_opens_no_others() {
    let state = State::new();
    let key = state.new_key(&["one", "--profile", "other"]).await;
    let place = Place::start_in(state, "").await;
    let mine = place.by(&key);
    let fine =
        Modern { path: "/mcp/other".to_owned(), ..Modern::new(mine) }.call("good__echo", &json!({})).await;
    assert!(is_fine(&fine), "{fine}");
    for (path, mut reply) in everywhere(mine).await {
        if path == "/mcp/other" {
            continue;
        }
        let body = reply.json().await;
        assert_eq!(reply.status, 403, "{path}: {body}");
        if path == "/buddyboss" {
            assert_eq!((&body["code"], &body["data"]["status"]), (&json!("rest_forbidden"), &json!(403)));
        }
        assert!(!body.to_string().contains("good__"), "{body}");
    }
    // Older clients reach the default profile by a separate path.
    assert_eq!(mine.get("/sse", &[("Accept", "text/event-stream")]).await.status, 403);
    assert_eq!(mine.get("/mcp", &[("Accept", "text/event-stream")]).await.status, 403);
    assert_eq!(mine.get("/events", &[("Accept", "text/event-stream")]).await.status, 403);
    assert_eq!(mine.get("/mcp/other", &[("Accept", "text/event-stream")]).await.status, 200);
    // A session of one profile is unknown to another, even for the same caller.
    let session = Legacy::open_at(mine, "/mcp/other", LEGACY, &json!({})).await;
    assert!(is_fine(&session.call("good__echo", &json!({})).await));
    let all = place.by(TOKEN);
    let everywhere = Legacy::open(all).await;
    let list = request(1, "tools/list", &json!({})).to_string();
    assert_eq!(all.post("/mcp/other", &everywhere.headers(), &list).await.status, 404);
}

#[tokio::test]
async fn a_key_that_is_revoked_ends_its_sessions_too() {
    let place = Place::start("").await;
    let key = place.state.new_key(&["ann"]).await;
    let ways = Way::all(place.by(&key)).await;
    for way in &ways {
        assert!(is_fine(&way.call("good__echo", &json!({})).await), "{}", way.name());
    }
    place.state.run(&["key", "revoke", "ann"]).await;
    for way in &ways {
        soon("the end of a key", async { while way.begin("tools/list", &json!({})).await.status != 401 {} })
            .await;
    }
    let calls = place.sent(CALL).len();
    for way in &ways {
        assert_eq!(way.begin(CALL, &echo()).await.status, 401, "{}", way.name());
    }
    assert_eq!(place.sent(CALL).len(), calls);
}
