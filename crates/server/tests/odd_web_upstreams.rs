//! Upstreams over HTTP that use the freedoms of the standard: progress outside the call's stream, arrays of messages,
//! slow bodies; and clients that are disconnected for a while or send unknown messages.

mod support;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use support::*;

/// The longest wait of a puppet.
const LONG: Duration = Duration::from_secs(30);

/// An event stream with these messages, which stays open.
fn events(messages: &[Value]) -> Vec<u8> {
    let mut text = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n".to_owned();
    for message in messages {
        text.extend(["data: ", &message.to_string(), "\n\n"]);
    }
    text.into_bytes()
}

fn config(puppet: &Puppet, rest: &str) -> String {
    format!("{rest}mcpServers:\n  up: {}\n", puppet.config())
}

fn told(method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

/// The last event's ID and its message, if it has one.
async fn numbered(stream: &mut Reply) -> (String, Option<Value>) {
    let event = stream.event().await.expect("an event");
    let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name)).map(str::trim_start);
    let data = field("data:").filter(|data| !data.is_empty());
    (field("id:").unwrap_or_default().to_owned(), data.map(|data| serde_json::from_str(data).expect("JSON")))
}

/// A value by which a test controls a script of its puppet, or one script controls another.
type Gate<T> = (Mutex<T>, Condvar);

/// Waits in a script for a value. The runtime must know that its thread blocks, because other threads may depend on this
/// thread for their events.
fn waited_for<T: Clone>(gate: &Gate<T>, is_told: impl Fn(&T) -> bool) -> T {
    tokio::task::block_in_place(|| {
        let state = gate.0.lock().expect("nobody panics");
        gate.1.wait_timeout_while(state, LONG, |state| !is_told(state)).expect("nobody panics").0.clone()
    })
}

fn open<T>(gate: &Gate<T>, state: T) {
    *gate.0.lock().expect("nobody panics") = state;
    gate.1.notify_all();
}

/// Progress on the upstream's standing stream reaches only the client of the call, with that client's token. A log message
/// reaches the client that has the only open call.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn progress_beside_the_call() {
    // The session of the received call, and the call's token.
    let call: Gate<Option<(String, Value)>> = Gate::default();
    let puppet = Puppet::start(move |number, request| match request.method() {
        "initialize" => {
            let info = json!({"name": "beside", "version": "1"});
            let hello = json!({"protocolVersion": LEGACY, "capabilities": {"tools": {}}, "serverInfo": info});
            Said::Result(hello, format!("Mcp-Session-Id: {number}\r\n"))
        }
        "GET" => {
            // Its session's stream opens with the progress of the call; other sessions need no stream.
            let (session, token) = waited_for(&call, Option::is_some).expect("a call");
            if session != request.headers["mcp-session-id"] {
                return Said::Status(405, "text/plain", String::new());
            }
            Said::Hold(events(&[
                told("notifications/progress", &json!({"progressToken": 999_999, "progress": 1})),
                told("notifications/progress", &json!({"progressToken": token, "progress": 2})),
                told("notifications/message", &json!({"level": "error", "data": "of the open call"})),
                told("notifications/x.end", &json!({})),
            ]))
        }
        "tools/call" if !request.body["params"]["_meta"]["progressToken"].is_null() => {
            let token = request.body["params"]["_meta"]["progressToken"].clone();
            let session = request.headers["mcp-session-id"].clone();
            open(&call, Some((session, token)));
            Said::Hold(events(&[]))
        }
        _ => Said::Proper,
    })
    .await;
    let gateway = Gateway::start(&config(&puppet, "")).await;
    let (caller, stranger) = (Legacy::open(gateway.http()).await, Legacy::open(gateway.http()).await);
    for session in [&caller, &stranger] {
        assert_eq!(text(&session.call("up__ok", &json!({})).await), "ok");
    }
    let (mut mine, mut theirs) = (caller.listen().await, stranger.listen().await);
    let params = json!({"name": "up__ok", "_meta": {"progressToken": "mine"}});
    let body = request(7, "tools/call", &params).to_string();
    let mut bytes = caller.http.head("POST", "/mcp", &caller.headers(), body.len()).into_bytes();
    bytes.extend_from_slice(body.as_bytes());
    let _open = caller.http.raw(&bytes).await;
    let first = mine.message().await.expect("progress");
    assert_eq!(first["params"], json!({"progressToken": "mine", "progress": 2}));
    let second = mine.message().await.expect("a log message");
    assert_eq!(second["params"]["data"], "of the open call");
    for stream in [&mut mine, &mut theirs] {
        assert_eq!(stream.message().await.expect("the end")["method"], "notifications/x.end");
    }
}

