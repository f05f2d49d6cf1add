//! Starting and ending `dragoman stdio`: the causes of its end, the calls that are still answered, and the
//! processes that remain.

mod support;

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};
use support::*;

const QUICK: Duration = Duration::from_secs(10);

fn config(limits: &str) -> String {
    format!("mcpServers:\n  pipe: {}\n{limits}", odd_stdio(&[]))
}

#[tokio::test]
async fn what_was_asked_before_stdin_ended_is_answered() {
    let mut client = Stdio::open(&config("")).await;
    let pid = client.pid();
    assert_eq!(text(&client.call("pipe__ok", &json!({"text": "x"})).await), "x");
    let children = descendants_of(pid);
    assert!(!children.is_empty());
    client
        .begin("tools/call", &json!({"name": "pipe__late", "arguments": {"ms": 1500, "text": "finished"}}))
        .await;
    let ended = client.close().await;
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert!(ended.out.contains("finished"), "{}", ended.out);
    until("no orphans", || children.iter().all(|child| !is_running(*child))).await;
}

#[tokio::test]
async fn a_call_without_an_end_does_not_keep_it() {
    let mut client = Stdio::open(&config("limits: { drainTimeout: 300ms }\n")).await;
    client.begin("tools/call", &json!({"name": "pipe__silent", "arguments": {}})).await;
    assert_eq!(text(&client.call("pipe__ok", &json!({"text": "x"})).await), "x");
    let children = descendants_of(client.pid());
    let started = Instant::now();
    let ended = client.close().await;
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert!(started.elapsed() < QUICK, "{:?}", started.elapsed());
    until("no orphans", || children.iter().all(|child| !is_running(*child))).await;
}

#[tokio::test]
async fn a_server_that_takes_no_notices_holds_up_nothing_else() {
    let puppet = Puppet::start(|_, received| match received.method() {
        "notifications/roots/list_changed" => Said::Hold(Vec::new()),
        _ => Said::Proper,
    })
    .await;
    let mut client = Stdio::start(&format!("mcpServers:\n  deaf: {}\n", puppet.config()));
    client.initialize(LEGACY, &json!({"roots": {"listChanged": true}})).await;
    assert_eq!(text(&client.call("deaf__ok", &json!({})).await), "ok");
    let notice = json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}).to_string();
    // Each notification has such a long deadline that all of them in sequence would take longer than this
    // test may.
    for _ in 0..8 {
        client.send(&notice).await;
    }
    puppet.was_sent("notifications/roots/list_changed", 1).await;
    assert_eq!(client.ask("ping", &json!({})).await["result"], json!({}));
    assert_eq!(text(&client.call("deaf__ok", &json!({})).await), "ok");
}

#[tokio::test]
async fn signals_end_it_in_good_order() {
    for signal in [Signal::TERM, Signal::INT] {
        let mut client = Stdio::open(&config("limits: { drainTimeout: 300ms }\n")).await;
        assert_eq!(text(&client.call("pipe__ok", &json!({"text": "x"})).await), "x");
        let children = descendants_of(client.pid());
        client.begin("tools/call", &json!({"name": "pipe__silent", "arguments": {}})).await;
        let started = Instant::now();
        kill(client.pid(), signal);
        assert_eq!(client.ended().await.code, Some(0), "{signal:?}");
        assert!(started.elapsed() < QUICK, "{signal:?}: {:?}", started.elapsed());
        until("no orphans", || children.iter().all(|child| !is_running(*child))).await;
    }
}

#[tokio::test]
async fn killed_without_a_word_it_leaves_no_orphans() {
    let mut client = Stdio::open(&config("")).await;
    assert_eq!(text(&client.call("pipe__ok", &json!({"text": "x"})).await), "x");
    let children = descendants_of(client.pid());
    kill(client.pid(), Signal::KILL);
    client.ended().await;
    // Their stdin has ended with it.
    until("no orphans", || children.iter().all(|child| !is_running(*child))).await;
}

#[tokio::test]
async fn a_client_that_does_not_read_is_no_reason_to_grow() {
    let mut client = Stdio::open(&config("limits: { drainTimeout: 300ms }\n")).await;
    let before = peak_memory(client.pid());
    let big = "x".repeat(100_000);
    let call = json!({"name": "pipe__ok", "arguments": {"text": big}});
    // Answers of 400 MB are requested and not read; sooner or later the gateway also stops reading.
    let flood = async {
        for _ in 0..4000 {
            client.begin("tools/call", &call).await;
        }
    };
    let blocked = tokio::time::timeout(Duration::from_secs(5), flood).await.is_err();
    let grown = peak_memory(client.pid()).saturating_sub(before);
    assert!(blocked && grown < 200 << 20, "blocked: {blocked}, {grown} bytes more");
    let started = Instant::now();
    kill(client.pid(), Signal::TERM);
    client.ended().await;
    assert!(started.elapsed() < QUICK, "{:?}", started.elapsed());
}

/// A server that never answers a call with `hold`.
async fn holding() -> Puppet {
    Puppet::start(|_, received| {
        let holds = received.method() == "tools/call" && received.body["params"]["arguments"]["hold"] == true;
        if holds { Said::Hold(Vec::new()) } else { Said::Proper }
    })
    .await
}

#[tokio::test]
async fn a_dialects_client_can_give_a_request_up() {
    let puppet = holding().await;
    let config = format!("dialect: gateway\nmcpServers:\n  puppet: {}\n", puppet.config());
    let mut client = Stdio::start(&config);
    client.initialize("2024-11-05", &json!({})).await;
    let hold = json!({"name": "puppet__ok", "arguments": {"hold": true}});
    let cancelled = |id: &Value| {
        let params = json!({"requestId": id, "reason": "enough"});
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}).to_string()
    };
    let first = client.begin("tools/call", &hold).await;
    let waiting = client.begin("tools/call", &hold).await;
    let asked = client.begin("ping", &json!({})).await;
    puppet.heard("the call", |one| one.method() == "tools/call").await;
    // A call that waits in the queue, and then the current one.
    client.send(&cancelled(&waiting)).await;
    client.send(&cancelled(&first)).await;
    let answer = client.message().await;
    assert_eq!((&answer["id"], &answer["result"]), (&asked, &json!({})), "{answer}");
    puppet.was_sent("notifications/cancelled", 1).await;
    assert_eq!(text(&client.call("puppet__ok", &json!({})).await), "ok");
    assert_eq!(puppet.received().iter().filter(|one| one.method() == "tools/call").count(), 2);
}

#[tokio::test]
async fn a_dialects_client_that_goes_is_not_waited_for() {
    let puppet = holding().await;
    let limits = "limits: { drainTimeout: 300ms }";
    let config = format!("dialect: kulturarv\n{limits}\nmcpServers:\n  puppet: {}\n", puppet.config());
    let mut client = Stdio::start(&config);
    client.initialize("2024-11-05", &json!({})).await;
    client.begin("tools/call", &json!({"name": "puppet__ok", "arguments": {"hold": true}})).await;
    puppet.heard("the call", |one| one.method() == "tools/call").await;
    let started = Instant::now();
    let ended = client.close().await;
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert!(started.elapsed() < QUICK, "{:?}", started.elapsed());
}
