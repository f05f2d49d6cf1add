//! Connecting to servers that react to unknown requests in their own ways: with silence, with an exit, with HTML pages
//! and odd statuses; and servers with two endpoints. Clients of every kind reach all of them.

mod support;

use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::*;
use testkit::fixture::{Eras, Options, Running, serve_sse};

const SHORT: &str = "limits: { connectTimeout: 1s, callIdleTimeout: 2s }\n";

/// The time that a client waits for a server that is silent at first, plus the delay of a busy machine.
const BOUND: Duration = Duration::from_secs(8 + 12);

/// Checks that clients of every kind reach the tool of the server `u`; a call with `arguments` returns `said`.
async fn is_reached(config: &str, tool: &str, arguments: &Value, said: &str) -> Gateway {
    let started = Instant::now();
    let gateway = Gateway::start(&format!("{SHORT}mcpServers: {{ u: {config} }}\n")).await;
    let modern = Modern::new(gateway.http());
    let askable = Modern { capabilities: json!({"elicitation": {"form": {}}}), ..modern.clone() };
    let session = Legacy::open(gateway.http()).await;
    let older = Legacy::open_at(gateway.http(), "/mcp", "2025-03-26", &json!({"roots": {}})).await;
    assert!(started.elapsed() < 4 * BOUND, "{config}: {:?}", started.elapsed());
    for answer in [
        modern.call(tool, arguments).await,
        askable.call(tool, arguments).await,
        session.call(tool, arguments).await,
        older.call(tool, arguments).await,
    ] {
        assert_eq!(text(&answer), said, "{config}");
    }
    let listed = modern.ask("tools/list", &json!({})).await;
    assert!(tool_names(&listed).iter().any(|name| name == tool), "{config}: {listed}");
    gateway
}