/// Answers in an array, as a body and as an event (2025-03-26).
#[tokio::test]
async fn arrays_of_messages() {
    let puppet = Puppet::start(|number, request| {
        let id = &request.body["id"];
        let answer = |result: Value| json!({"jsonrpc": "2.0", "id": id, "result": result});
        match request.method() {
            "initialize" => {
                let info = json!({"name": "b", "version": "1"});
                let hello = json!({"protocolVersion": "2025-03-26", "capabilities": {"tools": {}}, "serverInfo": info});
                Said::Status(200, "application/json", json!([answer(hello)]).to_string())
            }
            "tools/call" => {
                let note = told("notifications/message", &json!({"level": "error", "data": "note"}));
                let done = answer(json!({"content": [{"type": "text", "text": "ok"}]}));
                let batch = match number {
                    0 => json!([done]),
                    _ => json!([note, {"no": "message"}, done]),
                };
                match number {
                    2 => Said::Status(200, "text/event-stream", format!("data: {batch}\n\n")),
                    _ => Said::Status(200, "application/json", batch.to_string()),
                }
            }
            _ => Said::Proper,
        }
    })
    .await;
    let gateway = Gateway::start(&config(&puppet, "")).await;
    let session = Legacy::open_at(gateway.http(), "/mcp", "2025-03-26", &json!({})).await;
    assert_eq!(text(&session.call("up__ok", &json!({})).await), "ok");
    for _ in 1..3 {
        let mut reply = session.begin("tools/call", &json!({"name": "up__ok"})).await;
        assert_eq!(reply.message().await.expect("a note")["params"]["data"], "note");
        assert_eq!(text(&reply.message().await.expect("the answer")), "ok");
    }
}

/// The call's deadline applies to a slow body, not the deadline for connecting.
#[tokio::test]
async fn slow_bodies() {
    let puppet = Puppet::start(|_, request| match request.method() {
        "tools/call" => Said::Hold(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{".into(),
        ),
        _ => Said::Proper,
    })
    .await;
    let limits = "limits: { connectTimeout: 100ms, callIdleTimeout: 2s }\n";
    let gateway = Gateway::start(&config(&puppet, limits)).await;
    let session = Legacy::open(gateway.http()).await;
    let answer = session.call("up__ok", &json!({})).await;
    assert!(error_message(&answer).contains("did not answer \"tools/call\" within 2 s"), "{answer}");
}

/// Messages that are sent while a client's standing stream is disconnected arrive when it resumes after the last event.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn away_from_the_standing_stream() {
    let gate = Arc::new(Gate::<bool>::default());
    let own = gate.clone();
    let puppet = Puppet::start(move |_, request| match request.method() {
        // On every stream, whichever client it belongs to.
        "GET" => {
            let is_open = waited_for(&own, |is_open| *is_open);
            assert!(is_open, "nobody opens the gate");
            let note = |n: u8| told("notifications/x.note", &json!({"data": n}));
            Said::Hold(events(&[note(1), note(2)]))
        }
        _ => Said::Proper,
    })
    .await;
    let gateway = Gateway::start(&config(&puppet, "")).await;
    let (session, witness) = (Legacy::open(gateway.http()).await, Legacy::open(gateway.http()).await);
    for session in [&session, &witness] {
        assert_eq!(text(&session.call("up__ok", &json!({})).await), "ok");
    }
    let mut stream = session.listen().await;
    let (last, _) = numbered(&mut stream).await;
    let mut other = witness.listen().await;
    drop(stream);
    open(&gate, true);
    for _ in 0..2 {
        other.message().await.expect("a message");
    }
    let [(_, id), (_, version)] = session.headers();
    let headers = [("Mcp-Session-Id", id), ("MCP-Protocol-Version", version), ("Last-Event-ID", &last)];
    let mut rest = session.http.get("/mcp", &headers).await;
    for n in 1..3 {
        assert_eq!(rest.message().await.expect("what was missed")["params"]["data"], n);
    }
}

