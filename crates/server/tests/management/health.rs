//! The states of servers over time: in the status, in the log, at `/ready`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use serde_json::{Value, json};
use tokio::sync::watch;

use crate::place::Place;
use crate::support::*;

const WELL: u8 = 0;
const GONE: u8 = 1;
const SHUT: u8 = 2;

/// A server that is healthy, unreachable, or requires a credential, depending on the returned number.
async fn fickle(mood: u8) -> (Puppet, Arc<AtomicU8>) {
    let mood = Arc::new(AtomicU8::new(mood));
    let own = mood.clone();
    let puppet = Puppet::start(move |_, _| match own.load(Ordering::SeqCst) {
        WELL => Said::Proper,
        GONE => Said::Raw(Vec::new()),
        _ => Said::Status(401, "text/plain", "show your papers".to_owned()),
    })
    .await;
    (puppet, mood)
}

async fn ready(gateway: &Gateway) -> (u16, String) {
    let mut reply = gateway.http().get("/ready", &[]).await;
    (reply.status, reply.text().await)
}

/// The freshness of a server's lists, and the reason if they are stale.
fn lists(status: &Value) -> [&str; 2] {
    ["freshness", "staleReason"].map(|key| status[key].as_str().unwrap_or("null"))
}

/// A status without its times.
fn told(status: &Value) -> [&str; 3] {
    ["state", "status", "reason"].map(|key| status[key].as_str().unwrap_or("null"))
}

#[tokio::test]
async fn a_server_that_goes_and_returns_is_told_truly_without_being_asked() {
    let place = Place::with("management: { rate: 10000/1m }\nready: all\n").await;
    let log = place.gateway.log();
    let (puppet, mood) = fickle(WELL).await;
    let server = json!({"name": "far", "type": "remote_http", "config": {"url": puppet.url()}});
    place.make("POST", "/api/mcp-servers", &server).await;
    place.get("/api/mcp-servers/far/tools").await;
    place.gateway.ready().await;
    let status = place.get("/api/mcp-servers/far/status").await;
    assert_eq!(told(&status), ["ready", "connected", "null"]);
    assert!(status["since"].as_str().is_some_and(|at| at.ends_with('Z')) && status["nextTry"].is_null());
    assert_eq!(lists(&status), ["fresh", "null"]);

    mood.store(GONE, Ordering::SeqCst);
    place.ask("POST", "/api/mcp-servers/far/refresh", &Value::Null).await;
    log.has("unreachable after").await;
    let status = place.get("/api/mcp-servers/far/status").await;
    assert_eq!(told(&status)[..2], ["unreachable", "error"], "{status}");
    assert!(!status["reason"].is_null() && status["error"] == status["reason"], "{status}");
    assert_eq!(lists(&status), ["stale", "connection lost"]);
    let (code, text) = ready(&place.gateway).await;
    assert_eq!(code, 503, "{text}");
    assert!(
        text.starts_with(
            "not ready: 1 of 2 servers are missing (setting `ready: all`)\nfar: unreachable for "
        ),
        "{text}"
    );
    assert!(!text.contains("127.0.0.1"), "{text}");

    mood.store(WELL, Ordering::SeqCst);
    log.has(" of unreachable, tools: ").await;
    assert_eq!(told(&place.get("/api/mcp-servers/far/status").await), ["ready", "connected", "null"]);
    assert_eq!(ready(&place.gateway).await, (200, "ready\n".to_owned()));

    mood.store(SHUT, Ordering::SeqCst);
    place.ask("POST", "/api/mcp-servers/far/refresh", &Value::Null).await;
    log.has("auth_required after").await;
    let status = place.get("/api/mcp-servers/far/status").await;
    assert_eq!(told(&status)[..2], ["auth_required", "auth_required"]);
    let [word, why] = lists(&status);
    assert!(word == "stale" && why.starts_with("fetch failed: ") && why.contains("papers"), "{status}");
    assert!(
        status["reason"].as_str().is_some_and(|why| why.contains("papers")) && status["nextTry"].is_null()
    );
    let (code, text) = ready(&place.gateway).await;
    assert!(code == 503 && text.ends_with(": the server answered HTTP 401\n"), "{text}");

    mood.store(WELL, Ordering::SeqCst);
    place.make("POST", "/api/mcp-servers/far/refresh", &Value::Null).await;
    log.has(" of auth_required, tools: ").await;
    assert_eq!(ready(&place.gateway).await.0, 200);
    let off = json!({"isActive": false});
    place.make("PUT", "/api/mcp-servers/far", &off).await;
    let status = place.get("/api/mcp-servers/far/status").await;
    assert_eq!(told(&status), ["disabled", "disconnected", "the server is disabled"]);
    assert_eq!(lists(&status), ["unknown", "null"]);
}

