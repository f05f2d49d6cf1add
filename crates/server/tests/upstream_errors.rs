//! Errors that servers return for real calls reach their clients unchanged, whatever their code: over each transport and in
//! each era. The gateway concludes that a server has changed, or has forgotten a session, only if a request shows it, and
//! it sends no call twice for that reason.

mod support;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use support::*;

/// Codes that servers use for their own purposes, and that may also have another meaning.
const CODES: [i64; 9] = [-32600, -32000, -32001, -32020, -32021, -32022, -32602, -32002, -31999];

/// An error with data in an unusual spelling, which nobody else would write.
fn error_of(code: i64) -> String {
    format!(
        "{{\"message\": \"the tool's own: session not found, _meta is odd\", \"code\":{code}, \"data\":{{ \"b\":1.50,\"a\":[ ] }}}}"
    )
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Speaks {
    Sessions,
    Stateless,
}

/// The status and the error object of the next calls.
type Fails = Arc<Mutex<(u16, String)>>;

/// A server whose tool fails as `fails` specifies, and which otherwise works.
async fn failing(speaks: Speaks, fails: &Fails) -> Puppet {
    let fails = fails.clone();
    Puppet::start(move |_, request| match (speaks, request.method()) {
        (Speaks::Stateless, "initialize" | "ping") => {
            let error = json!({"code": -32601, "message": "no such method"});
            let body = json!({"jsonrpc": "2.0", "id": request.body["id"], "error": error});
            Said::Status(404, "application/json", body.to_string())
        }
        (Speaks::Stateless, "server/discover") => Said::Result(
            json!({
                "resultType": "complete", "supportedVersions": [MODERN], "capabilities": {"tools": {}},
                "ttlMs": 60_000, "cacheScope": "public",
            }),
            String::new(),
        ),
        (Speaks::Stateless, "tools/list") => Said::Result(
            json!({
                "resultType": "complete", "ttlMs": 60_000, "cacheScope": "public",
                "tools": [{"name": "ok", "inputSchema": {"type": "object"}}],
            }),
            String::new(),
        ),
        (Speaks::Sessions, "initialize") => Said::Result(
            json!({
                "protocolVersion": LEGACY, "capabilities": {"tools": {}},
                "serverInfo": {"name": "failing", "version": "1"},
            }),
            "Mcp-Session-Id: only\r\n".to_owned(),
        ),
        (_, "tools/call") => {
            let (status, error) = fails.lock().expect("no panic").clone();
            let body = format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"error\":{error}}}", request.body["id"]);
            Said::Status(status, "application/json", body)
        }
        _ => Said::Proper,
    })
    .await
}

/// The whole text of the answer to a call, and its status.
async fn said(mut reply: Reply) -> (u16, String) {
    let status = reply.status;
    (status, reply.text().await)
}

#[tokio::test]
async fn a_servers_own_error_over_http_reaches_its_client_unchanged_and_its_call_is_sent_once() {
    for speaks in [Speaks::Sessions, Speaks::Stateless] {
        let fails: Fails = Arc::new(Mutex::new((200, error_of(0))));
        let puppet = failing(speaks, &fails).await;
        let gateway = Gateway::start(&format!("mcpServers: {{ own: {} }}\n", puppet.config())).await;
        let (session, modern) = (Legacy::open(gateway.http()).await, Modern::new(gateway.http()));
        let call = json!({"name": "own__ok", "arguments": {}});
        let (mut sent, mut opened) = (0, None);
        for status in [200, 400, 404, 410, 422] {
            for code in CODES {
                *fails.lock().expect("no panic") = (status, error_of(code));
                let (told, text) = said(session.begin("tools/call", &call).await).await;
                let case = format!("{speaks:?}, HTTP {status}, {code}: {text}");
                assert!(text.contains(&error_of(code)), "{case}");
                // The server's HTTP status says nothing about the session that the client has here.
                assert_eq!(told, 200, "{case}");
                let (told, text) = said(modern.begin("tools/call", &call).await).await;
                let case = format!("{speaks:?} to stateless, HTTP {status}, {code}: {told} {text}");
                if speaks == Speaks::Sessions && (-32022..=-32020).contains(&code) {
                    // In that version, these codes mean that the request was refused, and a client may send it again.
                    assert!(text.contains("-32603") && text.contains("the tool's own"), "{case}");
                } else if speaks == Speaks::Sessions && code == -32002 {
                    assert!(
                        text.contains("the tool's own") && text.contains("{ \"b\":1.50,\"a\":[ ] "),
                        "{case}"
                    );
                } else {
                    assert!(text.contains(&error_of(code)), "{case}");
                }
                sent += 2;
                assert_eq!(puppet.count("tools/call"), sent, "{case}");
                let now = puppet.count("initialize");
                assert_eq!(*opened.get_or_insert(now), now, "nobody opened it anew: {case}");
            }
        }
        assert_eq!(gateway.stop().await.err.matches("opening another link").count(), 0);
    }
}

