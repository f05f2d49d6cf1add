//! Servers that support another era after a restart: callers during the change are told to try again, the lists are
//! fetched again, and everybody is served as before.

mod support;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use rustix::process::Signal;
use serde_json::{Value, json};
use support::*;
use testkit::fixture::{Eras, Options, Running, serve_http, serve_sse};

/// Starts a server at this address as soon as it is free. Servers that start `later` offer more tools.
async fn serve(at: SocketAddr, eras: Eras, later: bool) -> (SocketAddr, Running) {
    let options = Options { eras, many: later, ..Options::default() };
    let started = async {
        loop {
            match serve_http(at, options.clone()).await {
                Ok(running) => return running,
                Err(_) => tokio::task::yield_now().await,
            }
        }
    };
    soon("the address", started).await
}

/// Calls until it succeeds; earlier failures name the server and recommend another attempt.
async fn served_again(tool: &str, call: impl AsyncFn(&str) -> Value) {
    let calls = async {
        loop {
            let answer = call(tool).await;
            if answer.get("error").is_none() {
                return answer;
            }
            let data = &answer["error"]["data"];
            assert_eq!(data["server"], "u", "{answer}");
            // A call that was interrupted may have been executed.
            assert!(data["retry"] == true || error_message(&answer).contains("SIGKILL"), "{answer}");
        }
    };
    assert_eq!(text(&soon("an answer", calls).await), r#"{"a":1}"#);
}

/// Waits until a tool is listed that only the later server has.
async fn lists_are_new(call: impl AsyncFn(&str) -> Value) {
    let calls = async { while call("u__many_007").await.get("error").is_some() {} };
    soon("the new lists", calls).await;
}

/// Clients of both kinds, including those that support questions, before and after.
async fn changes(config: String, change: impl AsyncFnOnce(&Gateway)) {
    let gateway = Gateway::start(&format!("mcpServers: {{ u: {config} }}\n")).await;
    let askable = json!({"elicitation": {}});
    let sessions =
        [Legacy::open(gateway.http()).await, Legacy::open_at(gateway.http(), "/mcp", LEGACY, &askable).await];
    let stateless = [
        Modern::new(gateway.http()),
        Modern { capabilities: json!({"elicitation": {"form": {}}}), ..Modern::new(gateway.http()) },
    ];
    let arguments = json!({"a": 1});
    for client in &sessions {
        assert_eq!(text(&client.call("u__echo", &arguments).await), r#"{"a":1}"#);
    }
    for client in &stateless {
        assert_eq!(text(&client.call("u__echo", &arguments).await), r#"{"a":1}"#);
    }
    change(&gateway).await;
    for client in &sessions {
        served_again("u__echo", async |tool| client.call(tool, &arguments).await).await;
        lists_are_new(async |tool| client.call(tool, &arguments).await).await;
    }
    for client in &stateless {
        served_again("u__echo", async |tool| client.call(tool, &arguments).await).await;
        lists_are_new(async |tool| client.call(tool, &arguments).await).await;
    }
    // Later clients are served in the same way, whatever links they need.
    let late = Legacy::open_at(gateway.http(), "/mcp", LEGACY, &askable).await;
    served_again("u__echo", async |tool| late.call(tool, &arguments).await).await;
    let late = Legacy::open_at(gateway.http(), "/mcp", "2025-06-18", &json!({})).await;
    assert_eq!(text(&late.call("u__echo", &arguments).await), r#"{"a":1}"#);
}

/// Changes the era of a server over HTTP.
async fn over_http(before: Eras, after: Eras) {
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let (address, running) = serve(any, before, false).await;
    let config = format!("{{ url: {} }}", quoted(&format!("http://{address}/mcp")));
    let running = std::sync::Mutex::new(Some(running));
    changes(config, async |_| {
        drop(running.lock().expect("nobody panics").take());
        let (_, new) = serve(address, after, true).await;
        *running.lock().expect("nobody panics") = Some(new);
    })
    .await;
}

#[tokio::test]
async fn from_a_handshake_to_stateless_requests() {
    over_http(Eras::Legacy, Eras::Modern).await;
}

#[tokio::test]
async fn from_stateless_requests_to_a_handshake() {
    over_http(Eras::Modern, Eras::Legacy).await;
}

#[tokio::test]
async fn from_stateless_requests_to_both() {
    over_http(Eras::Modern, Eras::Both).await;
}

#[tokio::test]
async fn from_both_to_a_handshake() {
    over_http(Eras::Both, Eras::Legacy).await;
}

/// Over HTTP+SSE the stream is the session: if it breaks, the gateway has to check whether the server is available
/// again.
#[tokio::test]
async fn an_event_stream_that_breaks_is_missed() {
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let options = Options { eras: Eras::Legacy, ..Options::default() };
    let (address, running) = serve_sse(any, options.clone()).await.expect("a free port");
    let gateway = Gateway::start(&format!("mcpServers: {{ u: {{ url: 'http://{address}/sse' }} }}\n")).await;
    let session = Legacy::open(gateway.http()).await;
    assert_eq!(text(&session.call("u__echo", &json!({})).await), "{}");
    let mut stream = session.listen().await;
    drop(running);
    let later = Options { many: true, ..options };
    let started = async {
        loop {
            match serve_sse(address, later.clone()).await {
                Ok(running) => return running,
                Err(_) => tokio::task::yield_now().await,
            }
        }
    };
    let _running = soon("the address", started).await;
    // No client sends a request.
    let mut changed = Value::Null;
    while changed["method"] != "notifications/tools/list_changed" {
        changed = soon("news of the lists", stream.message()).await.expect("a message");
    }
    let listed = session.ask("tools/list", &json!({})).await;
    assert!(tool_names(&listed).iter().any(|name| name == "u__many_007"), "{listed}");
}

/// A child that is killed, and is a different program after its restart.
async fn a_child(before: &str, after: &str) {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let file = folder.join(format!("changes-{}-{before}-{after}", std::process::id()));
    std::fs::write(&file, format!("--eras {before}")).expect("a file in the target folder");
    let script = format!(
        "exec {} --stdio $(cat {})",
        testkit::fixture::program().to_str().expect("a path in UTF-8"),
        file.to_str().expect("a path in UTF-8"),
    );
    changes(format!("{{ command: sh, args: [-c, {}] }}", quoted(&script)), async |gateway| {
        std::fs::write(&file, format!("--many --eras {after}")).expect("a file in the target folder");
        let children = children_of(gateway.pid());
        for child in &children {
            kill(*child, Signal::KILL);
        }
        until("the children's end", || children.iter().all(|child| !is_running(*child))).await;
    })
    .await;
    std::fs::remove_file(&file).expect("the own file");
}

#[tokio::test]
async fn a_child_from_a_handshake_to_stateless_requests() {
    a_child("legacy", "modern").await;
}

#[tokio::test]
async fn a_child_from_stateless_requests_to_a_handshake() {
    a_child("modern", "legacy").await;
}
