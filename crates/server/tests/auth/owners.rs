//! A session belongs to the caller that opened it, whatever others know of it.

use serde_json::json;

use crate::rig::*;
use crate::support::*;

#[tokio::test]
async fn nobody_else_can_use_a_session() {
    let state = State::new();
    let gateway = Gateway::start(&format!("{}{}", config("{ keys: true }"), state.line())).await;
    let http = gateway.http();
    let (mine, other) = (bearer(&state.new_key(&["mine"]).await), bearer(&state.new_key(&["other"]).await));
    let id = visit(http, "/mcp", &mine).await.header("mcp-session-id").to_owned();
    assert!(!id.is_empty());
    let list = request(1, "tools/list", &json!({})).to_string();
    let headers =
        |who| [("Authorization", who), ("Mcp-Session-Id", id.as_str()), ("MCP-Protocol-Version", LEGACY)];
    let (mine, other) = (headers(&mine), headers(&other));
    assert_eq!(http.post("/mcp", &mine, &list).await.status, 200);
    assert_eq!(http.post("/mcp", &other, &list).await.status, 404);
    assert_eq!(http.get("/mcp", &other).await.status, 404);
    assert_eq!(http.delete("/mcp", &other).await.status, 404);
    assert_eq!(http.post("/mcp", &mine[1..], &list).await.status, 401);
    assert_eq!(http.delete("/mcp", &mine[1..]).await.status, 401);
    assert_eq!(http.post("/mcp", &mine, &list).await.status, 200, "and it is still there");
}

#[tokio::test]
async fn nobody_else_can_post_into_an_event_stream() {
    let state = State::new();
    let gateway = Gateway::start(&format!("{}{}", config("{ keys: true }"), state.line())).await;
    let http = gateway.http();
    let (mine, other) = (bearer(&state.new_key(&["mine"]).await), bearer(&state.new_key(&["other"]).await));
    let (mine, other) = ([("Authorization", mine.as_str())], [("Authorization", other.as_str())]);
    let mut stream = http.get("/sse", &mine).await;
    let messages = stream.data().await.expect("where messages go");
    let hello = json!({"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
    let hello = request(1, "initialize", &hello).to_string();
    assert_eq!(http.post(&messages, &other, &hello).await.status, 404);
    assert_eq!(http.post(&messages, &[], &hello).await.status, 401);
    assert_eq!(http.post(&messages, &mine, &hello).await.status, 202);
    let answer = stream.message().await.expect("an answer");
    assert_eq!(answer["result"]["protocolVersion"], "2024-11-05", "{answer}");
}

#[tokio::test]
async fn a_key_is_good_for_its_profiles() {
    let state = State::new();
    let gateway = Gateway::start(&format!("{}{}", config("{ keys: true }"), state.line())).await;
    let key = bearer(&state.new_key(&["mine", "--profile", "other"]).await);
    assert_eq!(visit(gateway.http(), "/mcp/other", &key).await.status, 200);
    for path in ["/mcp", "/mcp/default"] {
        let status = visit(gateway.http(), path, &key).await.status;
        assert!([403, 404].contains(&status), "{path}: {status}");
    }
}