#[tokio::test]
async fn a_server_that_refuses_every_call_is_not_asked_about_itself_at_every_call() {
    for speaks in [Speaks::Sessions, Speaks::Stateless] {
        let fails: Fails = Arc::new(Mutex::new((400, error_of(-32000))));
        let puppet = failing(speaks, &fails).await;
        let gateway = Gateway::start(&format!("mcpServers: {{ own: {} }}\n", puppet.config())).await;
        let (session, modern) = (Legacy::open(gateway.http()).await, Modern::new(gateway.http()));
        let question = if speaks == Speaks::Sessions { "ping" } else { "server/discover" };
        session.call("own__ok", &json!({})).await;
        modern.call("own__ok", &json!({})).await;
        let (before, began) = (puppet.count(question), std::time::Instant::now());
        let none = json!({});
        for _ in 0..20 {
            let answers = tokio::join!(
                session.call("own__ok", &none),
                session.call("own__ok", &none),
                modern.call("own__ok", &none),
                modern.call("own__ok", &none),
            );
            for answer in [answers.0, answers.1, answers.2, answers.3] {
                assert_eq!(error_code(&answer), -32000, "{answer}");
            }
        }
        // One per second for each of at most two links, and the one at the beginning of a second.
        let asked = puppet.count(question) - before;
        let most = 2 * (usize::try_from(began.elapsed().as_secs()).expect("few") + 1);
        assert!(asked <= most, "{speaks:?}: {asked} in {:?}", began.elapsed());
    }
}

/// Silence proves nothing.
#[tokio::test]
async fn a_server_that_does_not_answer_the_question_keeps_its_word_and_its_session() {
    let puppet = Puppet::start(|_, request| match request.method() {
        "initialize" => Said::Result(
            json!({
                "protocolVersion": LEGACY, "capabilities": {"tools": {}},
                "serverInfo": {"name": "deaf", "version": "1"},
            }),
            "Mcp-Session-Id: only\r\n".to_owned(),
        ),
        "ping" => Said::Hold(Vec::new()),
        "tools/call" => {
            let id = &request.body["id"];
            let body = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{}}}", error_of(-32001));
            Said::Status(404, "application/json", body)
        }
        _ => Said::Proper,
    })
    .await;
    let gateway = Gateway::start(&format!("mcpServers: {{ own: {} }}\n", puppet.config())).await;
    let session = Legacy::open(gateway.http()).await;
    let call = json!({"name": "own__ok", "arguments": {}});
    let (_, text) = said(session.begin("tools/call", &call).await).await;
    assert!(text.contains(&error_of(-32001)), "{text}");
    let opened = puppet.count("initialize");
    let (_, text) = said(session.begin("tools/call", &call).await).await;
    assert!(text.contains(&error_of(-32001)), "{text}");
    assert_eq!((puppet.count("tools/call"), puppet.count("initialize")), (2, opened));
}

/// A tool that fails just before its server is restarted: if the next request is refused with another error, that does not
/// prove that the call was refused.
#[tokio::test]
async fn a_call_that_may_have_been_executed_is_not_sent_again() {
    let gone = Arc::new(AtomicBool::new(false));
    let own = gone.clone();
    let puppet = Puppet::start(move |number, request| match request.method() {
        "initialize" => Said::Result(
            json!({
                "protocolVersion": LEGACY, "capabilities": {"tools": {}},
                "serverInfo": {"name": "restarted", "version": "1"},
            }),
            format!("Mcp-Session-Id: {number}\r\n"),
        ),
        "tools/call" if !own.load(Ordering::SeqCst) => {
            own.store(true, Ordering::SeqCst);
            let id = &request.body["id"];
            let body = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{}}}", error_of(-32000));
            Said::Status(400, "application/json", body)
        }
        "ping" => Said::Status(404, "text/plain", "no such session".to_owned()),
        _ => Said::Proper,
    })
    .await;
    let gateway = Gateway::start(&format!("mcpServers: {{ own: {} }}\n", puppet.config())).await;
    let session = Legacy::open(gateway.http()).await;
    let opened = puppet.count("initialize");
    let call = json!({"name": "own__ok", "arguments": {}});
    let (_, text) = said(session.begin("tools/call", &call).await).await;
    assert!(text.contains(&error_of(-32000)), "{text}");
    // The catalogue's own subscription may have opened the next session by now: only the call is counted here.
    assert_eq!(puppet.count("tools/call"), 1);
    // The next callers get another session, which they share.
    assert_eq!(support::text(&session.call("own__ok", &json!({})).await), "ok");
    assert_eq!((puppet.count("tools/call"), puppet.count("initialize")), (2, opened + 1));
}

