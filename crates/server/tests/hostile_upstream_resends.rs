//! Requests that fail on their way: they are repeated if that is harmless, and executed only once otherwise.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;
use support::*;

/// Tools of a puppet: a read-only one, an idempotent one, and one without annotations.
fn tools() -> Said {
    let tool = |name: &str, annotations| json!({"name": name, "inputSchema": {"type": "object"}, "annotations": annotations});
    let all = [
        tool("reads", json!({"readOnlyHint": true})),
        tool("repeats", json!({"readOnlyHint": false, "idempotentHint": true})),
        tool("acts", json!({})),
    ];
    Said::Result(json!({ "tools": all }), String::new())
}

/// A puppet whose first call of each round ends like this.
async fn breaking(first: Said) -> Puppet {
    Puppet::start(move |number, request| match request.method() {
        "tools/list" => tools(),
        "tools/call" if number == 0 => first.clone(),
        _ => Said::Proper,
    })
    .await
}

#[tokio::test]
async fn a_lost_answer_is_asked_for_again_where_twice_is_like_once() {
    let failures = [
        Said::Raw(Vec::new()),
        Said::Raw(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{".to_vec(),
        ),
        Said::Raw(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n: hi\n\n"
                .to_vec(),
        ),
        Said::Status(503, "text/plain", "starting".to_owned()),
    ];
    for failure in failures {
        for (tool, repeated) in [("reads", true), ("repeats", true), ("acts", false)] {
            let puppet = breaking(failure.clone()).await;
            let scene = Scene::new(&[("u", &puppet.config())], "").await;
            let answer = scene.witness().call(&format!("u__{tool}"), &json!({})).await;
            if repeated {
                assert_eq!(text(&answer), "ok", "{failure:?}");
            } else {
                let data = json!({"server": "u", "retry": false, "executed": "maybe"});
                assert_eq!(answer["error"]["data"], data, "{failure:?}: {answer}");
                assert!(error_message(&answer).ends_with("(the request may have been executed)"), "{answer}");
            }
            assert_eq!(puppet.count("tools/call"), 1 + usize::from(repeated), "{failure:?} {tool}");
            scene.is_well().await;
        }
    }
}

#[tokio::test]
async fn a_client_that_was_told_something_is_not_told_it_twice() {
    let note = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":1}}\n\n";
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
    let puppet = breaking(Said::Raw([head, note].concat().into_bytes())).await;
    let scene = Scene::new(&[("u", &puppet.config())], "").await;
    let answer = scene.witness().call("u__reads", &json!({})).await;
    assert_eq!(answer["error"]["data"]["server"], "u", "{answer}");
    assert_eq!(puppet.count("tools/call"), 1);
    scene.is_well().await;
}

#[tokio::test]
async fn a_call_waits_for_a_server_that_is_starting_again() {
    let net = OddHttp::start(&[]).await;
    let scene = Scene::new(&[("net", &net.config())], "").await;
    let session = scene.witness();
    assert_eq!(text(&session.call("net__ok", &json!({"text": "1"})).await), "1");
    let address = net.url().trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
    net.stop().await;
    let again = async {
        // This test is about the time for which the server is down.
        tokio::time::sleep(Duration::from_millis(300)).await;
        OddHttp::start_at(&address, &[]).await
    };
    let arguments = json!({"text": "2"});
    let (answer, _net) = tokio::join!(session.call("net__ok", &arguments), again);
    assert_eq!(text(&answer), "2");
    scene.is_well().await;
}

/// A server with sessions that forgets the first session, and then gives this answer to `initialize` this number of times.
async fn reopening(times: usize, answer: Said) -> Puppet {
    let left = Arc::new(AtomicUsize::new(times));
    Puppet::start(move |number, request| match request.method() {
        "initialize" if number == 0 => opened("old"),
        "initialize" if left.load(Ordering::SeqCst) > 0 => {
            left.fetch_sub(1, Ordering::SeqCst);
            answer.clone()
        }
        "initialize" => opened("new"),
        "tools/list" => tools(),
        "tools/call" if request.header("mcp-session-id") == Some("old") => {
            Said::Status(404, "text/plain", String::new())
        }
        _ => Said::Proper,
    })
    .await
}

fn opened(session: &str) -> Said {
    let hello = json!({
        "protocolVersion": LEGACY, "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"},
    });
    Said::Result(hello, format!("Mcp-Session-Id: {session}\r\n"))
}

