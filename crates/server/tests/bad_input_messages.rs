//! Faults of a message: its JSON, its JSON-RPC, its parameters. They are the same over HTTP and over stdio, and in
//! both eras; the answer has the message's ID if it could be read.

mod support;

use serde_json::{Value, json};
use support::*;

/// A text, the error's code, the ID in the answer, and a word of the reason.
type Refused<T> = (T, i64, Value, &'static str);

/// Texts that are not messages.
fn no_messages() -> Vec<Refused<String>> {
    let written = no_json_rpc().into_iter().chain(ill_formed());
    written.map(|(text, code, id, why)| (text.to_owned(), code, id, why)).chain(too_much()).collect()
}

fn no_json_rpc() -> Vec<Refused<&'static str>> {
    vec![
        // Not JSON.
        ("{", -32700, json!(null), "JSON"),
        ("not json", -32700, json!(null), "JSON"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping"} {}"#, -32700, json!(null), "JSON"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping",}"#, -32700, json!(null), "JSON"),
        (r#"{"jsonrpc":"2.0","id":01,"method":"ping"}"#, -32700, json!(null), "JSON"),
        (r#"{"jsonrpc":"2.0","id":NaN,"method":"ping"}"#, -32700, json!(null), "JSON"),
        ("{'jsonrpc':'2.0','id':1,'method':'ping'}", -32700, json!(null), "JSON"),
        ("\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", -32700, json!(null), "JSON"),
        // Not an object.
        (r#""ping""#, -32600, json!(null), "object"),
        ("7", -32600, json!(null), "object"),
        ("null", -32600, json!(null), "object"),
        ("true", -32600, json!(null), "object"),
        ("[]", -32600, json!(null), "batch"),
        // Not JSON-RPC 2.0.
        ("{}", -32600, json!(null), "jsonrpc"),
        (r#"{"id":5,"method":"ping"}"#, -32600, json!(5), "jsonrpc"),
        (r#"{"jsonrpc":"1.0","id":5,"method":"ping"}"#, -32600, json!(5), "jsonrpc"),
        (r#"{"jsonrpc":2.0,"id":5,"method":"ping"}"#, -32600, json!(5), "jsonrpc"),
        (r#"{"jsonrpc":"2.0","jsonrpc":"2.0","id":5,"method":"ping"}"#, -32600, json!(5), "jsonrpc"),
    ]
}

fn ill_formed() -> Vec<Refused<&'static str>> {
    vec![
        // IDs that MCP does not allow.
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600, json!(null), "null"),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600, json!(null), "fraction"),
        (r#"{"jsonrpc":"2.0","id":1e3,"method":"ping"}"#, -32600, json!(null), "exponent"),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600, json!(null), "string"),
        (r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, -32600, json!(null), "string"),
        (r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, -32600, json!(null), "string"),
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, -32600, json!(null), "id"),
        // Methods and parameters.
        (r#"{"jsonrpc":"2.0","id":"a"}"#, -32600, json!("a"), "method"),
        (r#"{"jsonrpc":"2.0","id":"a","method":7}"#, -32600, json!("a"), "method"),
        (r#"{"jsonrpc":"2.0","id":"a","method":"ping","method":"x"}"#, -32600, json!("a"), "method"),
        (r#"{"jsonrpc":"2.0","id":"a","method":"ping","result":{}}"#, -32600, json!("a"), "exactly one"),
        (r#"{"jsonrpc":"2.0","id":"a","result":{},"error":{}}"#, -32600, json!("a"), "exactly one"),
        (r#"{"jsonrpc":"2.0","result":{}}"#, -32600, json!(null), "id"),
        (r#"{"jsonrpc":"2.0","id":"a","method":"ping","params":[1]}"#, -32600, json!("a"), "params"),
        (r#"{"jsonrpc":"2.0","id":"a","method":"ping","params":{"_meta":1}}"#, -32600, json!("a"), "_meta"),
    ]
}

fn too_much() -> Vec<Refused<String>> {
    let depth = 200;
    let nested = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let deep = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"x":{nested}}}}}"#);
    vec![
        (deep, -32700, json!(null), "limits.jsonDepth"),
        ("[".repeat(1 << 20), -32700, json!(null), "JSON"),
        (r#"{"a":"#.repeat(1 << 18), -32700, json!(null), "JSON"),
        (
            format!(r#"{{"jsonrpc":"2.0","id":{},"method":"ping"}}"#, "9".repeat(5000)),
            -32600,
            json!(null),
            "1024",
        ),
        (
            format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"ping"}}"#, "x".repeat(5000)),
            -32600,
            json!(null),
            "1024",
        ),
    ]
}

fn check(answer: &Value, code: i64, id: &Value, why: &str, of: &str) {
    let of: String = of.chars().take(100).collect();
    assert_eq!(answer["jsonrpc"], "2.0", "{of}: {answer}");
    assert_eq!(answer.get("id"), Some(id), "{of}: {answer}");
    assert_eq!(error_code(answer), code, "{of}: {answer}");
    assert!(error_message(answer).contains(why), "{of}: {answer}");
}

#[tokio::test]
async fn what_is_no_message_is_refused_over_http() {
    let scene = Scene::new(&[], "").await;
    let session = scene.witness();
    let modern = [("MCP-Protocol-Version", MODERN), ("Mcp-Method", "ping")];
    for (text, code, id, why) in no_messages() {
        for headers in [session.headers().as_slice(), &modern, &[]] {
            let mut reply = scene.http().post("/mcp", headers, &text).await;
            assert_eq!(reply.status, 400);
            check(&reply.json().await, code, &id, why, &text);
        }
    }
    for bytes in [b"".as_slice(), b"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}", b"\0\0\0"] {
        let mut reply = scene.http().send("POST", "/mcp", &session.headers(), bytes).await;
        assert_eq!(reply.status, 400);
        check(&reply.json().await, -32700, &json!(null), "JSON", &String::from_utf8_lossy(bytes));
    }
    scene.is_well().await;
}

#[tokio::test]
async fn what_is_no_message_is_refused_over_stdio() {
    let mut client = Stdio::open("mcpServers: { demo: { native: demo } }").await;
    for (text, code, id, why) in no_messages() {
        client.send(&text).await;
        check(&client.message().await, code, &id, why, &text);
        // The next message works again.
        assert_eq!(client.ask("ping", &json!({})).await["result"], json!({}));
    }
    client.send_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}\n").await;
    check(&client.message().await, -32700, &json!(null), "JSON", "not UTF-8");
    // Empty lines are not messages, and are ignored.
    client.send_bytes(b"\n\r\n  \n").await;
    assert_eq!(text(&client.call("demo__echo", &json!({"text": "x"})).await), "x");
    assert_eq!(client.close().await.code, Some(0));
}

#[tokio::test]
async fn odd_but_allowed_ids_come_back_as_they_were_written() {
    let scene = Scene::new(&[], "").await;
    let session = scene.witness();
    let mut stdio = Stdio::open("mcpServers: { demo: { native: demo } }").await;
    for id in
        ["-0", "0", "18446744073709551617", "-99999999999999999999999999", r#""""#, r#""\u0041\n""#, r#""ü""#]
    {
        let message = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        let wanted = format!(r#""id":{id},"#);
        let answer = session.post(&[], &message).await.text().await;
        assert!(answer.contains(&wanted), "{answer}");
        stdio.send(&message).await;
        let answer = stdio.line().await.expect("an answer");
        assert!(answer.contains(&wanted), "{answer}");
    }
}

/// Valid messages with impossible requests: method, parameters, code, a word of the reason.
fn misfits() -> Vec<(&'static str, Value, i64, &'static str)> {
    vec![
        ("tools/call", json!({}), -32602, "name"),
        ("tools/call", json!({"name": 7}), -32602, "name"),
        ("tools/call", json!({"name": "good__nothing"}), -32602, "good__nothing"),
        ("tools/call", json!({"name": "nobody__echo"}), -32602, "nobody__echo"),
        ("tools/call", json!({"name": "good__echo", "arguments": [1]}), -32602, "arguments"),
        ("tools/call", json!({"name": "good__echo", "arguments": "x"}), -32602, "arguments"),
        ("tools/list", json!({"cursor": "nonsense"}), -32602, "cursor"),
        ("tools/list", json!({"cursor": 7}), -32602, "cursor"),
        ("resources/list", json!({"cursor": "nonsense"}), -32602, "cursor"),
        ("prompts/get", json!({}), -32602, "name"),
        ("prompts/get", json!({"name": "good__nothing"}), -32602, "good__nothing"),
        ("resources/read", json!({}), -32602, "uri"),
        ("resources/read", json!({"uri": 7}), -32602, "uri"),
        ("completion/complete", json!({}), -32602, "ref"),
        ("completion/complete", json!({"ref": []}), -32602, "ref"),
        ("completion/complete", json!({"ref": {"type": "ref/prompt", "name": "nobody"}}), -32602, "nobody"),
    ]
}

#[tokio::test]
async fn requests_that_ask_for_what_cannot_be_are_refused() {
    let scene = Scene::new(&[], "").await;
    let session = scene.witness();
    let modern = Modern::new(scene.http());
    let config = Scene::config(&scene.good, &[], "");
    let mut stdio = Stdio::open(&config).await;
    for (method, params, code, why) in misfits() {
        let of = format!("{method} {params}");
        let mut reply = session.begin(method, &params).await;
        assert_eq!(reply.status, 200, "{of}");
        let answers =
            [reply.response().await, modern.ask(method, &params).await, stdio.ask(method, &params).await];
        for answer in answers {
            assert_eq!(error_code(&answer), code, "{of}: {answer}");
            assert!(error_message(&answer).contains(why), "{of}: {answer}");
        }
    }
    // Each era has its own error for a missing resource.
    let missing = json!({"uri": "nowhere://x"});
    assert_eq!(error_code(&session.ask("resources/read", &missing).await), -32002);
    let answer = modern.ask("resources/read", &missing).await;
    assert_eq!((error_code(&answer), &answer["error"]["data"]["uri"]), (-32602, &json!("nowhere://x")));
    scene.is_well().await;
}

#[tokio::test]
async fn unknown_methods_are_refused_and_unknown_notifications_are_not() {
    let scene = Scene::new(&[], "").await;
    let session = scene.witness();
    for method in ["nonsense", "", "tools/List", "server/discover", "subscriptions/listen", "rpc.ping"] {
        let mut reply = session.begin(method, &json!({})).await;
        assert_eq!(reply.status, 200, "{method}");
        let answer = reply.json().await;
        assert_eq!(error_code(&answer), -32601, "{answer}");
        // An unknown method may belong to an extension that a server declares; then that server refuses it.
        assert!(error_message(&answer).contains(method), "{answer}");
    }
    for method in ["notifications/nonsense", "notifications/cancelled", "nonsense"] {
        session.notify(method, &json!({"requestId": {"a": 1}})).await;
    }
    // Answers to unknown IDs are accepted and dropped.
    for answer in
        [r#"{"jsonrpc":"2.0","id":99,"result":{}}"#, r#"{"jsonrpc":"2.0","id":null,"error":{"code":1}}"#]
    {
        assert_eq!(session.post(&[], answer).await.status, 202, "{answer}");
    }
    scene.is_well().await;
}

#[tokio::test]
async fn initialize_requests_that_do_not_fit_are_refused() {
    let scene = Scene::new(&[], "").await;
    for (params, why) in [
        (json!({}), "protocolVersion"),
        (json!({"protocolVersion": []}), "protocolVersion"),
        (json!({"protocolVersion": LEGACY, "capabilities": 7}), "capabilities"),
        // It is kept as long as the session exists.
        (
            json!({"protocolVersion": LEGACY, "capabilities": {"experimental": {"x": "x".repeat(64 << 10)}}}),
            "bytes",
        ),
    ] {
        let mut reply =
            scene.http().post("/mcp", &[], &request("i", "initialize", &params).to_string()).await;
        let answer = reply.json().await;
        check(&answer, -32602, &json!("i"), why, &params.to_string());
        assert_eq!(reply.header("mcp-session-id"), "");
    }
    let notice = r#"{"jsonrpc":"2.0","method":"initialize","params":{}}"#;
    let mut reply = scene.http().post("/mcp", &[], notice).await;
    check(&reply.json().await, -32600, &json!(null), "id", notice);
    // Unknown versions get the newest version with a handshake, as the specification requires.
    for version in ["1999-01-01", "nonsense", "", MODERN, "2099-01-01"] {
        let session = Legacy::open_at(scene.http(), "/mcp", version, &json!({})).await;
        assert_eq!(session.version, LEGACY, "{version:?}");
    }
    scene.is_well().await;
}

#[tokio::test]
async fn batches_belong_to_one_era() {
    let scene = Scene::new(&[], "limits: { batch: 4 }\n").await;
    let two = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]"#;
    for version in [LEGACY, "2025-06-18"] {
        let session = Legacy::open_at(scene.http(), "/mcp", version, &json!({})).await;
        let mut reply = session.post(&[], two).await;
        assert_eq!(reply.status, 400);
        check(&reply.json().await, -32600, &json!(null), "one message", version);
    }
    let mut reply = scene.http().post("/mcp", &[("MCP-Protocol-Version", MODERN)], two).await;
    assert_eq!(reply.status, 400);
    check(&reply.json().await, -32600, &json!(null), "one message", MODERN);
    let mut reply = scene.http().post("/mcp", &[], two).await;
    assert_eq!(reply.status, 400);
    check(&reply.json().await, -32600, &json!(null), "one message", "no version");
    let session = scene.witness();
    let headers = [("Mcp-Session-Id", session.id.as_str()), ("MCP-Protocol-Version", "banana")];
    assert_eq!(scene.http().post("/mcp", &headers, two).await.status, 400);

    let session = Legacy::open_at(scene.http(), "/mcp", "2025-03-26", &json!({})).await;
    let mixed = format!(
        r#"[{{"jsonrpc":"2.0","id":1,"method":"ping"}},7,{},{{"jsonrpc":"2.0","id":1.5,"method":"ping"}}]"#,
        request(3, "initialize", &json!({"protocolVersion": LEGACY}))
    );
    let mut reply = session.post(&[], &mixed).await;
    assert_eq!(reply.status, 200);
    let answers = reply.json().await;
    let mut codes: Vec<(String, Option<i64>)> = answers
        .as_array()
        .expect("an array")
        .iter()
        .map(|answer| (answer["id"].to_string(), answer["error"]["code"].as_i64()))
        .collect();
    codes.sort();
    let wanted = [("1", None), ("3", Some(-32600)), ("null", Some(-32600)), ("null", Some(-32600))];
    assert_eq!(codes, wanted.map(|(id, code)| (id.to_owned(), code)));
    let five = format!("[{}]", [r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#; 5].join(","));
    let mut reply = session.post(&[], &five).await;
    assert_eq!(reply.status, 400);
    check(&reply.json().await, -32600, &json!(null), "1 to 4 messages (`limits.batch`", "five");
    scene.is_well().await;
}
