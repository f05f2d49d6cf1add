//! Lists that outlive the gateway: shown at the next start before their server has answered.

mod support;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::*;
use tokio::sync::watch;

/// A state folder, removed when the test ends.
struct StateFolder(PathBuf);

impl StateFolder {
    fn new(name: &str) -> Self {
        let path =
            PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("kept-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder in the target folder");
        Self(path)
    }

    /// A configuration with one server, whose lists nobody waits for.
    fn config(&self, server: &str) -> String {
        let folder = self.0.display();
        format!(
            "stateFolder: '{folder}'\nmanagement: true\nlimits: {{ listWait: 0ms }}\nmcpServers: {{ up: {server} }}\n"
        )
    }
}

impl Drop for StateFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A server with one tool, which requires a number. While it is `silent`, it answers only calls.
async fn server(silent: &Arc<AtomicBool>) -> Puppet {
    let silent = silent.clone();
    Puppet::start(move |_, received| {
        let result = match received.method() {
            "initialize" => json!({
                "protocolVersion": LEGACY, "capabilities": {"tools": {}},
                "serverInfo": {"name": "puppet", "version": "1"},
            }),
            "tools/list" if silent.load(Ordering::SeqCst) => return Said::Hold(Vec::new()),
            "tools/list" => json!({"tools": [{
                "name": "ok",
                "inputSchema": {"type": "object", "properties": {"a": {"type": "number"}}},
            }]}),
            "tools/call" => json!({"content": [{"type": "text", "text": "ok"}]}),
            _ => return Said::Proper,
        };
        Said::Result(result, String::new())
    })
    .await
}

/// The immediate answer to a list request.
async fn listed(gateway: &Gateway) -> Value {
    Modern::new(gateway.http()).ask("tools/list", &json!({})).await["result"].clone()
}

/// Waits until the server's tool is listed.
async fn shown(gateway: &Gateway) {
    let names = async { while tool_names(&json!({"result": listed(gateway).await})) != ["up__ok"] {} };
    soon("the server's tool", names).await;
}

#[tokio::test]
async fn kept_lists_are_shown_at_once_and_refuse_no_arguments() {
    let (folder, silent) = (StateFolder::new("shown"), Arc::new(AtomicBool::new(false)));
    let puppet = server(&silent).await;
    let config = folder.config(&puppet.config());
    let gateway = Gateway::start(&config).await;
    shown(&gateway).await;
    let refused = Legacy::open(gateway.http()).await.call("up__ok", &json!({"a": "text"})).await;
    assert!(text(&refused).contains("do not fit"), "{refused}");
    gateway.stop().await;
    silent.store(true, Ordering::SeqCst);
    let gateway = Gateway::start(&config).await;
    let lists = listed(&gateway).await;
    assert_eq!(tool_names(&json!({"result": lists})), ["up__ok"]);
    assert_eq!(lists["ttlMs"], 0, "nobody has confirmed it yet");
    let mut reply = gateway.http().get("/api/mcp-servers/up/status", &[]).await;
    let status: Value = serde_json::from_str(&reply.text().await).expect("a status");
    assert_eq!(
        (&status["freshness"], &status["staleReason"]),
        (&json!("stale"), &json!("not confirmed since startup"))
    );
    // The schema may have changed meanwhile.
    let called = Legacy::open(gateway.http()).await.call("up__ok", &json!({"a": "text"})).await;
    assert_eq!(text(&called), "ok");
    gateway.stop().await;
}

#[tokio::test]
async fn another_credential_may_be_another_account() {
    let (folder, silent) = (StateFolder::new("account"), Arc::new(AtomicBool::new(false)));
    let puppet = server(&silent).await;
    let of = |key: &str| format!("{{ url: {}, headers: {{ X-Key: {key} }} }}", quoted(&puppet.url()));
    let gateway = Gateway::start(&folder.config(&of("ann"))).await;
    shown(&gateway).await;
    gateway.stop().await;
    silent.store(true, Ordering::SeqCst);
    let gateway = Gateway::start(&folder.config(&of("ben"))).await;
    assert_eq!(listed(&gateway).await["tools"], json!([]));
    gateway.stop().await;
    let gateway = Gateway::start(&folder.config(&of("ann"))).await;
    assert_eq!(tool_names(&json!({"result": listed(&gateway).await})), ["up__ok"]);
    gateway.stop().await;
}