#[tokio::test]
async fn a_link_that_cannot_be_opened_yet_has_executed_nothing() {
    let failures = [
        Said::Status(503, "text/plain", "starting".to_owned()),
        Said::Status(502, "text/html", "<h1>Bad Gateway</h1>".to_owned()),
        Said::Raw(Vec::new()),
    ];
    for failure in failures {
        let puppet = reopening(3, failure.clone()).await;
        let scene = Scene::new(&[("u", &puppet.config())], "").await;
        let answer = scene.witness().call("u__acts", &json!({})).await;
        assert_eq!(text(&answer), "ok", "{failure:?}");
        assert_eq!(puppet.count("tools/call"), 2, "refused once for its session, and sent once: {failure:?}");
        scene.is_well().await;
    }
}

#[tokio::test]
async fn a_call_that_gives_up_waiting_says_that_it_was_not_executed() {
    let puppet = reopening(usize::MAX, Said::Status(503, "text/plain", "starting".to_owned())).await;
    let scene = Scene::new(&[("u", &puppet.config())], "limits: { resendWait: 300ms }\n").await;
    let answer = scene.witness().call("u__acts", &json!({})).await;
    let data = json!({"server": "u", "retry": true, "executed": "no"});
    assert_eq!(answer["error"]["data"], data, "{answer}");
    assert!(
        error_message(&answer).ends_with("HTTP 503: starting (the request was not executed)"),
        "{answer}"
    );
    scene.is_well().await;
}

#[tokio::test]
async fn a_call_whose_time_is_over_before_its_link_is_open_was_not_executed() {
    let puppet = reopening(usize::MAX, Said::Hold(Vec::new())).await;
    let config = format!("{{ url: {}, timeout: 1s }}", quoted(&puppet.url()));
    let scene = Scene::new(&[("u", &config)], "").await;
    let answer = scene.witness().call("u__acts", &json!({})).await;
    let data = json!({"server": "u", "retry": true, "executed": "no"});
    assert_eq!(answer["error"]["data"], data, "{answer}");
    assert!(error_message(&answer).contains("could not be reached within 1 s"), "{answer}");
    scene.is_well().await;
}

#[tokio::test]
async fn a_child_that_does_not_start_for_some_seconds_is_waited_for() {
    let flag = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("may-start-{}", std::process::id()));
    std::fs::write(&flag, "").expect("writable");
    let script =
        format!("test -e {} && exec {} --stdio; exit 7", flag.display(), testkit::odd::program().display());
    let config = format!("{{ command: sh, args: [-c, {}] }}", quoted(&script));
    let scene = Scene::new(&[("pipe", &config)], "").await;
    let session = scene.witness();
    assert_eq!(text(&session.call("pipe__ok", &json!({"text": "1"})).await), "1");
    std::fs::remove_file(&flag).expect("it is there");
    let children = children_of(scene.gateway.pid());
    for child in &children {
        kill(*child, Signal::KILL);
    }
    until("the children's end", || children.iter().all(|child| !is_running(*child))).await;
    let again = async {
        // This test is about the time for which the server is down.
        tokio::time::sleep(Duration::from_secs(3)).await;
        std::fs::write(&flag, "").expect("writable");
    };
    let arguments = json!({"text": "2"});
    let (answer, ()) = tokio::join!(session.call("pipe__ok", &arguments), again);
    assert_eq!(text(&answer), "2");
    scene.is_well().await;
    std::fs::remove_file(&flag).expect("it is there");
}