#[tokio::test]
async fn lists_are_stale_from_an_announcement_until_they_are_fetched() {
    let (text, heard) = watch::channel((Vec::new(), false));
    let lists_left = Arc::new(AtomicU8::new(u8::MAX));
    let own = lists_left.clone();
    let puppet = Puppet::start(move |_, received| match received.method() {
        "GET" => Said::Stream(heard.clone()),
        "tools/list" if own.load(Ordering::SeqCst) == 0 => Said::Hold(Vec::new()),
        _ => Said::Proper,
    })
    .await;
    let place = Place::new().await;
    let server = json!({"name": "far", "type": "remote_http", "config": {"url": puppet.url()}});
    place.make("POST", "/api/mcp-servers", &server).await;
    place.get("/api/mcp-servers/far/tools").await;
    assert_eq!(lists(&place.get("/api/mcp-servers/far/status").await), ["fresh", "null"]);
    puppet.was_sent("GET", 1).await;
    let before = puppet.count("tools/list");
    lists_left.store(0, Ordering::SeqCst);
    let notice = r#"data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    text.send_modify(|(text, _)| text.extend_from_slice(format!("{notice}\n\n").as_bytes()));
    puppet.was_sent("tools/list", before + 1).await;
    assert_eq!(lists(&place.get("/api/mcp-servers/far/status").await), ["stale", "change announced"]);
}

/// A child that prints a last message with a secret in it, after the first command has ended.
fn mortal(first: &str) -> Value {
    let script = format!("{first}; printf 'out of ' >&2; printenv CHEESE >&2; exit 3");
    json!({
        "name": "up", "type": "external",
        "config": {"command": "sh", "args": ["-c", script], "env": {"CHEESE": "secret-gouda"}},
    })
}

#[tokio::test]
async fn a_child_that_keeps_ending_backs_off_and_flaps() {
    let place = Place::new().await;
    let odd = testkit::odd::program();
    place.make("POST", "/api/mcp-servers", &mortal(&format!("'{}' --stdio", odd.display()))).await;
    place.shows("/mcp", "up__die", true).await;
    let log = place.gateway.log();
    let session = Legacy::open(place.gateway.http()).await;
    let dying = json!({"name": "up__die", "arguments": {}});
    let die = || session.ask("tools/call", &dying);
    die().await;
    log.has("starting after").await;
    log.has(" of starting, tools: ").await;
    die().await;
    log.has("backing_off after").await;
    log.has(": code 3: odd: dying with code 3, as told | out of *** server=up").await;
    for _ in 0..7 {
        die().await;
    }
    log.has("flapping: ").await;
    let text = log.text();
    assert!(text.contains(": the process exited 2 times in "), "{text}");
    let changes = text.lines().filter(|line| line.contains(" after ") && line.ends_with("server=up"));
    assert!(changes.count() <= 8, "not each change:\n{text}");
    assert!(!text.contains("secret-gouda"), "{text}");
}

#[tokio::test]
async fn a_child_that_cannot_start_says_why_in_the_status_alone() {
    let place = Place::with("management: { rate: 10000/1m }\nready: all\n").await;
    place.make("POST", "/api/mcp-servers", &mortal("true")).await;
    place.gateway.log().has("backing_off after").await;
    let status = place.get("/api/mcp-servers/up/status").await;
    assert_eq!(told(&status)[..2], ["backing_off", "error"], "{status}");
    let reason = status["reason"].as_str().expect("a reason");
    assert!(
        reason.starts_with("the process failed to start ") && reason.ends_with(": code 3: out of ***"),
        "{status}"
    );
    assert_eq!(status["error"], status["reason"]);
    let (code, text) = ready(&place.gateway).await;
    assert!(code == 503 && text.contains("\nup: backing_off for ") && text.ends_with(": code 3\n"), "{text}");
}

