//! The roots of a client: a server that asks for them at once has them before the first call.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::*;
use crate::{call, gateway, retry};

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

/// The message with which the tool `raw` asks for roots during a call.
const DURING_CALL: &str = r#"{"notify": {"jsonrpc":"2.0","id":"folders?","method":"roots/list"}}"#;

fn process(answer: &Value) -> String {
    text(answer).to_owned()
}

#[tokio::test]
async fn a_child_that_asks_for_roots_during_a_call_serves_no_other_client() {
    let gateway = gateway(&odd_stdio(&[]), "").await;
    let roots: Value = json!({"roots": {}});
    let number = json!({"ms": 0, "process": true});
    let asks: Value = serde_json::from_str(DURING_CALL).unwrap();
    for asked in [false, true] {
        // One client without a session, and one with a session that does not listen.
        let one = Modern { capabilities: roots.clone(), ..Modern::new(gateway.http()) };
        let two = Legacy::open_at(gateway.http(), "/mcp", LEGACY, &roots).await;
        let before = process(&two.call("up__late", &number).await);
        if asked {
            two.call("up__raw", &asks).await;
        }
        two.delete().await;
        let next = process(&one.call("up__late", &number).await);
        assert_eq!(next == before, !asked, "the process is used again if it has asked for nobody's roots");
        one.call("up__raw", &asks).await;
        let last = process(&one.call("up__late", &number).await);
        assert_ne!(last, next);
    }
}

#[tokio::test]
async fn a_session_in_which_a_server_asks_for_roots_on_the_stream_of_a_call_serves_no_other_client() {
    let sessions = std::sync::atomic::AtomicUsize::new(0);
    let puppet = Puppet::start(move |_, received| match received.method() {
        "initialize" => {
            let number = sessions.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let result = json!({
                "protocolVersion": LEGACY, "capabilities": {"tools": {}},
                "serverInfo": {"name": "puppet", "version": "1"},
            });
            Said::Result(result, format!("Mcp-Session-Id: {number}\r\n"))
        }
        "tools/call" if received.body["params"]["arguments"]["asks"] == true => {
            let result = json!({"content": [{"type": "text", "text": "asked"}]});
            let answer = json!({"jsonrpc": "2.0", "id": received.body["id"], "result": result});
            Said::Status(200, "text/event-stream", format!("{QUESTION}data: {answer}\n\n"))
        }
        "tools/call" => {
            let session = received.header("mcp-session-id").unwrap_or_default();
            Said::Result(json!({"content": [{"type": "text", "text": session}]}), String::new())
        }
        _ => Said::Proper,
    })
    .await;
    let gateway = gateway(&puppet.config(), "").await;
    let called = async |asks: bool| {
        let client = Modern { capabilities: json!({"roots": {}}), ..Modern::new(gateway.http()) };
        process(&client.call("up__ok", &json!({"asks": asks})).await)
    };
    let first = called(false).await;
    assert_eq!(called(false).await, first, "a session in which the server asks nothing is used again");
    assert_eq!(called(true).await, "asked");
    assert_ne!(called(false).await, first);
}

/// A server that asks for roots on its stream as soon as a client that has some listens, and names its session in each result.
async fn asked_before_the_call() -> (Puppet, Gateway) {
    let puppet = asking().await;
    let gateway = gateway(&puppet.config(), "").await;
    (puppet, gateway)
}

/// Returns true if the server got the roots, and a call only after them.
fn was_called_after_the_roots(puppet: &Puppet) -> bool {
    let received = puppet.received();
    let position = |wanted: &dyn Fn(&Value) -> bool| received.iter().position(|one| wanted(&one.body));
    let roots =
        position(&|body| body["id"] == "folders?" && body["result"]["roots"][0]["uri"] == "file:///own");
    let call = position(&|body| body["method"] == "tools/call");
    roots.is_some() && call.is_some() && roots < call
}

/// The next message of a stream.
async fn event(stream: &mut Reply) -> Value {
    let data = soon("a message", stream.data()).await.expect("an open stream");
    serde_json::from_str(&data).expect("a message")
}

#[tokio::test]
async fn a_stateless_client_is_asked_before_the_server_gets_its_call() {
    let (puppet, gateway) = asked_before_the_call().await;
    let client = Modern { capabilities: json!({"roots": {}}), ..Modern::new(gateway.http()) };
    let params = call("up__ok", &json!({}));
    let first = client.ask("tools/call", &params).await;
    assert_eq!(puppet.count("tools/call"), 0);
    let retried = retry(&params, &first, &json!({"roots": [{"uri": "file:///own"}]}));
    let answer = client.ask("tools/call", &retried).await;
    assert_eq!(text(&answer), "ok");
    assert!(was_called_after_the_roots(&puppet), "{:?}", puppet.received());
}

#[tokio::test]
async fn a_session_without_a_stream_is_asked_on_the_stream_of_its_first_call() {
    let (puppet, gateway) = asked_before_the_call().await;
    let client = Legacy::open_at(gateway.http(), "/mcp", LEGACY, &json!({"roots": {}})).await;
    let mut stream = client.begin("tools/call", &call("up__ok", &json!({}))).await;
    let question = event(&mut stream).await;
    assert_eq!(question["method"], "roots/list", "{question}");
    assert_eq!(puppet.count("tools/call"), 0);
    let roots = json!({"roots": [{"uri": "file:///own"}]});
    let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": roots});
    client.post(&[], &answer.to_string()).await;
    assert_eq!(text(&event(&mut stream).await), "ok");
    assert!(was_called_after_the_roots(&puppet), "{:?}", puppet.received());
}

#[tokio::test]
async fn calls_that_start_at_the_same_time_wait_for_the_same_answer() {
    let (puppet, gateway) = asked_before_the_call().await;
    let client = Legacy::open_at(gateway.http(), "/mcp", LEGACY, &json!({"roots": {}})).await;
    // One of the calls gets the question, and the other one only its answer.
    let called = async || {
        let mut reply = client.begin("tools/call", &call("up__ok", &json!({}))).await;
        if reply.is_stream() {
            let question = event(&mut reply).await;
            assert_eq!((question["method"].as_str(), puppet.count("tools/call")), (Some("roots/list"), 0));
            let roots = json!({"roots": [{"uri": "file:///own"}]});
            let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": roots});
            client.post(&[], &answer.to_string()).await;
        }
        text(&reply.response().await) == "ok"
    };
    assert_eq!(tokio::join!(called(), called()), (true, true));
    puppet.was_sent("tools/call", 2).await;
    assert!(was_called_after_the_roots(&puppet), "{:?}", puppet.received());
}

#[tokio::test]
async fn nobody_is_asked_for_roots_on_a_link_that_clients_share() {
    let question = tokio::sync::watch::Sender::new((QUESTION.as_bytes().to_vec(), false));
    let puppet = Puppet::start(move |_, received| match received.method() {
        "tools/call" => Said::Stream(question.subscribe()),
        _ => Said::Proper,
    })
    .await;
    let server = puppet.config();
    let server = format!("{}, asks: never }}", server.trim_end().trim_end_matches('}'));
    let gateway = gateway(&server, "").await;
    let client = Modern { capabilities: json!({"roots": {}}), ..Modern::new(gateway.http()) };
    let params = call("up__ok", &json!({}));
    let called = client.ask("tools/call", &params);
    let refused =
        puppet.heard("a refusal", |one| one.body["id"] == "folders?" && one.body["error"].is_object());
    tokio::select! {
        answer = called => panic!("the client was asked: {answer}"),
        _ = refused => {}
    }
}