#[tokio::test]
async fn a_call_that_a_child_cannot_have_read_is_answered_by_the_next_one() {
    let config =
        format!("{{ command: {}, args: [--stdio] }}", quoted(&testkit::odd::program().display().to_string()));
    let scene = Scene::new(&[("pipe", &config)], "").await;
    let session = scene.witness();
    assert_eq!(text(&session.call("pipe__ok", &json!({"text": "1"})).await), "1");
    let children = children_of(scene.gateway.pid());
    for child in &children {
        kill(*child, Signal::STOP);
    }
    // A pipe holds 64 KiB: the first message fits, the second fits in part, and the third waits for it. No event shows that
    // they wait.
    let long = "x".repeat(60_000);
    let (long_call, short_call) = (json!({"text": long}), json!({"text": "3"}));
    let mut first = std::pin::pin!(session.call("pipe__ok", &long_call));
    let mut second = std::pin::pin!(session.call("pipe__ok", &long_call));
    let mut third = std::pin::pin!(session.call("pipe__ok", &short_call));
    let moment = Duration::from_millis(200);
    assert!(tokio::time::timeout(moment, &mut first).await.is_err(), "the child does not read");
    assert!(tokio::time::timeout(moment, &mut second).await.is_err(), "the child does not read");
    assert!(tokio::time::timeout(moment, &mut third).await.is_err(), "the child does not read");
    for child in &children {
        kill(*child, Signal::KILL);
    }
    let (first, second, third) = tokio::join!(first, second, third);
    assert_eq!(first["error"]["data"]["executed"], "maybe", "{first}");
    assert_eq!((text(&second), text(&third)), (&*long, "3"));
    scene.is_well().await;
}

/// A refusal because of too many requests.
fn too_many(retry_after: &str, media: &str, body: &str) -> Said {
    let head =
        format!("HTTP/1.1 429 Too Many Requests\r\nRetry-After: {retry_after}\r\nContent-Type: {media}\r\n");
    let length = body.len();
    Said::Raw(format!("{head}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}").into_bytes())
}

#[tokio::test]
async fn a_server_that_wants_fewer_requests_is_given_the_time_once() {
    let puppet = breaking(too_many("1", "text/plain", "slow down")).await;
    let scene = Scene::new(&[("u", &puppet.config())], "").await;
    let before = std::time::Instant::now();
    assert_eq!(text(&scene.witness().call("u__acts", &json!({})).await), "ok");
    assert!(before.elapsed() >= Duration::from_secs(1), "{:?}", before.elapsed());
    assert_eq!(puppet.count("tools/call"), 2);
    scene.is_well().await;
}

#[tokio::test]
async fn a_refusal_that_stays_or_lasts_too_long_is_passed_on() {
    let own = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32042,"message":"quota"}}"#;
    for (wait, tries) in [("0", 2), ("5000", 1), ("tomorrow", 1)] {
        let refusal = too_many(wait, "application/json", own);
        let puppet = Puppet::start(move |_, request| match request.method() {
            "tools/list" => tools(),
            "tools/call" => refusal.clone(),
            _ => Said::Proper,
        })
        .await;
        let scene = Scene::new(&[("u", &puppet.config())], "").await;
        let answer = scene.witness().call("u__acts", &json!({})).await;
        assert_eq!(answer["error"], json!({"code": -32042, "message": "quota"}), "{wait}: {answer}");
        assert_eq!(puppet.count("tools/call"), tries, "{wait}");
        scene.is_well().await;
    }
}

