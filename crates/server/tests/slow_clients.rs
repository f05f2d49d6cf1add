//! Late or long answers, and clients that do not read them: each call ends, and its client gets an answer.

mod support;

use serde_json::{Value, json};
use support::*;

#[tokio::test]
async fn a_client_that_reads_nothing_does_not_stop_the_clock() {
    let actor = Actor::start(Speaks::Handshake).await;
    let config = format!("mcpServers:\n  up: {}\nlimits: {{ callIdleTimeout: 1s }}\n", actor.config());
    let gateway = Gateway::start(&config).await;
    let mut params = json!({"name": "up__ok", "arguments": {}, "_meta": meta(&json!({}))});
    params["_meta"]["progressToken"] = json!("p");
    let body = request(1, "tools/call", &params).to_string();
    let headers = [("MCP-Protocol-Version", MODERN), ("Mcp-Method", "tools/call"), ("Mcp-Name", "up__ok")];
    let head = gateway.http().head("POST", "/mcp", &headers, body.len());
    let unread = gateway.http().raw((head + &body).as_bytes()).await;
    let line = actor.next("tools/call").await;
    let token = &line.received.body["params"]["_meta"]["progressToken"];
    // More than all buffers along the connection can hold.
    for progress in 1..=300 {
        let params = json!({"progressToken": token, "progress": progress, "message": "x".repeat(200_000)});
        line.say(&json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}));
    }
    actor.heard_of("notifications/cancelled", &line).await;
    drop(unread);
}

#[tokio::test]
async fn an_answer_that_breaks_off_on_an_open_stream_is_an_error_there() {
    let (old, new) = tokio::join!(OddHttp::start(&[]), OddHttp::start(&["--modern"]));
    let config = format!("mcpServers:\n  old: {}\n  new: {}\n", old.config(), new.config());
    let gateway = Gateway::start(&config).await;
    let (legacy, modern) = (Legacy::open(gateway.http()).await, Modern::new(gateway.http()));
    // After 15 seconds without a message, a client gets a stream.
    let params = |server: &str| {
        let arguments = json!({"later": 15_500, "half": true, "text": "x".repeat(512 << 10)});
        json!({"name": format!("{server}__die"), "arguments": arguments})
    };
    let (to_old, to_new) = (params("old"), params("new"));
    let replies = tokio::join!(legacy.begin("tools/call", &to_old), modern.begin("tools/call", &to_new));
    let is_told = async |mut reply: Reply, server: &str| {
        assert!(reply.is_stream(), "{server}");
        let answer: Value = reply.response().await;
        assert_eq!(error_code(&answer), -32603, "{answer}");
        assert_eq!(answer["error"]["data"]["server"], server);
    };
    tokio::join!(is_told(replies.0, "old"), is_told(replies.1, "new"));
}
