//! Servers that end and start again: sessions that are forgotten, children that crash, once or in a loop.

mod support;

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use rustix::process::Signal;
use serde_json::json;
use support::*;

/// A puppet with sessions, which forgets them all whenever the returned flag is set.
async fn forgetful(status: u16, body: &'static str) -> (Puppet, Arc<AtomicBool>) {
    let forget = Arc::new(AtomicBool::new(false));
    let (own, known) = (forget.clone(), Mutex::new(HashSet::new()));
    let sessions = AtomicUsize::new(0);
    let puppet = Puppet::start(move |_, request| {
        let mut known = known.lock().expect("no panic");
        if own.swap(false, Ordering::SeqCst) {
            known.clear();
        }
        if request.method() == "initialize" {
            let new = format!("session-{}", sessions.fetch_add(1, Ordering::SeqCst));
            known.insert(new.clone());
            let hello = json!({
                "protocolVersion": LEGACY, "capabilities": {"tools": {}},
                "serverInfo": {"name": "forgetful", "version": "1"},
            });
            return Said::Result(hello, format!("Mcp-Session-Id: {new}\r\n"));
        }
        if !request.headers.get("mcp-session-id").is_some_and(|id| known.contains(id)) {
            return Said::Status(status, "application/json", body.to_owned());
        }
        Said::Proper
    })
    .await;
    (puppet, forget)
}

