//! Faults of a line, or of the order of lines, on the standard input of `dragoman stdio`.

mod support;

use serde_json::{Value, json};
use support::*;
use testkit::fixture::Eras;

#[tokio::test]
async fn a_line_that_is_too_long_is_refused_and_the_next_one_counts() {
    let config = "mcpServers: { demo: { native: demo } }\nlimits: { line: 64KiB }\n";
    let mut client = Stdio::open(config).await;
    for length in [(64 << 10) + 1, 8 << 20] {
        let long = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"x":"{}"}}}}"#,
            "x".repeat(length)
        );
        client.send(&long).await;
        let refusal = client.message().await;
        assert_eq!((error_code(&refusal), &refusal["id"]), (-32600, &json!(null)), "{refusal}");
        let message = error_message(&refusal);
        assert!(message.contains("65536") && message.contains("limits.line"), "{refusal}");
        assert_eq!(text(&client.call("demo__echo", &json!({"text": "x"})).await), "x");
    }
    assert_eq!(client.close().await.code, Some(0));
}

#[tokio::test]
async fn an_endless_line_takes_no_memory() {
    let config = "mcpServers: { demo: { native: demo } }\nlimits: { line: 64KiB }\n";
    let mut client = Stdio::open(config).await;
    let before = peak_memory(client.pid());
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..512 {
        client.send_bytes(&piece).await;
    }
    client.send_bytes(b"\n").await;
    assert!(error_message(&client.message().await).contains("limits.line"));
    assert_eq!(client.ask("ping", &json!({})).await["result"], json!({}));
    let grown = peak_memory(client.pid()).saturating_sub(before);
    assert!(grown < 8 << 20, "{grown} bytes more");
}

#[tokio::test]
async fn an_unfinished_last_line_is_answered() {
    let mut client = Stdio::open("mcpServers: { demo: { native: demo } }").await;
    client.send_bytes(br#"{"jsonrpc":"2.0","id":"last","method":"ping"}"#).await;
    let ended = client.close().await;
    assert_eq!(ended.code, Some(0));
    assert_eq!(ended.out, "{\"jsonrpc\":\"2.0\",\"id\":\"last\",\"result\":{}}\n");
    let mut client = Stdio::open("mcpServers: { demo: { native: demo } }").await;
    client.send_bytes(br#"{"jsonrpc":"2.0","id":"la"#).await;
    let ended = client.close().await;
    assert_eq!(ended.code, Some(0));
    assert!(ended.out.contains("-32700"), "{}", ended.out);
}

#[tokio::test]
async fn messages_in_the_wrong_order_are_refused() {
    let mut client = Stdio::start("mcpServers: { demo: { native: demo } }");
    let refusal = client.ask("tools/list", &json!({})).await;
    assert_eq!(error_code(&refusal), -32600);
    assert!(error_message(&refusal).contains("initialize"), "{refusal}");
    // A ping is allowed at any time.
    assert_eq!(client.ask("ping", &json!({})).await["result"], json!({}));
    // Notifications and answers before the handshake have no recipient.
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    client.send(r#"{"jsonrpc":"2.0","id":5,"result":{}}"#).await;
    let hello = client.initialize(LEGACY, &json!({})).await;
    assert_eq!(hello["result"]["protocolVersion"], LEGACY);
    let again = client.ask("initialize", &json!({"protocolVersion": LEGACY, "capabilities": {}})).await;
    assert_eq!(error_code(&again), -32600);
    assert!(error_message(&again).contains("already"), "{again}");
    assert_eq!(text(&client.call("demo__echo", &json!({"text": "x"})).await), "x");
}

#[tokio::test]
async fn an_id_that_is_in_use_is_refused() {
    let good = fixture(Eras::Both).await;
    let mut client = Stdio::open(&Scene::config(&good, &[], "")).await;
    let slow = request("same", "tools/call", &json!({"name": "good__slow", "arguments": {"ms": 600_000}}));
    client.send(&slow.to_string()).await;
    client.send(&slow.to_string()).await;
    let refusal = client.answer(&json!("same")).await;
    assert_eq!(error_code(&refusal), -32600);
    assert!(error_message(&refusal).contains("id"), "{refusal}");
    // The first call continues until it is cancelled; then the ID is free.
    client
        .send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"same"}}"#)
        .await;
    client.send(&request("same", "ping", &json!({})).to_string()).await;
    assert_eq!(client.answer(&json!("same")).await["result"], json!({}));
}

const CANCELLED: &str =
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"slow"}}"#;

/// The params of a call, in the era of the session or with the metadata of a stateless request.
fn called(tool: &str, ms: u32, stateless: bool) -> Value {
    let mut params = json!({"name": format!("good__{tool}"), "arguments": {"ms": ms}});
    if stateless {
        params["_meta"] = meta(&json!({}));
    }
    params
}