#[tokio::test]
async fn the_configuration_decides_over_hints_what_is_sent_again() {
    let lost = || breaking(Said::Raw(Vec::new()));
    for (rule, tool, tries) in [("never", "reads", 1), ("always", "acts", 2), ("auto", "reads", 2)] {
        let puppet = lost().await;
        let config = format!("{{ url: {}, resend: {rule} }}", quoted(&puppet.url()));
        let scene = Scene::new(&[("u", &config)], "").await;
        let answer = scene.witness().call(&format!("u__{tool}"), &json!({})).await;
        assert_eq!(answer.get("error").is_some(), tries == 1, "{rule}: {answer}");
        assert_eq!(puppet.count("tools/call"), tries, "{rule} {tool}");
        scene.is_well().await;
    }
}

#[tokio::test]
async fn a_session_that_is_lost_while_it_is_opened_is_opened_again() {
    for status in [400, 404, 410] {
        let puppet = Puppet::start(move |number, request| {
            match (request.method(), request.header("mcp-session-id")) {
                ("initialize", _) => opened(["old", "lost"].get(number).copied().unwrap_or("new")),
                ("tools/list", _) => tools(),
                ("tools/call", Some("old")) => Said::Status(404, "text/plain", String::new()),
                (_, Some("lost")) => Said::Status(status, "text/plain", String::new()),
                _ => Said::Proper,
            }
        })
        .await;
        let scene = Scene::new(&[("u", &puppet.config())], "").await;
        let answer = scene.witness().call("u__acts", &json!({})).await;
        assert_eq!(text(&answer), "ok", "{status}: {answer}");
        assert_eq!(puppet.count("tools/call"), 2, "refused once for its session, and sent once: {status}");
        scene.is_well().await;
    }
}

#[tokio::test]
async fn a_server_that_keeps_no_session_is_described_as_it_is() {
    let puppet =
        Puppet::start(|number, request| match (request.method(), request.header("mcp-session-id")) {
            ("initialize", _) => opened(if number == 0 { "old" } else { "lost" }),
            ("tools/list", _) => tools(),
            ("tools/call", Some("old")) => Said::Status(404, "text/plain", String::new()),
            (_, Some("lost")) => Said::Status(400, "text/plain", "no sticky sessions".to_owned()),
            _ => Said::Proper,
        })
        .await;
    let scene = Scene::new(&[("u", &puppet.config())], "").await;
    let answer = scene.witness().call("u__acts", &json!({})).await;
    let message = error_message(&answer);
    assert!(message.contains("HTTP 400 to the next message in it: no sticky sessions"), "{answer}");
    assert_eq!(answer["error"]["data"]["executed"], "no", "{answer}");
    assert_eq!(puppet.count("tools/call"), 1);
    scene.is_well().await;
}

#[tokio::test]
async fn a_refusal_that_may_have_any_cause_is_questioned_once_where_twice_is_like_once() {
    let refused = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"it failed"}}"#;
    let other = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"starting"}}"#;
    let reactions = [Said::Status(400, "application/json", other.to_owned()), Said::Hold(Vec::new())];
    for (reaction, lasts) in reactions.into_iter().flat_map(|one| [(one.clone(), false), (one, true)]) {
        for (tool, tries) in [("reads", 2), ("acts", 1)] {
            let reaction = reaction.clone();
            let puppet = Puppet::start(move |number, request| match request.method() {
                "initialize" => opened("one"),
                "tools/list" => tools(),
                "tools/call" if number == 0 || lasts => {
                    Said::Status(400, "application/json", refused.to_owned())
                }
                "ping" => reaction.clone(),
                _ => Said::Proper,
            })
            .await;
            let scene = Scene::new(&[("u", &puppet.config())], "").await;
            let answer = scene.witness().call(&format!("u__{tool}"), &json!({})).await;
            if tries == 2 && !lasts {
                assert_eq!(text(&answer), "ok");
            } else {
                assert_eq!(answer["error"], json!({"code": -32000, "message": "it failed"}), "{answer}");
            }
            assert_eq!(puppet.count("tools/call"), tries, "{tool} {lasts}");
            scene.is_well().await;
        }
    }
}