/// An unknown notification reaches a server over a shared connection while its client is the only one there.
#[tokio::test]
async fn foreign_notifications() {
    let puppet = Puppet::start(|_, _| Said::Proper).await;
    let gateway = Gateway::start(&config(&puppet, "")).await;
    let first = Legacy::open(gateway.http()).await;
    assert_eq!(text(&first.call("up__ok", &json!({})).await), "ok");
    first.notify("notifications/x.custom", &json!({"a": 1})).await;
    puppet.was_sent("notifications/x.custom", 1).await;
    let second = Legacy::open(gateway.http()).await;
    assert_eq!(text(&second.call("up__ok", &json!({})).await), "ok");
    first.notify("notifications/x.custom", &json!({"a": 2})).await;
    assert_eq!(text(&first.call("up__ok", &json!({})).await), "ok");
    assert_eq!(puppet.count("notifications/x.custom"), 1);
}

/// A stateless upstream with a tool that requires an argument in a header; it changes the header's name without notice.
async fn changes_its_mind(ends: bool) -> Puppet {
    let calls = AtomicUsize::new(0);
    Puppet::start(move |_, request| {
        // From the first call on, the other header is required.
        let wanted = format!("Zone-{}", calls.load(Ordering::SeqCst).min(1));
        let result = match request.method() {
            "initialize" => {
                let data = json!({"supported": [MODERN], "requested": LEGACY});
                let error = json!({"code": -32022, "message": "unsupported protocol version", "data": data});
                let body = json!({"jsonrpc": "2.0", "id": request.body["id"], "error": error});
                return Said::Status(400, "application/json", body.to_string());
            }
            "server/discover" => json!({"supportedVersions": [MODERN], "capabilities": {"tools": {}}}),
            "tools/list" => {
                json!({"ttlMs": 600_000, "cacheScope": "public", "tools": [{"name": "go", "inputSchema": {
                    "type": "object",
                    "properties": {"zone": {"type": "string", "x-mcp-header": wanted}},
                }}]})
            }
            "tools/call" => {
                calls.fetch_add(1, Ordering::SeqCst);
                let header = if ends { "mcp-param-zone-1" } else { "mcp-param-never" };
                if request.headers.get(header).is_none_or(|value| value != "north") {
                    let error = json!({"code": -32020, "message": format!("header {header} is missing")});
                    let body = json!({"jsonrpc": "2.0", "id": request.body["id"], "error": error});
                    return Said::Status(400, "application/json", body.to_string());
                }
                json!({"content": [{"type": "text", "text": "gone north"}]})
            }
            _ => return Said::Proper,
        };
        let mut result = result;
        result["resultType"] = json!("complete");
        Said::Result(result, String::new())
    })
    .await
}