#[tokio::test]
async fn a_cancellation_in_the_same_write_reaches_its_call() {
    let good = fixture(Eras::Both).await;
    for stateless in [false, true] {
        let mut client = Stdio::open(&Scene::config(&good, &[], "limits: { callsPerSession: 1 }\n")).await;
        let slow = request("slow", "tools/call", &called("slow", 600_000, stateless));
        client.send_bytes(format!("{slow}\n{CANCELLED}\n").as_bytes()).await;
        // The capacity for the only call is free again.
        soon("room", async {
            while client.ask("tools/call", &called("slow", 0, stateless)).await.get("error").is_some() {}
        })
        .await;
        let ended = soon("the end", client.close()).await;
        assert!(!ended.out.contains("slow"), "{}", ended.out);
    }
}

#[tokio::test]
async fn calls_beyond_the_cap_are_refused_and_the_rest_is_answered() {
    let good = fixture(Eras::Both).await;
    for stateless in [false, true] {
        let mut client = Stdio::open(&Scene::config(&good, &[], "limits: { callsPerSession: 2 }\n")).await;
        let mut flood = String::new();
        for id in 1000..1400 {
            let call = request(id, "tools/call", &called("slow", 600_000, stateless));
            flood.extend([call.to_string().as_str(), "\n"]);
        }
        client.send_bytes(flood.as_bytes()).await;
        for _ in 0..398 {
            let refusal = client.message().await;
            assert!(error_message(&refusal).contains("too many"), "{refusal}");
            assert_eq!(error_code(&refusal), -32000, "{refusal}");
        }
        assert_eq!(client.ask("ping", &json!({})).await["result"], json!({}));
        let params = if stateless { json!({"_meta": meta(&json!({}))}) } else { json!({}) };
        assert!(client.ask("tools/list", &params).await["result"]["tools"].is_array());
        kill(client.pid(), rustix::process::Signal::KILL);
    }
}

#[tokio::test]
async fn stateless_messages_are_checked_without_headers() {
    let mut client = Stdio::start("mcpServers: { demo: { native: demo } }");
    let mut params = json!({"_meta": meta(&json!({}))});
    assert!(client.ask("tools/list", &params).await["result"]["tools"].is_array());
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!(7);
    let refusal = client.ask("tools/list", &params).await;
    assert_eq!(error_code(&refusal), -32602);
    assert!(error_message(&refusal).contains("clientCapabilities"), "{refusal}");
    params["_meta"] = meta(&json!({}));
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2099-01-01");
    let refusal = client.ask("tools/list", &params).await;
    assert_eq!(error_code(&refusal), -32022);
    assert_eq!(refusal["error"]["data"], json!({"supported": [MODERN], "requested": "2099-01-01"}));
    params["_meta"] = meta(&json!({}));
    for gone in ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"] {
        assert_eq!(error_code(&client.ask(gone, &params).await), -32601, "{gone}");
    }
    // The process still accepts a handshake.
    assert_eq!(client.initialize(LEGACY, &json!({})).await["result"]["protocolVersion"], LEGACY);
    assert_eq!(text(&client.call("demo__echo", &json!({"text": "x"})).await), "x");
}

#[tokio::test]
async fn a_profile_that_does_not_exist_is_answered_with_those_that_do() {
    let config = "mcpServers: { demo: { native: demo } }\nprofiles: { default: {}, editors: {} }\n";
    let ended =
        run_to_end("stdio", &Start { config, args: &["--profile", "nobody"], ..Start::default() }).await;
    assert_eq!(ended.code, Some(2));
    assert!(ended.err.contains("nobody") && ended.err.contains("editors"), "{}", ended.err);
    assert_eq!(ended.out, "");
}

#[tokio::test]
async fn an_array_is_answered_by_one_array_where_the_version_has_them() {
    let mut client = Stdio::start("mcpServers: { demo: { native: demo } }");
    client.initialize("2025-03-26", &json!({})).await;
    let call = |id: u32| {
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": "demo__echo", "arguments": {"text": id.to_string()}}})
    };
    let again = json!({"jsonrpc": "2.0", "id": "i", "method": "initialize", "params": {}});
    let note = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let array =
        json!([call(1), note, {"jsonrpc": "2.0", "id": "p", "method": "ping"}, again, call(2), {"id": 9}]);
    client.send(&array.to_string()).await;
    let answers = client.message().await;
    let mut seen: Vec<String> = answers
        .as_array()
        .expect("one array")
        .iter()
        .map(|answer| match answer.get("error") {
            Some(error) => format!("{} {}", answer["id"], error["code"]),
            None => answer["id"].to_string(),
        })
        .collect();
    seen.sort();
    assert_eq!(seen, ["\"i\" -32600", "\"p\"", "1", "2", "9 -32600"], "{answers}");
    client.send(&json!([note]).to_string()).await;
    assert_eq!(client.ask("ping", &json!({})).await["result"], json!({}), "notifications are not answered");
    client.send("[]").await;
    assert_eq!(error_code(&client.message().await), -32600);
    let mut newer = Stdio::open("mcpServers: { demo: { native: demo } }").await;
    newer.send(&array.to_string()).await;
    assert_eq!(error_code(&newer.message().await), -32600);
}