#[tokio::test]
async fn a_child_that_starts_only_for_clients_with_roots_is_degraded_and_there() {
    let place = Place::with("management: { rate: 10000/1m }\nready: all\n").await;
    let odd = testkit::odd::program();
    let script = format!(
        "IFS= read -r line; case \"$line\" in *'\"roots\"'*) (printf '%s\\n' \"$line\"; exec cat) | exec '{}' --stdio;; \
         *) echo 'no folders' >&2; exit 1;; esac",
        odd.display()
    );
    let server =
        json!({"name": "up", "type": "external", "config": {"command": "sh", "args": ["-c", script]}});
    place.make("POST", "/api/mcp-servers", &server).await;
    place.gateway.log().has("backing_off after").await;
    let (code, text) = ready(&place.gateway).await;
    assert_eq!(code, 503, "nobody has seen it yet: {text}");
    let session = Legacy::open_at(place.gateway.http(), "/mcp", LEGACY, &json!({"roots": {}})).await;
    let lists = || async { session.ask("tools/list", &json!({})).await.to_string() };
    soon("its tools", async { while !lists().await.contains("up__late") {} }).await;
    let status = place.get("/api/mcp-servers/up/status").await;
    assert_eq!(told(&status)[..2], ["degraded", "connected"], "{status}");
    let reason = status["reason"].as_str().expect("a reason");
    assert!(
        reason.starts_with(
            "the server starts only for clients with roots; for other clients, it fails: the process failed to start "
        ),
        "{status}"
    );
    place.gateway.ready().await;
}

#[tokio::test]
async fn a_server_without_a_process_gets_the_place_of_an_idle_dedicated_one() {
    let place = Place::with("management: { rate: 10000/1m }\nlimits: { children: 2 }\n").await;
    let external = |name: &str, script: &str| {
        let script = format!("{script}; exec '{}' --stdio", testkit::odd::program().display());
        json!({
            "name": name, "type": "external",
            "config": {"command": "sh", "args": ["-c", script], "env": {"CHEESE": "secret-gouda"}},
        })
    };
    place
        .make("POST", "/api/mcp-servers", &external("one", "printf 'begun with ' >&2; printenv CHEESE >&2"))
        .await;
    place.shows("/mcp", "one__late", true).await;
    let session = Legacy::open_at(place.gateway.http(), "/mcp", LEGACY, &json!({"elicitation": {}})).await;
    let call = json!({"name": "one__late", "arguments": {"ms": 0}});
    session.ask("tools/call", &call).await;
    let status = place.get("/api/mcp-servers/one/status").await;
    assert_eq!(status["connections"], json!({"shared": 1, "dedicated": 1, "waiting": 0}), "{status}");
    assert_eq!(status["stderr"], json!(["begun with ***"]), "{status}");
    place.make("POST", "/api/mcp-servers", &external("two", "true")).await;
    place.shows("/mcp", "two__late", true).await;
    let status = place.get("/api/mcp-servers/one/status").await;
    assert_eq!(status["connections"], json!({"shared": 1, "dedicated": 0, "waiting": 0}), "{status}");
    // A second process of `one` never takes the slot of the first process of `two`: the call is refused, and
    // may be repeated.
    let answer = session.ask("tools/call", &call).await;
    assert!(
        answer["error"]["message"].as_str().is_some_and(|text| text.contains("child processes are running")),
        "{answer}"
    );
    let status = place.get("/api/mcp-servers/two/status").await;
    assert_eq!(told(&status)[..2], ["ready", "connected"], "{status}");
}

#[tokio::test]
async fn it_is_ready_when_each_server_was_tried_unless_it_is_optional() {
    let silent = Puppet::start(|_, _| Said::Hold(Vec::new())).await;
    let servers = |optional: bool| {
        let silent = format!("silent: {{ url: {}, optional: {optional} }}", quoted(&silent.url()));
        format!("mcpServers: {{ demo: {{ native: demo }}, {silent} }}\n")
    };
    let gateway = Gateway::start(&servers(false)).await;
    let (code, text) = ready(&gateway).await;
    assert_eq!(code, 503, "nothing is known of it: {text}");
    assert!(text.starts_with("not ready: ") && text.contains("(setting `ready: started`)\n"), "{text}");
    assert!(text.contains("\nsilent: starting for "), "{text}");
    for mode in ["started", "any", "all"] {
        let gateway = Gateway::start(&format!("{}ready: {mode}\n", servers(true))).await;
        gateway.ready().await;
    }
    let any = Gateway::start(&format!("{}ready: any\n", servers(false))).await;
    any.ready().await;
    // This holds however long it is silent.
    gateway.ready().await;
}