#[tokio::test]
async fn headers_that_a_server_no_longer_wants_are_learnt_anew_once() {
    let arguments = json!({"zone": "north"});
    let puppet = changes_its_mind(true).await;
    let gateway = Gateway::start(&config(&puppet, "")).await;
    let session = Legacy::open(gateway.http()).await;
    assert_eq!(text(&session.call("up__go", &arguments).await), "gone north");
    assert_eq!(puppet.count("tools/call"), 2, "sent once more");
    let lists = puppet.count("tools/list");
    assert_eq!(text(&session.call("up__go", &arguments).await), "gone north");
    assert_eq!((puppet.count("tools/call"), puppet.count("tools/list")), (3, lists), "now it is known");

    let puppet = changes_its_mind(false).await;
    let gateway = Gateway::start(&config(&puppet, "")).await;
    let session = Legacy::open(gateway.http()).await;
    let answer = session.call("up__go", &arguments).await;
    assert_eq!((error_code(&answer), error_message(&answer)), (-32020, "header mcp-param-never is missing"));
    assert_eq!(puppet.count("tools/call"), 2, "once more, and no more");
    // The server's list is unchanged, so the headers cannot be the reason for the refusal, and the server may have executed the call.
    let answer = session.call("up__go", &arguments).await;
    assert_eq!(error_code(&answer), -32020, "{answer}");
    assert_eq!(puppet.count("tools/call"), 3);
}

/// Invisible characters reach no client, whether its era is the server's or another one, and the log reports them in one
/// line.
#[tokio::test]
async fn hidden_characters_in_lists() {
    let puppet = Puppet::start(|_, request| match request.method() {
        "initialize" => {
            let info = json!({"name": "hider", "version": "1"});
            let hello = json!({"protocolVersion": LEGACY, "capabilities": {"tools": {}}, "serverInfo": info,
                "instructions": "Be\u{e0041}\u{202e} kind.\n\u{646}\u{200c}\u{647}"});
            Said::Result(hello, String::new())
        }
        "tools/list" => {
            let schema = json!({"type": "object", "properties": {"a": {"description": "x\u{200b}y"}}});
            let hides = json!({"type": "object", "properties": {"a\u{feff}": {}}});
            let tools = json!([
                {"name": "ok", "description": "say\u{1b}[8m hi", "inputSchema": schema},
                {"name": "plain", "title": "\u{1f469}\u{200d}\u{1f469}", "inputSchema": {"type": "object"}},
                {"name": "o\u{2066}k", "inputSchema": {"type": "object"}},
                {"name": "hides", "inputSchema": hides},
            ]);
            // Also as escapes.
            let text =
                json!({"jsonrpc": "2.0", "id": request.body["id"], "result": {"tools": tools}}).to_string();
            let text = text.replace('\u{200b}', "\\u200B").replace('\u{feff}', "\\uFEFF");
            Said::Status(200, "application/json", text)
        }
        _ => Said::Proper,
    })
    .await;
    let gateway = Gateway::start(&config(&puppet, "")).await;
    let session = Legacy::open(gateway.http()).await;
    let same = session.ask("tools/list", &json!({})).await;
    let other = Modern::new(gateway.http()).ask("tools/list", &json!({})).await;
    for answer in [&same, &other] {
        assert_eq!(tool_names(answer), ["up__ok", "up__plain"], "{answer}");
        let tools = &answer["result"]["tools"];
        assert_eq!(tools[0]["description"], "say[8m hi");
        assert_eq!(tools[0]["inputSchema"]["properties"]["a"]["description"], "xy");
        assert_eq!(tools[1]["title"], "\u{1f469}\u{200d}\u{1f469}");
    }
    let hello = Modern::new(gateway.http()).ask("server/discover", &json!({})).await;
    let instructions = hello["result"]["instructions"].as_str().expect("instructions");
    assert!(instructions.ends_with("Be kind.\n\u{646}\u{200c}\u{647}"), "{instructions:?}");
    let denied = session.call("up__o\u{2066}k", &json!({})).await;
    assert!(error_message(&denied).contains("unknown tool"), "{denied}");
    let note = "hidden or control characters were found; rejected: \"o\\u{2066}k\" in tools (U+2066 in one of its names), \
                \"hides\" in tools (U+FEFF in one of its names); cleaned: 1 in tools, the instructions";
    gateway.log().has(note).await;
}
