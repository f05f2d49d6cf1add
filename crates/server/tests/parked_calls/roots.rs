//! The roots of a client: a server that asks for them at once has them before the first call.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::*;

/// The question of the server, as an event.
const QUESTION: &str = "data: {\"jsonrpc\":\"2.0\",\"id\":\"folders?\",\"method\":\"roots/list\"}\n\n";

/// A server that asks for roots as soon as a client that has some listens.
async fn asking() -> Puppet {
    let question = tokio::sync::watch::Sender::new((QUESTION.as_bytes().to_vec(), false));
    let nothing = tokio::sync::watch::Sender::new((Vec::new(), false));
    Puppet::start(move |_, received| match received.method() {
        "initialize" => {
            let has_roots = received.body["params"]["capabilities"]["roots"].is_object();
            let result = json!({
                "protocolVersion": LEGACY, "capabilities": {"tools": {}},
                "serverInfo": {"name": "puppet", "version": "1"},
            });
            let session = if has_roots { "with" } else { "without" };
            Said::Result(result, format!("Mcp-Session-Id: {session}\r\n"))
        }
        "GET" if received.header("mcp-session-id") == Some("with") => Said::Stream(question.subscribe()),
        "GET" => Said::Stream(nothing.subscribe()),
        _ => Said::Proper,
    })
    .await
}

/// A client with roots that calls the tool at once.
struct Caller {
    client: Stdio,
    /// The call, once it was sent.
    call: Value,
    /// The server's question, once it has arrived.
    question: Value,
}

impl Caller {
    /// Starts the client, which sends its call, and waits until it is asked for its roots. The question may come first.
    async fn asked(puppet: &Puppet) -> Self {
        let mut client = Stdio::start(&format!("mcpServers: {{ up: {} }}\n", puppet.config()));
        let info = json!({"name": "client", "version": "1"});
        let hello = json!({"protocolVersion": LEGACY, "capabilities": {"roots": {}}, "clientInfo": info});
        let hello = client.begin("initialize", &hello).await;
        let mut own = Self { client, call: Value::Null, question: Value::Null };
        while own.call.is_null() || own.question.is_null() {
            let message = own.client.message().await;
            if message["method"] == "roots/list" {
                own.question = message["id"].clone();
            } else if message.get("method").is_none() && message["id"] == hello {
                let client = &mut own.client;
                client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
                own.call = client.begin("tools/call", &json!({"name": "up__ok", "arguments": {}})).await;
            }
        }
        own
    }

    /// Answers with the client's roots.
    async fn tells(&mut self) {
        let roots = json!({"roots": [{"uri": "file:///own"}]});
        let answer = json!({"jsonrpc": "2.0", "id": self.question, "result": roots});
        self.client.send(&answer.to_string()).await;
    }
}

#[tokio::test]
async fn the_first_call_comes_after_the_roots() {
    let puppet = asking().await;
    let mut caller = Caller::asked(&puppet).await;
    let early = tokio::time::timeout(Duration::from_millis(150), puppet.was_sent("tools/call", 1)).await;
    assert!(early.is_err(), "the server executed it without the roots");
    caller.tells().await;
    let call = caller.call.clone();
    assert_eq!(text(&caller.client.answer(&call).await), "ok");
    let received = puppet.received();
    let position = |wanted: &dyn Fn(&Value) -> bool| received.iter().position(|one| wanted(&one.body));
    let roots = position(&|body| body["id"] == "folders?");
    let call = position(&|body| body["method"] == "tools/call");
    assert!(roots.is_some() && roots < call, "the server executed it without the roots: {received:?}");
}

#[tokio::test]
async fn a_client_that_does_not_tell_its_roots_is_served_nevertheless() {
    let puppet = asking().await;
    let mut caller = Caller::asked(&puppet).await;
    let call = caller.call.clone();
    assert_eq!(text(&caller.client.answer(&call).await), "ok");
}