#[tokio::test]
async fn where_callers_have_to_authenticate_readiness_names_no_server() {
    let (puppet, _) = fickle(GONE).await;
    let config = format!(
        "auth: {{ bearer: the-one-token-of-all }}\nready: all\nmcpServers: {{ hidden: {} }}\n",
        puppet.config()
    );
    let gateway = Gateway::start(&config).await;
    gateway.log().has("unreachable after").await;
    let (code, text) = ready(&gateway).await;
    assert!(
        code == 503 && text.contains("\na server: unreachable for ") && !text.contains("hidden"),
        "{text}"
    );
}

#[tokio::test]
async fn a_server_that_fails_in_a_row_gets_no_requests_before_it_has_answered_the_gateway() {
    let sick = Arc::new(AtomicU8::new(WELL));
    let own = sick.clone();
    let puppet = Puppet::start(move |_, request| {
        let is_call = request.method() == "tools/call";
        match own.load(Ordering::SeqCst) {
            GONE => Said::Status(502, "text/plain", "bad gateway".to_owned()),
            SHUT if is_call => Said::Status(502, "text/plain", "bad tool".to_owned()),
            _ => Said::Proper,
        }
    })
    .await;
    let place = Place::new().await;
    let server = json!({"name": "far", "type": "remote_http", "config": {"url": puppet.url()}});
    place.make("POST", "/api/mcp-servers", &server).await;
    place.shows("/mcp", "far__ok", true).await;
    let session = Legacy::open(place.gateway.http()).await;
    let params = json!({"name": "far__ok", "arguments": {}});
    let (call, log) = (|| session.ask("tools/call", &params), place.gateway.log());
    assert!(call().await["result"].is_object());

    // Only the tool fails: the server answers the gateway, and continues.
    sick.store(SHUT, Ordering::SeqCst);
    for _ in 0..5 {
        assert!(call().await["error"].is_object());
    }
    log.has("breaker open, 5 requests in a row failed: ").await;
    log.has(" of unreachable, tools: ").await;

    sick.store(GONE, Ordering::SeqCst);
    for _ in 0..5 {
        assert!(call().await["error"].is_object());
    }
    let look = async {
        loop {
            let status = place.get("/api/mcp-servers/far/status").await;
            if status["reason"].as_str().is_some_and(|why| why.starts_with("breaker open")) {
                break assert_eq!(told(&status)[..2], ["unreachable", "error"]);
            }
        }
    };
    soon("an open breaker", look).await;
    let (sent, asked) = (puppet.count("tools/call"), puppet.count("tools/list"));
    let heal = async {
        puppet.was_sent("tools/list", asked + 1).await;
        assert_eq!(puppet.count("tools/call"), sent, "it is held back");
        sick.store(WELL, Ordering::SeqCst);
    };
    let (answer, ()) = tokio::join!(call(), heal);
    assert!(answer["result"].is_object(), "{answer}");
    assert_eq!(puppet.count("tools/call"), sent + 1, "and sent once");
}

#[tokio::test]
async fn a_slow_tool_is_no_sick_server_and_a_silent_server_is() {
    let mood = Arc::new(AtomicU8::new(WELL));
    let own = mood.clone();
    let puppet = Puppet::start(move |_, request| match (request.method(), own.load(Ordering::SeqCst)) {
        ("tools/call", _) | (_, GONE) => Said::Hold(Vec::new()),
        ("ping", _) => Said::Result(json!({}), String::new()),
        _ => Said::Proper,
    })
    .await;
    let config =
        format!("mcpServers: {{ far: {{ url: {}, timeout: 300ms }} }}\nready: all\n", quoted(&puppet.url()));
    let gateway = Gateway::start(&config).await;
    gateway.ready().await;
    let session = Legacy::open(gateway.http()).await;
    let params = json!({"name": "far__ok", "arguments": {}});
    for _ in 0..8 {
        assert!(session.ask("tools/call", &params).await["error"].is_object());
    }
    puppet.was_sent("ping", 1).await;
    assert_eq!(ready(&gateway).await.0, 200, "{}", gateway.log().text());
    mood.store(GONE, Ordering::SeqCst);
    // A successful answer is valid for a second.
    while !gateway.log().text().contains("unreachable after") {
        assert!(session.ask("tools/call", &params).await["error"].is_object());
    }
    mood.store(WELL, Ordering::SeqCst);
    gateway.ready().await;
}