async fn echo_is_reached(config: &str) -> Gateway {
    is_reached(config, "u__echo", &json!({"a": 1}), r#"{"a":1}"#).await
}

fn child(flags: &[&str]) -> String {
    let program = quoted(testkit::fixture::program().to_str().expect("a path in UTF-8"));
    let args: Vec<String> = std::iter::once(&"--stdio").chain(flags).map(|arg| quoted(arg)).collect();
    format!("{{ command: {program}, args: [{}] }}", args.join(", "))
}

#[tokio::test]
async fn children_of_one_kind() {
    for eras in ["legacy", "modern", "both"] {
        echo_is_reached(&child(&["--eras", eras])).await;
    }
}

#[tokio::test]
async fn a_child_that_dies_of_the_first_question() {
    echo_is_reached(&child(&["--die-on-unknown"])).await;
}

#[tokio::test]
async fn a_child_that_says_nothing_to_the_first_question() {
    echo_is_reached(&child(&["--mute-discover"])).await;
}

/// The answer of a puppet with a handshake to the first request of the other era.
async fn to_discover(said: Said) {
    let puppet = Puppet::start(move |_, request| match request.method() {
        "server/discover" => said.clone(),
        _ => Said::Proper,
    })
    .await;
    is_reached(&puppet.config(), "u__ok", &json!({}), "ok").await;
}

#[tokio::test]
async fn servers_that_do_not_know_the_first_question() {
    let page = || "<html>Not here</html>".to_owned();
    let error = |code: i64| {
        json!({"jsonrpc": "2.0", "id": null, "error": {"code": code, "message": "no"}}).to_string()
    };
    for said in [
        Said::Status(400, "text/plain", String::new()),
        Said::Status(404, "text/html", page()),
        Said::Status(405, "text/html", page()),
        Said::Status(400, "application/json", error(-32600)),
        Said::Status(400, "application/json", error(-32000)),
        Said::Status(200, "application/json", error(-32601)),
        Said::Status(200, "application/json", error(-32603)),
        Said::Status(200, "text/html", page()),
        Said::Status(200, "application/json", "[]".to_owned()),
        Said::Status(500, "text/html", page()),
        Said::Status(501, "text/html", page()),
        Said::Raw(Vec::new()),
    ] {
        to_discover(said).await;
    }
}

#[tokio::test]
async fn a_server_that_says_nothing_to_the_first_question() {
    to_discover(Said::Hold(Vec::new())).await;
}

/// The answer of a puppet without sessions to a handshake.
#[tokio::test]
async fn servers_that_do_not_know_a_handshake() {
    let page = || "<html>Not here</html>".to_owned();
    for said in [
        Said::Status(400, "text/plain", String::new()),
        Said::Status(404, "text/html", page()),
        Said::Status(405, "text/html", page()),
        Said::Status(200, "text/html", page()),
    ] {
        let puppet = Puppet::start(move |_, request| {
            let own = request.body["params"]["_meta"].is_object();
            match request.method() {
                "server/discover" => Said::Result(
                    json!({"resultType": "complete", "supportedVersions": [MODERN], "capabilities": {"tools": {}}}),
                    String::new(),
                ),
                "tools/list" | "tools/call" if own => Said::Proper,
                _ => said.clone(),
            }
        })
        .await;
        is_reached(&puppet.config(), "u__ok", &json!({}), "ok").await;
    }
}

async fn event_stream() -> Running {
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let options = Options { eras: Eras::Legacy, ..Options::default() };
    serve_sse(any, options).await.expect("a free port").1
}

#[tokio::test]
async fn a_server_of_two_endpoints() {
    let server = event_stream().await;
    for config in [
        format!("{{ url: {} }}", quoted(&server.url())),
        format!("{{ type: sse, url: {} }}", quoted(&server.url())),
    ] {
        echo_is_reached(&config).await;
    }
}

/// Servers with two endpoints that answer a POST to the stream's path in odd ways, and that answer messages in the
/// response to the POST.
#[tokio::test]
async fn servers_of_two_endpoints_that_take_no_message_at_the_stream() {
    let page = || "<html>Not here</html>".to_owned();
    for (status, media, body) in [
        (404, "text/html", page()),
        (405, "text/plain", String::new()),
        (400, "application/json", r#"{"error":"no session"}"#.to_owned()),
        (200, "text/html", page()),
        (501, "text/html", page()),
    ] {
        let puppet = Puppet::start(move |_, request| match request.verb.as_str() {
            "GET" => Said::Hold(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nevent: endpoint\ndata: /message?s=1\n\n"
                    .to_vec(),
            ),
            _ if request.path.starts_with("/message") => Said::Proper,
            _ => Said::Status(status, media, body.clone()),
        })
        .await;
        is_reached(&puppet.config(), "u__ok", &json!({}), "ok").await;
    }
}

/// A transport that is not configured is not tried.
#[tokio::test]
async fn a_configured_transport_is_the_only_one() {
    let server = event_stream().await;
    let config = format!("{{ type: streamable-http, url: {} }}", quoted(&server.url()));
    let scene = Scene::new(&[("u", &config)], SHORT).await;
    let answer = scene.witness().call("u__echo", &json!({})).await;
    assert_eq!(answer["error"]["data"]["server"], "u", "{answer}");
    let puppet = Puppet::start(|_, _| Said::Proper).await;
    let config = format!("{{ type: sse, url: {} }}", quoted(&puppet.url()));
    let scene = Scene::new(&[("u", &config)], SHORT).await;
    let answer = scene.witness().call("u__ok", &json!({})).await;
    assert!(error_message(&answer).contains("405"), "{answer}");
    assert_eq!(puppet.count("initialize") + puppet.count("server/discover"), 0);
}

/// The server names the endpoint for messages; a message never goes to another host.
#[tokio::test]
async fn an_event_stream_that_leads_elsewhere() {
    let puppet = Puppet::start(|_, request| match request.verb.as_str() {
        "GET" => Said::Hold(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nevent: endpoint\ndata: http://127.0.0.1:1/m\n\n".to_vec(),
        ),
        _ => Said::Status(405, "text/plain", String::new()),
    })
    .await;
    let config = format!("{{ type: sse, url: {} }}", quoted(&puppet.url()));
    let scene = Scene::new(&[("u", &config)], SHORT).await;
    let answer = scene.witness().call("u__ok", &json!({})).await;
    assert!(error_message(&answer).contains("another origin"), "{answer}");
    scene.is_well().await;
}

/// A refusal of every client decides nothing about the version, and nothing else is tried.
#[tokio::test]
async fn a_server_that_lets_nobody_in_is_not_asked_in_other_ways() {
    for status in [401, 302] {
        let puppet = Puppet::start(move |_, _| Said::Status(status, "text/plain", String::new())).await;
        let gateway = Gateway::start(&format!("mcpServers: {{ u: {} }}\n", puppet.config())).await;
        let answer = Modern::new(gateway.http()).call("u__ok", &json!({})).await;
        assert!(error_message(&answer).contains(&status.to_string()), "{answer}");
        // Requests to other paths of its port are allowed: they look for its authorization server.
        let gets = puppet.received().iter().filter(|one| one.verb == "GET" && one.path == "/mcp").count();
        assert_eq!((puppet.count("initialize"), gets), (0, 0), "{status}");
    }
}