#[tokio::test]
async fn a_forgotten_session_is_opened_again_without_the_client_noticing() {
    const ANSWERS: [(u16, &str); 13] = [
        (404, ""),
        (404, r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}"#),
        (400, r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Unknown session"}}"#),
        (410, "gone"),
        (
            400,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"No valid session ID provided"}}"#,
        ),
        (400, r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Missing session"}}"#),
        (400, "Invalid or missing session ID"),
        (401, "who is that?"),
        (403, r#"{"error":"forbidden"}"#),
        (404, r#"{"error":"no such session"}"#),
        (200, r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session expired"}}"#),
        (200, r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Server not initialized"}}"#),
        (
            400,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"Die Sitzung ist abgelaufen"}}"#,
        ),
    ];
    for (status, body) in ANSWERS {
        let (puppet, forget) = forgetful(status, body).await;
        let scene = Scene::new(&[("old", &puppet.config())], "").await;
        let session = scene.witness();
        assert_eq!(text(&session.call("old__ok", &json!({"n": 1})).await), "ok");
        let before = puppet.count("initialize");
        forget.store(true, Ordering::SeqCst);
        // Several simultaneous callers: one of them reopens the session, and each call is executed once.
        let arguments = [json!({"n": 2}), json!({"n": 3}), json!({"n": 4})];
        let [a, b, c] = &arguments;
        let (a, b, c) =
            tokio::join!(session.call("old__ok", a), session.call("old__ok", b), session.call("old__ok", c));
        for answer in [a, b, c] {
            assert_eq!(text(&answer), "ok", "{status} {body}");
        }
        assert_eq!(puppet.count("initialize"), before + 1, "{status} {body}");
        let calls = puppet.received().into_iter().filter(|one| one.method() == "tools/call");
        let newest = format!("session-{before}");
        for wanted in &arguments {
            let taken = calls.clone().filter(|one| {
                one.body["params"]["arguments"] == *wanted && one.headers["mcp-session-id"] == newest
            });
            assert_eq!(taken.count(), 1, "{status} {body}: {wanted}");
        }
        scene.is_well().await;
    }
}

#[tokio::test]
async fn a_server_that_forgets_every_session_at_once_is_not_asked_for_ever() {
    let puppet = Puppet::start(|_, request| match request.method() {
        "initialize" => Said::Result(
            json!({
                "protocolVersion": LEGACY, "capabilities": {"tools": {}},
                "serverInfo": {"name": "x", "version": "1"},
            }),
            "Mcp-Session-Id: never\r\n".to_owned(),
        ),
        "tools/call" => Said::Status(404, "text/plain", String::new()),
        _ => Said::Proper,
    })
    .await;
    let scene = Scene::new(&[("old", &puppet.config())], "").await;
    let answer = scene.witness().call("old__ok", &json!({})).await;
    assert_eq!(answer["error"]["data"]["server"], "old", "{answer}");
    assert!(error_message(&answer).contains("session"), "{answer}");
    // Each time in two sessions: at first, and after two pauses.
    assert_eq!(puppet.count("tools/call"), 6);
    scene.is_well().await;
}

#[tokio::test]
async fn a_call_whose_answer_is_lost_is_not_sent_again() {
    let puppet = Puppet::start(|_, request| match request.method() {
        "tools/call" => Said::Raw(Vec::new()),
        _ => Said::Proper,
    })
    .await;
    let scene = Scene::new(&[("old", &puppet.config())], "").await;
    let answer = scene.witness().call("old__ok", &json!({})).await;
    assert_eq!(
        answer["error"]["data"],
        json!({"server": "old", "retry": false, "executed": "maybe"}),
        "{answer}"
    );
    assert_eq!(puppet.count("tools/call"), 1);
    scene.is_well().await;
}

#[tokio::test]
async fn a_server_on_the_same_address_after_a_restart() {
    let net = OddHttp::start(&[]).await;
    let scene = Scene::new(&[("net", &net.config())], "").await;
    let session = scene.witness();
    assert_eq!(text(&session.call("net__ok", &json!({"text": "1"})).await), "1");
    let address = net.url().trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
    net.stop().await;
    let answer = session.call("net__ok", &json!({})).await;
    assert_eq!(
        answer["error"]["data"],
        json!({"server": "net", "retry": true, "executed": "no"}),
        "{answer}"
    );
    assert!(error_message(&answer).contains("refused"), "{answer}");
    scene.is_well().await;
    let _net = OddHttp::start_at(&address, &[]).await;
    assert_eq!(text(&session.call("net__ok", &json!({"text": "2"})).await), "2");
    assert_eq!(text(&Modern::new(scene.http()).call("good__echo", &json!({})).await), "{}");
}

#[tokio::test]
async fn a_child_that_is_killed_is_started_again() {
    let scene = Scene::new(&[("pipe", &odd_stdio(&[]))], "").await;
    let session = scene.witness();
    assert_eq!(text(&session.call("pipe__ok", &json!({"text": "1"})).await), "1");
    for round in ["2", "3"] {
        let children = children_of(scene.gateway.pid());
        for child in &children {
            kill(*child, Signal::KILL);
        }
        until("the children's end", || children.iter().all(|child| !is_running(*child))).await;
        scene.is_well().await;
        // The first call may still reach the dead child; it then gets an error, and the next call is served.
        let answer = session.call("pipe__ok", &json!({"text": round})).await;
        if answer.get("error").is_some() {
            assert!(error_message(&answer).contains("SIGKILL"), "{answer}");
            assert_eq!(text(&session.call("pipe__ok", &json!({"text": round})).await), round);
        } else {
            assert_eq!(text(&answer), round);
        }
    }
}

#[tokio::test]
async fn a_child_that_crashes_in_a_loop_is_left_alone_for_a_while() {
    let scene = Scene::new(&[("pipe", &odd_stdio(&[]))], "limits: { resendWait: 100ms }\n").await;
    let session = scene.witness();
    let mut reasons = Vec::new();
    // Every call ends the child; after a few times it is no longer started, and callers get the reason at
    // once.
    let told = soon("a rest", async {
        loop {
            let answer = session.call("pipe__die", &json!({"code": 9})).await;
            let message = error_message(&answer).to_owned();
            assert!(message.contains("\"pipe\""), "{answer}");
            if message.contains("in a row") {
                assert_eq!(answer["error"]["data"]["retry"], true, "{answer}");
                return message;
            }
            reasons.push(message);
            scene.is_well().await;
        }
    })
    .await;
    assert!(told.contains("the next start is in") && told.contains("code 9"), "{told}");
    assert!((1..10).contains(&reasons.len()), "{reasons:?}");
    let before = std::time::Instant::now();
    session.call("pipe__ok", &json!({})).await;
    assert!(before.elapsed() < std::time::Duration::from_secs(3));
    scene.is_well().await;
    // It is started again after its pause.
    soon("its return", async {
        while session.call("pipe__ok", &json!({})).await.get("error").is_some() {
            scene.is_well().await;
        }
    })
    .await;
}

#[tokio::test]
async fn lists_are_fetched_again_after_the_stream_that_announces_changes_was_lost() {
    const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
    let (changed, lost) = (AtomicBool::new(false), Mutex::new(HashSet::new()));
    let puppet = Puppet::start(move |number, request| match request.method() {
        "initialize" => {
            let hello = json!({
                "protocolVersion": LEGACY, "capabilities": {"tools": {"listChanged": true}},
                "serverInfo": {"name": "restarted", "version": "1"},
            });
            Said::Result(hello, format!("Mcp-Session-Id: {number}\r\n"))
        }
        // Each link loses its first stream.
        "GET" if lost.lock().expect("no panic").insert(request.headers["mcp-session-id"].clone()) => {
            Said::Raw(HEAD.to_vec())
        }
        // It is available again, with another tool, and sends no notification.
        "GET" => {
            changed.store(true, Ordering::SeqCst);
            Said::Hold(HEAD.to_vec())
        }
        "tools/list" if changed.load(Ordering::SeqCst) => Said::Result(
            json!({"tools": [{"name": "new", "inputSchema": {"type": "object"}}]}),
            String::new(),
        ),
        _ => Said::Proper,
    })
    .await;
    let scene = Scene::new(&[("u", &puppet.config())], "").await;
    let session = scene.witness();
    puppet.was_sent("GET", 2).await;
    let served = async {
        while !session.call("u__new", &json!({})).await["error"].is_null() {
            tokio::task::yield_now().await;
        }
    };
    soon("the new list", served).await;
    scene.is_well().await;
}