#[tokio::test]
async fn a_damaged_file_is_moved_aside_and_nothing_else_is_lost() {
    let (folder, silent) = (StateFolder::new("damaged"), Arc::new(AtomicBool::new(false)));
    let puppet = server(&silent).await;
    let config = folder.config(&puppet.config());
    std::fs::write(folder.0.join("catalogue.db"), [b'?'; 8192]).expect("a file");
    let gateway = Gateway::start(&config).await;
    shown(&gateway).await;
    gateway.log().has("the file of stored lists was damaged and has been moved").await;
    gateway.stop().await;
    silent.store(true, Ordering::SeqCst);
    let gateway = Gateway::start(&config).await;
    assert_eq!(tool_names(&json!({"result": listed(&gateway).await})), ["up__ok"]);
    gateway.stop().await;
}

#[tokio::test]
async fn a_tool_that_is_excluded_leaves_the_kept_lists_too() {
    let (folder, silent) = (StateFolder::new("excluded"), Arc::new(AtomicBool::new(false)));
    let puppet = server(&silent).await;
    let config = folder.config(&puppet.config());
    let gateway = Gateway::start(&config).await;
    shown(&gateway).await;
    gateway.stop().await;
    silent.store(true, Ordering::SeqCst);
    let excluding = format!("{{ url: {}, excludeTools: [ok] }}", quoted(&puppet.url()));
    let gateway = Gateway::start(&folder.config(&excluding)).await;
    assert_eq!(listed(&gateway).await["tools"], json!([]));
    let called = Legacy::open(gateway.http()).await.call("up__ok", &json!({})).await;
    assert!(called["error"].is_object(), "{called}");
    assert_eq!(puppet.count("tools/call"), 0);
    gateway.stop().await;
}

#[tokio::test]
async fn a_first_call_waits_for_what_changed_before_the_start() {
    let (folder, is_held) = (StateFolder::new("changed"), Arc::new(AtomicBool::new(false)));
    let (list, listed) = watch::channel((Vec::new(), false));
    let tools = |kind: &str| {
        let schema = json!({"type": "object", "properties": {"a": {"type": kind}}});
        json!({"tools": [{"name": "ok", "inputSchema": schema}]})
    };
    let (held, before) = (is_held.clone(), tools("number"));
    let puppet = Puppet::start(move |_, received| match received.method() {
        "tools/list" if held.load(Ordering::SeqCst) => Said::Stream(listed.clone()),
        "tools/list" => Said::Result(before.clone(), String::new()),
        _ => Said::Proper,
    })
    .await;
    let config = folder.config(&puppet.config());
    let gateway = Gateway::start(&config).await;
    shown(&gateway).await;
    gateway.stop().await;
    is_held.store(true, Ordering::SeqCst);
    loop {
        let (begun, count) = (Instant::now(), puppet.count("tools/list"));
        let gateway = Gateway::start(&config).await;
        let (client, arguments) = (Modern::new(gateway.http()), json!({"a": 1}));
        let mut call = std::pin::pin!(client.call("up__ok", &arguments));
        let early = tokio::time::timeout(Duration::from_millis(100), &mut call).await;
        if begun.elapsed() > Duration::from_millis(450) {
            // The machine is too slow for the half second that a call waits.
            drop(early);
            gateway.stop().await;
            continue;
        }
        assert!(early.is_err(), "it did not wait: {early:?}");
        puppet.was_sent("tools/list", count + 1).await;
        let mut asked = puppet.received().into_iter().filter(|received| received.method() == "tools/list");
        let id = asked.next_back().expect("a request").body["id"].clone();
        let answer = json!({"jsonrpc": "2.0", "id": id, "result": tools("string")});
        list.send_modify(|(all, over)| {
            (*all, *over) = (format!("data: {answer}\n\n").into_bytes(), true);
        });
        let refused = call.await;
        assert!(text(&refused).contains("do not fit"), "the schema of before was in force: {refused}");
        gateway.stop().await;
        return;
    }
}
