//! Servers that cannot be reached, or whose lists never end: they are missing, with a reason that names them, and
//! nobody waits for them longer than the limit.

mod support;

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::*;
use testkit::fixture::Eras;

/// The time that a first client waits for servers that do not answer, plus the delay of a busy machine.
const BOUND: Duration = Duration::from_secs(8 + 12);

/// A time that is enough on a busy machine, but not if anything was waited for.
const QUICK: Duration = Duration::from_secs(6);

/// Starts a gateway with the servers `good` and `bad`, and checks that `bad` is missing for the reason `why`.
async fn is_missing(bad: &str, limits: &str, why: &[&str]) -> Scene {
    let started = Instant::now();
    let scene = Scene::new(&[("bad", bad)], limits).await;
    assert!(started.elapsed() < BOUND, "{bad}: {:?}", started.elapsed());
    let session = Legacy::open(scene.http()).await;
    let modern = Modern::new(scene.http());
    for listed in [session.ask("tools/list", &json!({})).await, modern.ask("tools/list", &json!({})).await] {
        let names = tool_names(&listed);
        assert!(names.iter().any(|name| name == "good__echo"), "{names:?}");
        assert!(!names.iter().any(|name| name.starts_with("bad__")), "{names:?}");
    }
    let call = json!({"name": "bad__ok", "arguments": {}});
    // While the gateway is still trying to connect, the error says so.
    let told = |answer: &Value| !error_message(answer).contains("still starting");
    let answer = soon("the reason", async {
        loop {
            let answer = session.ask("tools/call", &call).await;
            if told(&answer) {
                return answer;
            }
        }
    })
    .await;
    assert_eq!(error_code(&answer), -32603, "{answer}");
    assert_eq!(answer["error"]["data"]["server"], "bad", "{answer}");
    let message = error_message(&answer);
    assert!(message.contains("\"bad\"") && why.iter().all(|why| message.contains(why)), "{answer}");
    // Once a view is in use, nobody waits for a missing server, however often the gateway retries.
    let started = Instant::now();
    for _ in 0..10 {
        scene.is_well().await;
    }
    assert!(started.elapsed() < QUICK, "{bad}: {:?}", started.elapsed());
    scene
}

const SHORT: &str = "limits: { connectTimeout: 1s, callIdleTimeout: 2s }\n";

#[tokio::test]
async fn a_child_that_dies_in_the_handshake() {
    is_missing(&odd_stdio(&["--init", "die"]), SHORT, &["exited with code 3", "dying with code 3, as told"])
        .await;
}

#[tokio::test]
async fn a_child_that_refuses_the_handshake() {
    is_missing(&odd_stdio(&["--init", "error"]), SHORT, &["no hands to shake"]).await;
}

#[tokio::test]
async fn a_server_that_ends_the_connection_in_the_handshake() {
    let net = OddHttp::start(&["--init", "die"]).await;
    is_missing(&net.config(), SHORT, &["connection"]).await;
}

#[tokio::test]
async fn a_server_that_answers_the_handshake_with_garbage() {
    let net = OddHttp::start(&["--init", "garbage"]).await;
    is_missing(&net.config(), SHORT, &["not a message"]).await;
}

#[tokio::test]
async fn a_server_that_refuses_the_handshake() {
    let net = OddHttp::start(&["--init", "error"]).await;
    is_missing(&net.config(), SHORT, &["no hands to shake"]).await;
}

#[tokio::test]
async fn a_server_that_is_silent_in_the_handshake() {
    let net = OddHttp::start(&["--init", "silent"]).await;
    is_missing(&net.config(), SHORT, &["did not answer within 3 s", "retry in a few seconds"]).await;
}

#[tokio::test]
async fn children_that_never_shake_hands_hold_up_nobody() {
    let [silent, garbage] = [odd_stdio(&["--init", "silent"]), odd_stdio(&["--init", "garbage"])];
    let started = Instant::now();
    let scene = Scene::new(&[("silent", &silent), ("garbage", &garbage)], SHORT).await;
    assert!(started.elapsed() < BOUND, "{:?}", started.elapsed());
    let started = Instant::now();
    for _ in 0..10 {
        scene.is_well().await;
    }
    assert!(started.elapsed() < QUICK, "{:?}", started.elapsed());
    let answer = scene.witness().call("silent__ok", &json!({})).await;
    assert_eq!(answer["error"]["data"], json!({"server": "silent", "retry": true, "executed": "no"}));
    assert!(error_message(&answer).contains("still starting; the gateway keeps trying"), "{answer}");
}

#[tokio::test]
async fn a_program_that_does_not_exist() {
    let scene =
        is_missing("{ command: no-such-program-anywhere }", SHORT, &["no-such-program-anywhere", "PATH"])
            .await;
    scene.gateway.log().has("server=bad").await;
    is_missing("{ command: /etc/passwd }", SHORT, &["/etc/passwd"]).await;
    is_missing("{ command: cat, cwd: /nowhere/at/all }", SHORT, &["/nowhere/at/all"]).await;
}

#[tokio::test]
async fn a_program_that_ends_at_once() {
    is_missing(
        "{ command: sh, args: [-c, 'echo it needs a key >&2; exit 7'] }",
        SHORT,
        &["code 7", "it needs a key"],
    )
    .await;
}