/// A server that is replaced by one of the other kind, which does not know the request either.
#[tokio::test]
async fn a_server_that_is_another_now_is_found_out_by_asking() {
    let is_new = Arc::new(AtomicBool::new(false));
    let own = is_new.clone();
    let puppet = Puppet::start(move |_, request| {
        if !own.load(Ordering::SeqCst) {
            return match request.method() {
                "server/discover" => Said::Status(400, "text/plain", String::new()),
                _ => Said::Proper,
            };
        }
        let refuse = |status, code: i64, message: &str| {
            let error = json!({"code": code, "message": message});
            let body = json!({"jsonrpc": "2.0", "id": request.body["id"], "error": error});
            Said::Status(status, "application/json", body.to_string())
        };
        let complete = |mut result: Value| {
            for (key, value) in
                [("resultType", json!("complete")), ("ttlMs", json!(0)), ("cacheScope", json!("private"))]
            {
                result[key] = value;
            }
            Said::Result(result, String::new())
        };
        match request.method() {
            "initialize" | "ping" => refuse(404, -32601, "no such method"),
            _ if request.body["params"]["_meta"].is_null() => refuse(400, -32602, "params._meta is required"),
            "server/discover" => {
                complete(json!({"supportedVersions": [MODERN], "capabilities": {"tools": {}}}))
            }
            "tools/list" => complete(json!({"tools": [{"name": "ok", "inputSchema": {"type": "object"}}]})),
            "tools/call" => complete(json!({"content": [{"type": "text", "text": "anew"}]})),
            _ => refuse(404, -32601, "no such method"),
        }
    })
    .await;
    let gateway = Gateway::start(&format!("mcpServers: {{ own: {} }}\n", puppet.config())).await;
    let session = Legacy::open(gateway.http()).await;
    assert_eq!(support::text(&session.call("own__ok", &json!({})).await), "ok");
    is_new.store(true, Ordering::SeqCst);
    soon("the new server", async {
        loop {
            let answer = session.call("own__ok", &json!({})).await;
            if answer.get("result").is_some() {
                assert_eq!(support::text(&answer), "anew");
                return;
            }
            // Its lists are being fetched again.
            assert_eq!(answer["error"]["data"]["retry"], true, "{answer}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_servers_own_error_over_a_pipe_reaches_its_client_unchanged() {
    for args in [&[][..], &["--modern"]] {
        let gateway = Gateway::start(&format!("mcpServers: {{ own: {} }}\n", odd_stdio(args))).await;
        let (session, modern) = (Legacy::open(gateway.http()).await, Modern::new(gateway.http()));
        for code in CODES {
            let error: Box<serde_json::value::RawValue> =
                serde_json::from_str(&error_of(code)).expect("JSON");
            let call = format!("{{\"name\":\"own__raw\",\"arguments\":{{\"error\":{}}}}}", error.get());
            let body =
                format!("{{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{call}}}");
            let (status, text) = said(session.post(&[], &body).await).await;
            assert!(status == 200 && text.contains(&error_of(code)), "{args:?} {code}: {status} {text}");
            let arguments = json!({"error": serde_json::from_str::<Value>(error.get()).expect("JSON")});
            let answer = modern.call("own__raw", &arguments).await;
            // All clients share one child, which is used with a handshake even if it could do without one.
            let translated = (-32022..=-32020).contains(&code) || code == -32002;
            if !translated {
                assert_eq!(answer["error"], arguments["error"], "{args:?} {code}");
            }
        }
    }
}