#[tokio::test]
async fn an_address_where_nobody_listens() {
    // A port that was free a moment ago.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("its address");
    drop(listener);
    is_missing(&format!("{{ url: 'http://{address}/mcp' }}"), SHORT, &["refused"]).await;
}

#[tokio::test]
async fn a_name_that_does_not_exist() {
    is_missing("{ url: 'http://nowhere.invalid/mcp' }", SHORT, &["nowhere.invalid"]).await;
}

#[tokio::test]
async fn web_servers_that_do_not_speak_mcp() {
    let page = "<html>Nothing here</html>".to_owned();
    for (status, why) in [(404, "404"), (500, "500"), (401, "401"), (302, "302")] {
        let page = page.clone();
        let puppet = Puppet::start(move |_, _| Said::Status(status, "text/html", page.clone())).await;
        is_missing(&puppet.config(), SHORT, &[why]).await;
    }
    let puppet = Puppet::start(move |_, _| Said::Status(200, "text/html", page.clone())).await;
    is_missing(&puppet.config(), SHORT, &["200"]).await;
    let puppet = Puppet::start(|_, _| Said::Raw(b"\x15\x03\x01\x00\x02\x02\x0a".to_vec())).await;
    is_missing(&puppet.config(), SHORT, &["HTTP"]).await;
}

#[tokio::test]
async fn a_server_that_holds_back_the_end_of_its_answer() {
    for bytes in [
        b"HTTP/1.1 200 OK\r\nContent-Type: appli".as_slice(),
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{\"jsonrpc\"",
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: {\"jsonrpc\"",
    ] {
        let puppet = Puppet::start(|_, _| Said::Hold(bytes.to_vec())).await;
        is_missing(&puppet.config(), SHORT, &["did not answer", "retry in a few seconds"]).await;
    }
}

#[tokio::test]
async fn a_banner_before_the_first_message_is_no_fault() {
    let scene = Scene::new(&[("loud", &odd_stdio(&["--banner"]))], SHORT).await;
    assert_eq!(text(&scene.witness().call("loud__ok", &json!({"text": "x"})).await), "x");
    scene.gateway.log().has("child{server=loud}").await;
}

#[tokio::test]
async fn lists_that_never_end_are_cut() {
    let limits = "limits: { listPages: 20 }\n";
    for kind in ["same", "fresh"] {
        let net = OddHttp::start(&["--modern", "--loop-pages", kind]).await;
        let pipe = odd_stdio(&["--modern", "--loop-pages", kind]);
        let started = Instant::now();
        let scene = Scene::new(&[("pipe", &pipe), ("net", &net.config())], limits).await;
        assert!(started.elapsed() < BOUND, "{:?}", started.elapsed());
        let modern = Modern::new(scene.http());
        for listed in
            [scene.witness().ask("tools/list", &json!({})).await, modern.ask("tools/list", &json!({})).await]
        {
            let names = tool_names(&listed);
            for server in ["pipe", "net"] {
                let ok = format!("{server}__ok");
                assert_eq!(names.iter().filter(|name| **name == ok).count(), 1, "{kind}: {names:?}");
            }
            assert!(names.len() < 500, "{kind}: {}", names.len());
        }
        for server in ["pipe", "net"] {
            let answer = scene.witness().call(&format!("{server}__ok"), &json!({"text": "x"})).await;
            assert_eq!(text(&answer), "x", "{kind} {server}");
            scene.gateway.log().has(&format!("server={server}")).await;
        }
        scene.is_well().await;
    }
}

#[tokio::test]
async fn a_slow_server_joins_when_it_is_ready() {
    let good = fixture(Eras::Both).await;
    let (open, gate) = tokio::sync::watch::channel(false);
    let slow = Puppet::start_gated(gate, |_, _| Said::Proper).await;
    let config = Scene::config(&good, &[("slow", &slow.config())], "");
    let gateway = Gateway::start(&config).await;
    let started = Instant::now();
    let session = Legacy::open(gateway.http()).await;
    assert!(started.elapsed() < BOUND, "{:?}", started.elapsed());
    let mut standing = session.listen().await;
    assert!(!tool_names(&session.ask("tools/list", &json!({})).await).contains(&"slow__ok".to_owned()));
    open.send_replace(true);
    // The client is notified, and finds the server.
    loop {
        let message = standing.message().await.expect("a stream that stays");
        if message["method"] == "notifications/tools/list_changed" {
            break;
        }
    }
    assert!(tool_names(&session.ask("tools/list", &json!({})).await).contains(&"slow__ok".to_owned()));
    assert_eq!(text(&session.call("slow__ok", &json!({})).await), "ok");
}

#[tokio::test]
async fn a_server_that_hung_a_moment_ago_is_not_waited_for_again() {
    let hung = Puppet::start(|_, _| Said::Hold(Vec::new())).await;
    let scene = Scene::new(&[("hung", &hung.config())], "").await;
    // Each client is of a new kind, so each would have to wait.
    let started = Instant::now();
    for kind in 0..3 {
        let capabilities = json!({"roots": {}, "experimental": {format!("kind-{kind}"): {}}});
        let session = Legacy::open_at(scene.http(), "/mcp", LEGACY, &capabilities).await;
        assert_eq!(text(&session.call("good__echo", &json!({"a": 1})).await), r#"{"a":1}"#);
    }
    assert!(started.elapsed() < QUICK, "{:?}", started.elapsed());
}
